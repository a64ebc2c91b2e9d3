#include "pipeline/jobs/input_job.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/text.h"
#include "pipeline/color_profiles.h"
#include "pipeline/decode_row.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {
namespace {

std::int64_t need_of(const ImageJob& job, const Engine& engine) {
  return engine.memory_need(job.memory_estimate_request()).bytes + job.held_input_bytes() + job.also_bytes();
}

}  // namespace

bool PageNotes::is_new(const ImageNote& note) {
  const std::size_t name = note.text.find(": ");
  return said_.emplace(note.about, name == note.text.npos ? note.text : note.text.substr(name)).second;
}

InputJob::InputJob(ImageFiles files, const ImageSettings& settings, std::optional<PageRequest> request,
                   InputKind kind, Timeline timeline)
    : files_(std::move(files)),
      settings_(settings),
      request_(std::move(request)),
      kind_(kind),
      timeline_(std::move(timeline)) {}

bool InputJob::is_single() const {
  if (!request_) return true;
  return kind_ == InputKind::any && request_->selection.alone && request_->series_steps.empty();
}

std::string InputJob::name_of(std::int64_t number) const {
  if (is_stream())
    return files_.input_name + ", image " + std::to_string(number) + " at byte " + std::to_string(image_at_);
  return files_.input_name + ", " + page_unit() + " " + std::to_string(number);
}

bool InputJob::makes_files() const {
  return request_ && !request_->selection.alone && !stack_ && !to_stream_ && !settings_.make_row_consumer;
}

std::string InputJob::path_of(const std::string& output, std::int64_t number) const {
  if (!makes_files()) return output;
  return page_path(request_->selection, output, number, is_stream() ? 0 : list_->size());
}

std::string InputJob::output_of(std::int64_t number) const {
  return path_of(files_.output, number);
}

std::vector<std::string> InputJob::also_outputs_of(std::int64_t number) const {
  std::vector<std::string> outputs;
  for (const AlsoFile& file : files_.also) outputs.push_back(path_of(file.output, number));
  return outputs;
}

void InputJob::open(const Check& check, const Warn& warn) {
  if (is_single()) return open_single(warn);
  check_ = check;
  // The range of the series is computed before these steps run, so placeholders that read no counts replace
  // them.
  checked_stages_ = settings_.stages;
  for (const std::size_t step : request_->series_steps) {
    checked_stages_[step] = parse_stages("levels:1:2:8").front();
    checked_stages_[step].said = ":series";  // the only known part of its text so far
  }
  checked_stages_ = steps_before_trim(checked_stages_);
  make_list();
  naming(files_.input_name, [&] {
    if (!is_stream()) range_ = selected_pages(request_->selection, list_->size());
    if (files_.made_of) files_.made_of->content = list_->content_hash();
  });
  if (settings_.hash) files_.input_pixels = std::make_shared<PixelDigest>();
  if (!settings_.make_row_consumer && !request_->selection.alone && !request_->selection.named &&
      holds_pages(files_.format)) {
    stack_ = std::make_unique<PageStack>(files_.output, settings_.sync);
    for (AlsoFile& file : files_.also) {
      also_stacks_.push_back(std::make_unique<PageStack>(file.output, settings_.sync));
      file.stack = also_stacks_.back().get();
    }
    if (settings_.hash) hash_stacks();
  }
  if (is_stream()) {
    open_stream();
  } else {
    check_pages();
  }
  check_outputs();
  check_planes();
  // Further images in a file with one page, such as the frames of an animation, are not pages.
  const bool reported_by_each = is_stream() && !stack_;
  std::string text = list_->warning();
  if (text.empty() && !reported_by_each &&
      ((list_->more_images() && settings_.decode.bands_of_page == 0) ||
       (pages_in_file() == 1 && first_header_.more_images)))
    text = kMoreImagesWarning;
  if (!text.empty()) warn(files_.input_name + ": " + text);
}

void InputJob::make_list() {
  naming(files_.input_name,
         [&] { list_ = std::make_unique<PageList>(files_.input, settings_.decode, kind_); });
  files_.is_part = true;
  if (settings_.hash) list_->hash_passing_bytes();
}

