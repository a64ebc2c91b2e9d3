#include "pipeline/pages/page_run.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/formats/codec_table.h"
#include "images/formats/kept_metadata.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/decode_row.h"
#include "pipeline/statistics/counting_writer.h"
#include "pipeline/statistics/series_range.h"

namespace imgpipe {
namespace {

// A stack has offsets of 32 bits unless it may need more.
constexpr std::int64_t kMostClassicBytes = std::numeric_limits<std::uint32_t>::max();

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
  if (is_stream())
    return files_.input_name + ", image " + std::to_string(number) + " at byte " + std::to_string(image_at_);
  return files_.input_name + ", page " + std::to_string(number);
}

bool PageRun::makes_files() const {
  return !stack_ && !to_stream_ && !wish_.selection.alone && !settings_.use_rows;
}

std::string PageRun::output_of(std::int64_t number) const {
  if (!makes_files()) return files_.output;
  return page_path(wish_.selection, files_.output, number, is_stream() ? 0 : list_->size());
}

std::string PageRun::warning() const {
  std::string text = list_->warning();
  // The frames of an animation are no pages.
  const bool told_of_each = is_stream() && !stack_;
  if (text.empty() && !told_of_each && pages_in_file() == 1 && first_header_.more_images)
    text = kMoreImagesWarning;
  return text.empty() ? "" : files_.input_name + ": " + text;
}

void PageRun::open(const Judge& judge) {
  judge_ = judge;
  // A range of the series is found before they run, and then nothing is counted.
  judged_stages_ = settings_.stages;
  for (const std::size_t step : wish_.series_steps) {
    judged_stages_[step] = parse_stages("levels:1:2:8").front();
    judged_stages_[step].said = ":series";  // no other number of these is known yet
  }
  naming(files_.input_name, [&] {
    list_ = std::make_unique<PageList>(files_.input, settings_.decode, kind_);
    if (!is_stream()) range_ = chosen_pages(wish_.selection, list_->size());
    if (files_.made_of) files_.made_of->content = list_->content_hash();
  });
  if (!settings_.use_rows && !wish_.selection.alone && !wish_.selection.named && holds_pages(files_.format))
    stack_ = std::make_unique<PageStack>(files_.output, settings_.sync);
  if (is_stream()) {
    open_stream();
  } else {
    judge_pages();
  }
  judge_outputs();
}

// To the first image that is wanted.
void PageRun::open_stream() {
  if (!wish_.series_steps.empty())
    throw Error(ErrorKind::usage, files_.input_name +
                                      ": range=series counts all images before it writes the "
                                      "first, and a stream can be read once; write them to files");
  const PageSelection& selection = wish_.selection;
  range_ = {selection.first, selection.last.value_or(std::numeric_limits<std::int64_t>::max())};
  for (std::int64_t number = 1; number <= range_.first; ++number) {
    if (naming(files_.input_name, [&] { return list_->stream()->at_end(); })) refuse_end();
    image_at_ = list_->stream()->offset();
    image_ = naming(name_of(number), [&] { return take_image(); });
  }
  const bool several = stack_ && !is_last(range_.first);
  naming(name_of(range_.first), [&] {
    first_header_ = open_reader(*image_, settings_.decode)->header();
    const Plan plan = plan_of(first_header_);
    judge_page(first_header_, plan);
    // How large a stack of several becomes is not known.
    if (stack_) stack_->next.big = several || most_bytes_in_stack(*image_, plan.output) > kMostClassicBytes;
  });
}

InputFile PageRun::take_image() {
  return InputFile(list_->stream()->next());
}

// Of a stream the image before must have been taken: this waits for the next.
bool PageRun::is_last(std::int64_t number) {
  if (number == range_.last) return true;
  return is_stream() && naming(files_.input_name, [&] { return list_->stream()->at_end(); });
}

void PageRun::refuse_end() const {
  naming(files_.input_name, [&] { throw pages_missing(wish_.selection, list_->stream()->images()); });
}

Plan PageRun::plan_of(const ImageHeader& header) const {
  return make_plan(judged_stages_, header.shape, settings_.fuse, settings_.decode.max_pixels,
                   format_info(files_.format).written_bits);
}

void PageRun::judge_page(const ImageHeader& header, const Plan& plan) {
  most_pixels_ = std::max(most_pixels_, header.shape.pixels());
  if (std::exchange(judged_, header.shape) == header.shape) return;
  judge_(plan, header);
  if (!settings_.use_rows) (void)storable_shape(files_.format, plan.output);
}

void PageRun::judge_pages() {
  std::int64_t stack_bytes = 0;
  Shape output;
  for (std::int64_t number = range_.first; number <= range_.last; ++number) {
    naming(name_of(number), [&] {
      const InputFile page = list_->page(number - 1, Pages::Part::front);
      check_memory(static_cast<std::int64_t>(page.bytes().size()), most_bytes_);
      const ImageHeader header = open_reader(page, settings_.decode)->header();
      if (number == range_.first) first_header_ = header;
      if (judged_ != header.shape) {
        const Plan plan = plan_of(header);
        judge_page(header, plan);
        output = plan.output;
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

void PageRun::judge_outputs() {
  if (!makes_files()) return;
  std::error_code error;
  const bool to_descriptor = files_.output == kStandardStream || descriptor_of(files_.output);
  const bool is_other = std::filesystem::exists(files_.output, error) &&
                        !std::filesystem::is_regular_file(files_.output, error);
  to_stream_ = to_descriptor && codec_of(files_.format).find_end != nullptr;
  if (to_stream_) return;
  if (to_descriptor || is_other)
    throw Error(ErrorKind::usage, files_.output_name + ": " + std::string(format_info(files_.format).name) +
                                      " files hold one page; name a file, which gives names with numbers, or "
                                      "write tiff");
  // Of a stream it is not known how many there will be.
  const std::int64_t last = is_stream() ? range_.first : range_.last;
  for (std::int64_t number = range_.first; number <= last; ++number) {
    const std::string output = output_of(number);
    if (same_file(output, files_.input))
      throw Error(ErrorKind::usage, printable(output) + ": is the input itself; OUTPUT needs another name");
    naming(printable(output), [&] { settings_.before_write(output, mark_for(settings_.encode, files_)); });
  }
}

// All of a page that comes before its first row.
void PageRun::begin(ImageJob& job, std::int64_t number, const Engine& engine) {
  if (!track_.empty()) job.timeline().set_track(track_);
  {
    auto span = job.timeline().span("read", SpanKind::host);
    job.read(naming(job.files().input_name, [&] {
      if (!is_stream()) return list_->page(number - 1);
      return image_ ? std::move(*std::exchange(image_, std::nullopt)) : take_image();
    }));
    span.set_bytes(job.input_bytes());
  }
  if (stack_) stack_->next.last = is_last(number);
  {
    auto span = job.timeline().span("decode", SpanKind::host);
    job.open();
    span.set_name(decode_row(job.reader()));
  }
  job.make_plan();
  if (is_stream()) naming(job.files().input_name, [&] { judge_page(job.header(), job.plan()); });
  job.make_output();
  most_needed_bytes_ = std::max(most_needed_bytes_, need_within(most_bytes_, engine, job));
}

void PageRun::measure(Engine& engine, const std::function<void(const ImageHeader&)>& counted) {
  for (const std::size_t step : wish_.series_steps) measure_step(engine, step, counted);
}

void PageRun::measure_step(Engine& engine, std::size_t step,
                           const std::function<void(const ImageHeader&)>& counted) {
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
    if (counted) counted(job.header());
  }
  const ContrastParameters parameters(settings_.stages[step].parameters);
  settings_.stages[step] =
      naming(files_.input_name, [&] { return levels_of_series(sums.channels(), parameters); });
}

void PageRun::run(Engine& engine, const Hooks& hooks) {
  if (is_stream()) return run_stream(engine, hooks);
  try {
    for (std::int64_t number = range_.first; number <= range_.last; ++number) do_page(engine, number, hooks);
  } catch (...) {
    remove_written();
    throw;
  }
}

void PageRun::run_stream(Engine& engine, const Hooks& hooks) {
  try {
    for (std::int64_t number = range_.first;; ++number) {
      do_page(engine, number, hooks);
      if (!is_last(number)) {
        image_at_ = list_->stream()->offset();
        continue;
      }
      if (wish_.selection.last.value_or(number) != number) refuse_end();
      range_.last = number;
      return;
    }
  } catch (const Error& error) {
    if (written_ == 0) throw;
    throw Error(error.kind(), std::string(error.what()) +
                                  "; written before it: " + std::to_string(written_ - range_.first + 1));
  }
}

void PageRun::do_page(Engine& engine, std::int64_t number, const Hooks& hooks) {
  ImageFiles files = files_;
  files.input_name = name_of(number);
  files.output = output_of(number);
  if (files.output != files_.output) files.output_name = printable(files.output);
  if (!is_stream() || stack_) {
    const bool all = range_.first == 1 && range_.last == pages_in_file();
    files.page = PageOfInput{.whole_stack = pages_in_file() == 1 || (stack_ && all), .stack = stack_.get()};
  }
  ImageJob job(std::move(files), settings_, Timeline(start_));
  begin(job, number, engine);
  Outcome outcome = job.run(engine, hooks.wishes());
  job.write();
  output_bytes_ += job.output_bytes();
  if (makes_files()) written_ = number;
  PageDone done{number, name_of(number), job, outcome};
  hooks.done(done);
}

void PageRun::finish() {
  if (!stack_) return;
  naming(files_.output_name, [&] {
    settings_.before_write(files_.output, mark_for(settings_.encode, files_));
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
