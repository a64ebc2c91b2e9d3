#include "pipeline/pages/page_run.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "images/codecs/metadata/metadata.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/decode_row.h"
#include "pipeline/statistics/counting_writer.h"
#include "pipeline/statistics/series_range.h"

namespace imgpipe {
namespace {

// Counts of the colours of all pages, those of 8 bits apart from those of 16.
class SeriesCounts {
 public:
  void add(const SampleCounts& page) {
    const int colors = page.channels() >= 3 ? 3 : 1;
    auto& sums = sums_[page.sample() == SampleType::u16 ? 1 : 0];
    sums.resize(static_cast<std::size_t>(page.bins()));
    for (int c = 0; c < colors; ++c) std::ranges::transform(sums, page.of(c), sums.begin(), std::plus());
  }
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> channels() const {
    std::vector<std::vector<std::uint64_t>> all;
    for (const auto& sums : sums_)
      if (!sums.empty()) all.push_back(sums);
    return all;
  }

 private:
  std::array<std::vector<std::uint64_t>, 2> sums_;
};

void check_memory(std::int64_t need, std::int64_t most) {
  if (most > 0 && need > most)
    throw Error(ErrorKind::memory,
                "needs up to " + std::to_string(need) + " bytes, --memory leaves " + std::to_string(most));
}

// Of a page that is about to run.
std::int64_t need_within(std::int64_t most, const Engine& engine, const ImageJob& job) {
  const std::int64_t need = engine.memory_need(job.memory_question()).bytes + job.held_input_bytes();
  naming(job.files().input_name, [&] { check_memory(need, most); });
  return need;
}

}  // namespace

bool PageNotes::is_new(const ImageNote& note) {
  const std::size_t name = note.text.find(": ");
  return said_.emplace(note.about, name == note.text.npos ? note.text : note.text.substr(name)).second;
}

PageRun::PageRun(ImageFiles files, const ImageSettings& settings, PageWish wish, InputKind kind,
                 Timeline::Clock::time_point start)
    : files_(std::move(files)), settings_(settings), wish_(std::move(wish)), kind_(kind), start_(start) {}

std::string PageRun::name_of(std::int64_t number) const {
  return files_.input_name + ", page " + std::to_string(number);
}

std::string PageRun::output_of(std::int64_t number) const {
  return stack_ || wish_.selection.alone || settings_.use_rows
             ? files_.output
             : page_path(files_.output, number, pages_in_file());
}

std::string PageRun::warning() const {
  std::string text = list_->warning();
  // The frames of an animation are no pages.
  if (text.empty() && pages_in_file() == 1 && first_header_.more_images) text = kMoreImagesWarning;
  return text.empty() ? "" : files_.input_name + ": " + text;
}

void PageRun::open(const Judge& judge) {
  naming(files_.input_name, [&] {
    list_ = std::make_unique<PageList>(files_.input, settings_.decode, kind_);
    range_ = chosen_pages(wish_.selection, list_->size());
  });
  if (!settings_.use_rows && !wish_.selection.alone && holds_pages(files_.format))
    stack_ = std::make_unique<PageStack>(files_.output);
  judge_pages(judge);
  judge_outputs();
}

void PageRun::judge_pages(const Judge& judge) {
  // A stack has offsets of 32 bits unless it may need more.
  constexpr std::int64_t kMostClassicBytes = std::numeric_limits<std::uint32_t>::max();
  std::int64_t stack_bytes = 0;
  std::optional<Shape> before;
  Shape output;
  // The steps as they will run: a range of the series is found before, and then nothing is counted.
  std::vector<StageRequest> stages = settings_.stages;
  for (const std::size_t step : wish_.series_steps) {
    stages[step] = parse_stages("levels:1:2:8").front();
    stages[step].said = ":series";  // no other number of these is known yet
  }
  for (std::int64_t number = range_.first; number <= range_.last; ++number) {
    naming(name_of(number), [&] {
      const InputFile page = list_->page(number - 1, Pages::Part::front);
      check_memory(static_cast<std::int64_t>(page.bytes().size()), most_bytes_);
      const ImageHeader header = open_reader(page, settings_.decode)->header();
      if (number == range_.first) first_header_ = header;
      most_pixels_ = std::max(most_pixels_, header.shape.pixels());
      if (before != header.shape) {
        before = header.shape;
        const Plan plan = make_plan(stages, header.shape, settings_.fuse, settings_.decode.max_pixels,
                                    format_info(files_.format).written_bits);
        judge(plan, header);
        output = plan.output;
        if (!settings_.use_rows) (void)storable_shape(files_.format, output);
      }
      if (stack_ && stack_bytes <= kMostClassicBytes) stack_bytes += most_bytes_in_stack(page, output);
    });
  }
  if (stack_) stack_->next.big = stack_bytes > kMostClassicBytes;
}

// Metadata that pages of the input share is written with each of them.
std::int64_t PageRun::most_bytes_in_stack(const InputFile& page, const Shape& output) const {
  EncodeOptions encode = settings_.encode;
  if (settings_.keep_metadata)
    encode.metadata = keep_metadata(page.bytes(), {.output = files_.format, .shape = output}).metadata;
  return most_page_bytes(files_.format, output, encode);
}

void PageRun::judge_outputs() const {
  if (stack_ || wish_.selection.alone || settings_.use_rows) return;
  std::error_code error;
  const bool is_other = std::filesystem::exists(files_.output, error) &&
                        !std::filesystem::is_regular_file(files_.output, error);
  if (files_.output == kStandardStream || is_other)
    throw Error(ErrorKind::usage, files_.output_name + ": " + std::string(format_info(files_.format).name) +
                                      " files hold one page; name a file, which gives names with numbers, or "
                                      "write tiff");
  for (std::int64_t number = range_.first; number <= range_.last; ++number) {
    const std::string output = output_of(number);
    if (same_file(output, files_.input))
      throw Error(ErrorKind::usage, printable(output) + ": is the input itself; OUTPUT needs another name");
    naming(printable(output), [&] { settings_.before_write(output); });
  }
}

// All of a page that comes before its first row.
void PageRun::begin(ImageJob& job, std::int64_t number, const Engine& engine) {
  if (!track_.empty()) job.timeline().set_track(track_);
  {
    auto span = job.timeline().span("read", SpanKind::host);
    job.read(naming(job.files().input_name, [&] { return list_->page(number - 1); }));
    span.set_bytes(job.input_bytes());
  }
  {
    auto span = job.timeline().span("decode", SpanKind::host);
    job.open();
    span.set_name(decode_row(job.reader()));
  }
  job.make_plan();
  job.make_output();
  most_needed_bytes_ = std::max(most_needed_bytes_, need_within(most_bytes_, engine, job));
}

void PageRun::measure(Engine& engine) {
  for (const std::size_t step : wish_.series_steps) measure_step(engine, step);
}

void PageRun::measure_step(Engine& engine, std::size_t step) {
  SeriesCounts sums;
  auto counts = std::make_shared<SampleCounts>();
  ImageSettings counting;
  counting.stages.assign(settings_.stages.begin(),
                         settings_.stages.begin() + static_cast<std::ptrdiff_t>(step));
  counting.fuse = settings_.fuse;
  counting.decode = settings_.decode;
  counting.use_rows = [&](const ImageFiles&, const Shape& shape) {
    return RowUse{make_counting_writer(shape, counts), [&] { sums.add(*counts); }};
  };
  for (std::int64_t number = range_.first; number <= range_.last; ++number) {
    *counts = {};
    ImageFiles files = files_;
    files.input_name = name_of(number);
    files.format = Format::png;  // holds all bits, so that nothing is cut before it is counted
    files.page = PageOfInput{};
    ImageJob job(std::move(files), counting, Timeline(start_));
    begin(job, number, engine);
    Job wishes;
    wishes.keep_pixels = false;
    (void)job.run(engine, std::move(wishes));
    job.write();
  }
  const ContrastParameters parameters(settings_.stages[step].parameters);
  const std::string levels =
      naming(files_.input_name, [&] { return levels_of_series(sums.channels(), parameters); });
  settings_.stages[step] = parse_stages(levels).front();
}

void PageRun::run(Engine& engine, const Hooks& hooks) {
  try {
    for (std::int64_t number = range_.first; number <= range_.last; ++number) do_page(engine, number, hooks);
  } catch (...) {
    remove_written();
    throw;
  }
}

void PageRun::do_page(Engine& engine, std::int64_t number, const Hooks& hooks) {
  ImageFiles files = files_;
  files.input_name = name_of(number);
  files.output = output_of(number);
  if (files.output != files_.output) files.output_name = printable(files.output);
  const bool all = range_.first == 1 && range_.last == pages_in_file();
  files.page = PageOfInput{.whole_stack = pages_in_file() == 1 || (stack_ && all), .stack = stack_.get()};
  if (stack_) stack_->next.last = number == range_.last;
  ImageJob job(std::move(files), settings_, Timeline(start_));
  begin(job, number, engine);
  Outcome outcome = job.run(engine, hooks.wishes());
  job.write();
  output_bytes_ += job.output_bytes();
  if (!stack_ && !settings_.use_rows && !wish_.selection.alone) written_ = number;
  PageDone done{number, name_of(number), job, outcome};
  hooks.done(done);
}

void PageRun::finish() {
  if (!stack_) return;
  naming(files_.output_name, [&] {
    settings_.before_write(files_.output);
    stack_->file.put_in_place();
  });
}

// A set that is not whole would pass for one.
void PageRun::remove_written() noexcept {
  std::error_code error;
  for (std::int64_t number = range_.first; number <= written_; ++number)
    std::filesystem::remove(output_of(number), error);
}

}  // namespace imgpipe