// Opens the result of a projection instead of a file.
void InputJob::open_combined(const Warn& warn) {
  files_.is_part = true;
  ImageJob& job = single_.emplace(files_, settings_, std::move(timeline_));
  combined_->open(warn);
  job.set_page({});  // metadata of a whole stack does not hold for the result
  job.set_input_content(combined_->content_hash());
  job.read(combined_->take_first_file());
  job.open(combined_->reader(), combined_->first_plan());
  first_header_ = job.header();
  max_pixels_ = first_header_.shape.pixels();
  job.make_plan();
}

void InputJob::open_single(const Warn& warn) {
  if (combined_ != nullptr) return open_combined(warn);
  ImageFiles files = files_;
  files.is_part = request_.has_value();
  if (request_) files.input_name += ", page " + std::to_string(request_->selection.first);
  ImageJob& job = single_.emplace(std::move(files), settings_, std::move(timeline_));
  auto span = job.timeline().span("decode", SpanKind::host);
  if (request_) {
    job.read(take_page(job, warn));
    if (settings_.hash) input_hash_ = naming(files_.input_name, [&] { return list_->sha256(); });
    list_.reset();  // it may hold the whole input
  } else {
    PendingInput input(files_.input, settings_.decode, kind_);
    job.read(input);
  }
  job.open();
  span.set_name(decode_row(job.reader()));
  first_header_ = job.header();
  max_pixels_ = first_header_.shape.pixels();
  job.make_plan();
}

InputFile InputJob::take_page(ImageJob& job, const Warn& warn) {
  make_list();
  if (const std::string damage = list_->warning(); !damage.empty()) warn(files_.input_name + ": " + damage);
  const PageSelection& selection = request_->selection;
  if (is_stream()) {
    skip_to(selection.first);
    return std::move(*std::exchange(image_, std::nullopt));
  }
  range_ = naming(files_.input_name, [&] { return selected_pages(selection, list_->size()); });
  if (list_->size() > 1) job.set_page({});
  job.set_input_content(naming(files_.input_name, [&] { return list_->content_hash(); }));
  return naming(job.files().input_name, [&] { return list_->page(range_.first - 1); });
}

// Skips a stream's images up to image `wanted`, which becomes the current one.
void InputJob::skip_to(std::int64_t wanted) {
  for (std::int64_t number = 1; number <= wanted; ++number) {
    if (naming(files_.input_name, [&] { return list_->stream()->at_end(); })) throw_missing_pages();
    image_at_ = list_->stream()->offset();
    image_ = naming(name_of(number), [&] { return take_image(); });
  }
}

void InputJob::open_stream() {
  if (!request_->series_steps.empty())
    throw Error(ErrorKind::usage, files_.input_name +
                                      ": range=series reads the images twice, but a stream can be "
                                      "read only once; save the images to files");
  const PageSelection& selection = request_->selection;
  range_ = {selection.first, selection.last.value_or(std::numeric_limits<std::int64_t>::max())};
  skip_to(range_.first);
  const bool several = stack_ && !is_last(range_.first);
  naming(name_of(range_.first), [&] {
    first_header_ = header_of(*image_);
    const Plan plan = plan_of(first_header_);
    check_page(first_header_, plan);
    // The size of a stack of several images is not known in advance.
    if (stack_)
      stack_->next.big = several || max_bytes_in_stack(*image_, result_shapes(plan)) > kMaxClassicBytes;
    for (const auto& also : also_stacks_) also->next.big = stack_->next.big;
  });
}

InputFile InputJob::take_image() {
  return InputFile(list_->stream()->next());
}

// For a stream, the previous image must have been taken: this waits for the next one.
bool InputJob::is_last(std::int64_t number) {
  if (number == range_.last) return true;
  return is_stream() && naming(files_.input_name, [&] { return list_->stream()->at_end(); });
}

void InputJob::throw_missing_pages() const {
  naming(files_.input_name,
         [&] { throw missing_pages_error(request_->selection, list_->stream()->images()); });
}

