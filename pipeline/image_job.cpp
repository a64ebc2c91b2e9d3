#include "pipeline/image_job.h"

#include <span>
#include <utility>

#include "images/error.h"
#include "images/memory/available_memory.h"
#include "pipeline/decode_row.h"

namespace imgpipe {

std::string depth_warning(int bits_per_sample) {
  return "its " + std::to_string(bits_per_sample) + "-bit samples become 8 bits before any stage";
}

ImageJob::ImageJob(ImageFiles files, const ImageSettings& settings, Timeline timeline)
    : files_(std::move(files)), settings_(settings) {
  image_.timeline = std::move(timeline);
}

void ImageJob::read(PendingInput& input) {
  naming(files_.input_name, [&] { input_ = input.read(); });
  input_bytes_ = input_.size_bytes();
  held_input_bytes_ = static_cast<std::int64_t>(input_.bytes().size());
}

std::int64_t ImageJob::opening_bytes() const {
  return naming(files_.input_name, [&] { return imgpipe::opening_bytes(input_.bytes(), settings_.decode); });
}

void ImageJob::open() {
  naming(files_.input_name, [&] { reader_ = open_reader(input_, settings_.decode); });
  header_ = reader_->header();
}

void ImageJob::make_plan() {
  naming(files_.input_name, [&] {
    image_.plan =
        imgpipe::make_plan(settings_.stages, header_.shape, settings_.fuse, settings_.decode.max_pixels);
  });
}

void ImageJob::make_output() {
  const Shape& shape = image_.plan.output;
  has_alpha_ = shape.has_alpha();
  naming(files_.output_name, [&] {
    output_shape_ = storable_shape(files_.format, shape);
    writer_ = make_writer(files_.format, shape, settings_.encode);
    output_ = std::make_unique<OutputFile>(files_.output);
    if (is_large_file(*writer_) && output_->is_replaced())
      sink_ = [this](std::span<const std::byte> bytes) { append(bytes); };
  });
}

MemoryQuestion ImageJob::memory_question() const {
  return {image_.plan, *reader_, writer_.get(), sink_ != nullptr};
}

Outcome ImageJob::run(Engine& engine, Job wishes) {
  wishes.reader = std::move(reader_);
  wishes.plan = std::move(image_.plan);
  wishes.timeline = std::move(image_.timeline);
  wishes.writer = std::move(writer_);
  wishes.sink = sink_;
  Outcome outcome = engine.run(std::move(wishes));
  input_ = InputFile();  // its reader has gone with the job
  image_.timeline = std::move(outcome.timeline);
  naming(files_.input_name, files_.output_name, [&] {
    if (outcome.error) std::rethrow_exception(outcome.error);
  });
  damage_ = std::move(outcome.warnings);
  encoded_ = std::move(outcome.file);
  return outcome;
}

void ImageJob::decode(std::pmr::memory_resource* memory) {
  naming(files_.input_name, [&] {
    const std::int64_t bytes = image_.plan.input.bytes();
    check_available(bytes + reader_->working_bytes(true));
    image_.source = Image(image_.plan.input, memory);
    auto span = image_.timeline.span("decode", SpanKind::host, bytes);
    reader_->read_rows(image_.source.untyped_view());
    span.set_name(decode_row(*reader_));
  });
  damage_ = reader_->warnings();
  reader_.reset();
  input_ = InputFile();
}

void ImageJob::encode(HostThreads& threads) {
  encoded_ = naming(files_.output_name, [&] {
    return encode_image(std::as_const(image_.pixels).untyped_view(), *writer_, threads, image_.timeline,
                        sink_);
  });
  image_.pixels = Image();
}

void ImageJob::write() {
  const auto left = static_cast<std::int64_t>(encoded_.size_bytes());
  const auto span = image_.timeline.span("write", SpanKind::host, left);
  naming(files_.output_name, [&] {
    begin_output();
    settings_.before_write(files_.output);
    output_->append(std::span<const std::vector<std::byte>>(encoded_.parts));
    output_bytes_ += left;
    output_->put_in_place();
  });
  encoded_ = {};
}

void ImageJob::begin_output() {
  if (std::exchange(output_begun_, true)) return;
  settings_.before_first_byte(files_.output);
}

void ImageJob::append(std::span<const std::byte> bytes) {
  begin_output();
  output_->append(bytes);
  output_bytes_ += static_cast<std::int64_t>(bytes.size());
}

void ImageJob::let_go() noexcept {
  reader_.reset();
  writer_.reset();
  input_ = {};
  image_.source = Image();
  image_.pixels = Image();
  encoded_ = {};
  sink_ = {};
  output_.reset();
}

std::vector<ImageNote> ImageJob::notes() const {
  using enum ImageNote::About;
  const std::string input = files_.input_name + ": ";
  std::vector<ImageNote> notes;
  for (const std::string& warning : damage_) notes.push_back({damage, input + warning});
  if (header_.bits_per_sample > 8) notes.push_back({depth, input + depth_warning(header_.bits_per_sample)});
  if (header_.more_images) notes.push_back({more_images, input + kMoreImagesWarning});
  if (!header_.profile.empty())
    notes.push_back(
        {profile, input + "colour profile \"" + header_.profile + "\" is not applied and not kept"});
  if (drops_alpha())
    notes.push_back({alpha, files_.output_name + ": " + std::string(format_info(files_.format).name) +
                                " holds no alpha; it is dropped"});
  return notes;
}

}  // namespace imgpipe