// Prepares a page up to its first row.
void InputJob::begin(ImageJob& job, std::int64_t number, const Engine& engine) {
  {
    auto span = job.timeline().span("read", SpanKind::host);
    job.read(naming(job.files().input_name, [&] {
      if (!is_stream()) return list_->page(number - 1);
      return image_ ? std::move(*std::exchange(image_, std::nullopt)) : take_image();
    }));
    span.set_bytes(job.input_bytes());
  }
  if (stack_) stack_->next.last = is_last(number);
  for (const auto& also : also_stacks_) also->next.last = stack_->next.last;
  {
    auto span = job.timeline().span("decode", SpanKind::host);
    job.open();
    span.set_name(decode_row(job.reader()));
  }
  job.make_plan();
  if (is_stream()) naming(job.files().input_name, [&] { check_page(job.header(), job.plan()); });
  job.make_output();
  const std::int64_t need = need_of(job, engine);
  naming(job.files().input_name, [&] { check_memory(need, max_bytes_); });
  max_needed_bytes_ = std::max(max_needed_bytes_, need);
}

Job InputJob::without_pixels(ImageJob&) {
  Job job;
  job.keep_pixels = false;
  return job;
}

void InputJob::run(Engine& engine, const Hooks& hooks) {
  if (single_) return run_single(engine, hooks);
  if (is_stream()) return run_stream(engine, hooks);
  try {
    for (std::int64_t number = range_.first; number <= range_.last; ++number) do_page(engine, number, hooks);
  } catch (...) {
    remove_written();
    throw;
  }
}

void InputJob::run_single(Engine& engine, const Hooks& hooks) {
  ImageJob& job = *single_;
  job.make_output();
  hooks.has_output(job);
  const auto fits = [&] { return need_of(job, engine) <= max_bytes_; };
  if (max_bytes_ > 0 && !fits() && !(job.use_less_memory() && fits()))
    throw over_budget(job, need_of(job, engine), max_bytes_);
  run_item(engine, job, range_.first, hooks);
}

void InputJob::run_stream(Engine& engine, const Hooks& hooks) {
  try {
    for (std::int64_t number = range_.first;; ++number) {
      do_page(engine, number, hooks);
      if (!is_last(number)) {
        image_at_ = list_->stream()->offset();
        continue;
      }
      if (request_->selection.last.value_or(number) != number) throw_missing_pages();
      range_.last = number;
      return;
    }
  } catch (const Error& error) {
    if (written_ == 0) throw;
    throw Error(error.kind(), std::string(error.what()) + "; pages written before the error: " +
                                  std::to_string(written_ - range_.first + 1));
  }
}

void InputJob::do_page(Engine& engine, std::int64_t number, const Hooks& hooks) {
  ImageFiles files = files_;
  files.input_name = name_of(number);
  files.output = output_of(number);
  for (AlsoFile& also : files.also) also.output = path_of(also.output, number);
  if (files.output != files_.output) files.output_name = printable(files.output);
  if (!is_stream() || stack_) {
    const bool all = range_.first == 1 && range_.last == pages_in_file();
    const bool whole = makes_planes() ? pages_in_file() == 1 && !list_->more_images()
                                      : pages_in_file() == 1 || (stack_ && all);
    files.page = PageOfInput{.whole_stack = whole, .stack = stack_.get()};
  }
  ImageJob job(std::move(files), settings_, timeline_);
  begin(job, number, engine);
  run_item(engine, job, number, hooks);
}

void InputJob::run_item(Engine& engine, ImageJob& job, std::int64_t number, const Hooks& hooks) {
  Outcome outcome = job.run(engine, hooks.begin(job));
  hooks.ran(job);
  job.write();
  output_bytes_ += job.output_bytes();
  if (makes_files()) written_ = number;
  FinishedItem done{number, job, outcome};
  hooks.done(done);
}

void InputJob::finish() {
  if (settings_.hash && list_) input_hash_ = naming(files_.input_name, [&] { return list_->sha256(); });
  if (!stack_) return;
  naming(files_.output_name, [&] {
    settings_.before_write(files_.output, mark_for(settings_.encode, files_));
    stack_->file.put_in_place();
  });
  for (std::size_t i = 0; i < also_stacks_.size(); ++i) {
    naming(printable(files_.also[i].output), [&] {
      settings_.before_write(files_.also[i].output, mark_for(settings_.encode, files_));
      also_stacks_[i]->file.put_in_place();
    });
  }
}

// Removes the pages written so far, because an incomplete set could pass for a complete one.
void InputJob::remove_written() noexcept {
  std::error_code error;
  for (std::int64_t number = range_.first; number <= written_; ++number) {
    std::filesystem::remove(output_of(number), error);
    for (const std::string& also : also_outputs_of(number)) std::filesystem::remove(also, error);
  }
}

}  // namespace imgpipe
