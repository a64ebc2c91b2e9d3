#include "pipeline/jobs/image_job.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "images/codecs/stored_samples.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/formats/codec_table.h"
#include "images/formats/hashed_rows.h"
#include "images/formats/preserved_metadata.h"
#include "images/memory/available_memory.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/color_profiles.h"
#include "pipeline/contrast_ranges.h"
#include "pipeline/decode_row.h"
#include "pipeline/statistics/series_range.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {

std::string depth_warning(DepthLoss loss, int bits_per_sample, Format output) {
  if (loss == DepthLoss::none) return {};
  const std::string samples = std::to_string(bits_per_sample) + "-bit samples reduced to 8 bits ";
  if (loss == DepthLoss::at_reading) return samples + "before any stage";
  const std::string why = std::string(format_info(output).name) + " stores only 8 bits per sample";
  // The stages may have made 16-bit samples from an 8-bit input.
  if (bits_per_sample <= 8) return "16-bit result reduced to 8 bits; " + why;
  return samples + "after the last stage; " + why;
}

std::string scale_text(const ImageHeader& header) {
  return "(1/" + std::to_string(header.scale) + " of " + std::to_string(header.stored_width) + "x" +
         std::to_string(header.stored_height) + ")";
}

Mark mark_for(const EncodeOptions& encode, const ImageFiles& files) {
  Mark mark = encode.mark;
  if (mark == Mark::result) mark.made_of = files.made_of;
  return mark;
}

DecodeOptions decoding_for(const ImageSettings& settings, std::span<const StageRequest> stages) {
  DecodeOptions options = with_profile(settings.decode, stages);
  for (const StageBranch& branch : settings.also) {
    const DecodeOptions other = with_profile(settings.decode, branch.steps);
    options.with_profile = options.with_profile || other.with_profile;
    options.inks = options.inks && other.inks;
  }
  return options;
}

Plan plan_for(const ImageSettings& settings, std::span<const StageRequest> stages, const ImageHeader& header,
              Format format) {
  const std::int64_t max_pixels = settings.decode.max_pixels;
  const int max_bits = format_info(format).written_bits;
  std::vector<StageRequest> steps = with_profile(stages, header);
  if (settings.also.empty())
    return make_plan(steps, header.shape, settings.fuse, max_pixels, max_bits, settings.counts_planes);
  std::vector<StageBranch> branches = settings.also;
  for (StageBranch& branch : branches) branch.steps = with_profile(branch.steps, header);
  branches.push_back({"", std::move(steps)});
  return make_branched_plan(branches, header.shape, max_pixels, max_bits, settings.counts_planes);
}

ImageJob::ImageJob(ImageFiles files, const ImageSettings& settings, Timeline timeline)
    : files_(std::move(files)), settings_(settings) {
  image_.timeline = std::move(timeline);
  if (settings_.hash) make_digests();
}

void ImageJob::read(PendingInput& input) {
  read(naming(files_.input_name, [&] { return input.read(); }));
}

void ImageJob::read(InputFile input) {
  input_ = std::move(input);
  input_bytes_ = input_.size_bytes();
  if (settings_.hash) input_.hash_passing_bytes();
  if (files_.made_of && files_.made_of->content == 0)
    naming(files_.input_name, [&] { files_.made_of->content = content_hash(input_); });
  held_input_bytes_ = static_cast<std::int64_t>(input_.bytes().size());
}

void ImageJob::set_input_content(std::uint64_t hash) {
  if (files_.made_of) files_.made_of->content = hash;
}

Mark ImageJob::mark() const {
  return mark_for(settings_.encode, files_);
}

std::int64_t ImageJob::opening_bytes() const {
  return naming(files_.input_name, [&] { return imgpipe::opening_bytes(input_.bytes(), settings_.decode); });
}

void ImageJob::open(std::unique_ptr<Reader> reader, const Plan& first) {
  reader_ = std::move(reader);
  header_ = reader_->header();
  first_plan_ = &first;
  files_.input_pixels = nullptr;  // those of several inputs
}

void ImageJob::open() {
  naming(files_.input_name,
         [&] { reader_ = open_reader(input_, decoding_for(settings_, settings_.stages)); });
  header_ = reader_->header();
  decoded_by_library_ = reader_->decoder().empty();
  if (settings_.hash) reader_ = hash_rows(std::move(reader_), files_.input_pixels);
}

void ImageJob::make_plan() {
  naming(files_.input_name, [&] {
    const auto plan_of = [&](std::span<const StageRequest> stages) {
      image_.plan = std::make_shared<const Plan>(plan_for(settings_, stages, header_, files_.format));
    };
    if (!has_trim(settings_.stages)) return plan_of(settings_.stages);
    const auto span = image_.timeline.span("trim", SpanKind::host);
    TrimmedSteps trimmed = trimmed_steps(
        with_profile(settings_.stages, header_),
        [&] { return open_reader(input_, decoding_for(settings_, settings_.stages)); },
        settings_.decode.max_pixels);
    unchanging_ = std::move(trimmed.notes);
    plan_of(trimmed.steps);
  });
  const bool cut_down = header_.bits_per_sample > 8 && is_byte(header_.shape.sample);
  depth_loss_ = cut_down               ? DepthLoss::at_reading
                : image_.plan->reduced ? DepthLoss::at_encoding
                                       : DepthLoss::none;
}

// Returns the operations that make a result, on the images of a stack first.
std::vector<const Operation*> ImageJob::all_operations_of(std::size_t result) const {
  std::vector<const Operation*> operations = plan().operations_of(result);
  if (first_plan_ == nullptr) return operations;
  for (const Operation& operation : first_plan_->operations) operations.push_back(&operation);
  return operations;
}

// Returns the name of a profile that the steps of a result do not apply.
std::string ImageJob::unapplied_profile(std::size_t result) const {
  const bool applied = std::ranges::any_of(
      all_operations_of(result), [](const Operation* operation) { return operation->stage->name == "icc"; });
  return applied ? "" : header_.profile;
}

// Returns the metadata to preserve in a result. The input file must still be held.
ImageJob::PreservedOfResult ImageJob::preserved_metadata(std::size_t result, const Shape& shape) const {
  PreservedOfResult preserved{
      .metadata = nullptr, .lost_profile = unapplied_profile(result), .lost_metadata = ""};
  if (!settings_.keep_metadata || image_.plan->tensor) return preserved;
  ImageChanges use{.output = files_.format, .shape = shape};
  if (settings_.decode.orient) use.applied = header_.orientation;
  use.whole_stack = files_.page ? files_.page->whole_stack : !header_.more_images;
  use.revalued = use.scaled = header_.scale > 1;
  const Shape first = first_plan_ != nullptr ? first_plan_->input : unscaled_shape(header_);
  use.reshaped = reshape_reason(first, shape, use.applied != Orientation::upright);
  if (settings_.decode.bands_of_page && !use.whole_stack && use.reshaped.empty())
    use.reshaped = "bands stored separately";
  const std::string file_name = std::filesystem::path(files_.input).filename().string();
  use.file_name = file_name;
  use.revalued = use.revalued || first_plan_ != nullptr;
  for (const Operation* const operation : all_operations_of(result)) {
    const FrameType &in = operation->in, &out = operation->out;
    const bool resized = in.width != out.width || in.height != out.height;
    const Effect effect = operation->stage->effect;
    const bool revalues = makes_pixels(*operation->stage) && effect == Effect::values;
    use.to_srgb = use.to_srgb || operation->stage->name == "icc";
    use.turned = use.turned || effect == Effect::turns;
    use.moved = use.moved || use.turned || effect == Effect::cuts;
    use.revalued = use.revalued || revalues;
    use.scaled = use.scaled || (resized && revalues);
  }
  PreservedMetadata kept = naming(files_.input_name, [&] { return keep_metadata(input_.bytes(), use); });
  if (!kept.unpreserved_profile.empty()) preserved.lost_profile = kept.unpreserved_profile;
  if (kept.metadata && !kept.metadata->icc.empty()) preserved.lost_profile.clear();
  preserved.lost_metadata = lost_metadata_text(kept.lost);
  preserved.metadata = std::move(kept.metadata);
  return preserved;
}

// Makes the outputs of settings_.also.
void ImageJob::make_also() {
  for (std::size_t i = 0; i < files_.also.size(); ++i) {
    const Shape shape = plan().shape_of_result(i);
    AlsoOutput& output = also_.emplace_back(files_.also[i], mark());
    EncodeOptions encode = settings_.encode;
    encode.metadata = preserved_metadata(i, storable_shape(files_.format, shape, false)).metadata;
    output.make(files_.format, shape, std::move(encode), settings_.sync, files_.stays_in_memory);
  }
}

std::int64_t ImageJob::also_bytes() const {
  std::int64_t bytes = 0;
  for (const AlsoOutput& output : also_) bytes += output.encoding_bytes();
  return bytes;
}

void ImageJob::encode_also(const std::vector<ConstHostView>& results, int threads) {
  if (also_.empty()) return;
  naming(files_.input_name, [&] { check_available(also_bytes()); });
  HostThreads host(threads);
  for (std::size_t i = 0; i < also_.size(); ++i) also_[i].encode(results[i], host, image_.timeline);
}

void ImageJob::make_output() {
  const Shape& shape = image_.plan->output;
  has_alpha_ = shape.has_alpha();
  if (image_.plan->tensor || settings_.make_row_consumer) files_.output_pixels = nullptr;
  if (settings_.make_row_consumer) {
    output_shape_ = shape;
    lost_profile_ = unapplied_profile(plan().results.size() - 1);
    consumer_ = naming(files_.input_name, [&] { return settings_.make_row_consumer(files_, plan()); });
    writer_ = std::move(consumer_.writer);
    return;
  }
  naming(files_.output_name, [&] {
    output_shape_ = storable_shape(files_.format, shape, image_.plan->tensor.has_value());
    EncodeOptions encode = settings_.encode;
    encode.tensor = image_.plan->tensor;
    encode.mark = mark();
    if (settings_.hash) encode.digest = files_.output_pixels;
    PreservedOfResult preserved = preserved_metadata(plan().results.size() - 1, output_shape_);
    encode.metadata = std::move(preserved.metadata);
    lost_profile_ = std::move(preserved.lost_profile);
    lost_metadata_ = std::move(preserved.lost_metadata);
    if (files_.page) stack_ = files_.page->stack;
    if (stack_ != nullptr) encode.in_stack = std::make_shared<const StackPosition>(stack_->next);
    writer_ = make_writer(files_.format, shape, encode);
    image_.coded = coded_image_for(writer_.get());
    if (files_.stays_in_memory) return;
    if (stack_ == nullptr) output_ = std::make_unique<OutputFile>(files_.output, settings_.sync);
    if (output_ && settings_.hash) output_->hash_bytes();
    if (is_large_file(*writer_) && output().is_replaced())
      sink_ = [this](std::span<const std::byte> bytes) { append(bytes); };
  });
  make_also();
}

MemoryEstimateRequest ImageJob::memory_estimate_request() const {
  return {plan(), *reader_, writer_.get(), sink_ != nullptr};
}

Outcome ImageJob::run(Engine& engine, Job job) {
  job.reader = std::move(reader_);
  job.plan = plan();
  job.timeline = std::move(image_.timeline);
  job.writer = std::move(writer_);
  job.sink = sink_;
  const bool keep_input = job.keep_source;
  Outcome outcome = engine.run(std::move(job));
  image_.timeline = std::move(outcome.timeline);
  if (!outcome.error) hash_input();
  if (!keep_input) input_ = InputFile();  // the engine has destroyed its reader
  naming(files_.input_name, files_.output_name, [&] {
    if (outcome.error) std::rethrow_exception(outcome.error);
  });
  damage_ = std::move(outcome.warnings);
  in_bands_ = outcome.in_bands;
  for (const ContrastRange& found : contrast_ranges(outcome)) {
    if (has_no_range(found)) unchanging_.push_back(no_range_text(found));
  }
  encoded_ = std::move(outcome.file);
  encode_also(outcome.results, engine.threads());
  return outcome;
}

Image ImageJob::decode_by_library(Timeline& timeline) const {
  return naming(files_.input_name, [&] {
    DecodeOptions options = decoding_for(settings_, settings_.stages);
    if (decoded_by_library_) return Image();
    options.codec = CodecChoice::turbo;
    const std::unique_ptr<Reader> reader = open_reader(input_, options);
    check_available(reader->header().shape.bytes() + reader->working_bytes(true));
    Image image(reader->header().shape);
    const auto span = timeline.span("decode", SpanKind::host, image.shape().bytes());
    reader->read_rows(image.untyped_view());
    return image;
  });
}

void ImageJob::decode(std::pmr::memory_resource* memory) {
  naming(files_.input_name, [&] {
    const std::int64_t bytes = image_.plan->input.bytes();
    check_available(bytes + reader_->working_bytes(true));
    image_.source = Image(image_.plan->input, memory);
    auto span = image_.timeline.span("decode", SpanKind::host, bytes);
    reader_->read_rows(image_.source.untyped_view());
    span.set_name(decode_row(*reader_));
  });
  damage_ = reader_->warnings();
  reader_.reset();
  hash_input();
  input_ = InputFile();
}

bool ImageJob::stage(std::pmr::memory_resource& memory) {
  naming(files_.input_name, [&] {
    const auto span = image_.timeline.span(kStagingRow, SpanKind::host, input_bytes_);
    image_.coded.jpeg = stage_jpeg(*reader_, memory);
  });
  if (!image_.coded.jpeg) return false;
  damage_ = reader_->warnings();
  input_ = InputFile();  // reader_ stays: it describes the scan
  return true;
}

void ImageJob::encode(HostThreads& threads) {
  reader_.reset();
  if (!image_.coded.made.parts.empty()) {
    encoded_ =
        naming(files_.output_name, [&] { return file_of(image_.coded.made, *writer_, image_.timeline); });
    image_.coded.made = {};
    return;
  }
  encoded_ = naming(files_.output_name, [&] {
    return encode_image(std::as_const(image_.pixels).untyped_view(), *writer_, threads, image_.timeline,
                        sink_);
  });
  image_.pixels = Image();
}

void ImageJob::write() {
  if (consumer_.accept) {
    naming(files_.input_name, consumer_.accept);
    output_bytes_ = consumer_.output_bytes;
    encoded_ = {};
    return;
  }
  if (files_.stays_in_memory) {
    output_bytes_ = static_cast<std::int64_t>(encoded_.size_bytes());
    if (!settings_.hash) return;
    Sha256 digest;
    for (const std::vector<std::byte>& part : encoded_.parts) digest.add(part);
    output_hash_ = digest.hex();
    return;
  }
  for (AlsoOutput& output : also_)
    output.write(settings_.before_first_byte, settings_.before_write, image_.timeline);
  const auto left = static_cast<std::int64_t>(encoded_.size_bytes());
  const auto span = image_.timeline.span("write", SpanKind::host, left);
  naming(files_.output_name, [&] {
    begin_output();
    // A path that does not exist yet needs no further check.
    const bool is_new = stack_ == nullptr && !sink_ && !output().exists();
    if (stack_ == nullptr && !is_new) settings_.before_write(files_.output, mark());
    output().append(std::span<const std::vector<std::byte>>(encoded_.parts));
    output_bytes_ += left;
    const auto begin = static_cast<std::uint64_t>(stack_ == nullptr ? 0 : stack_->next.at);
    for (const EncodedFile::Patch& patch : encoded_.patches)
      output().overwrite(begin + patch.at, patch.bytes);
    if (stack_ != nullptr) return;
    output_->put_in_place();
    output_hash_ = output_->sha256();
  });
  if (stack_ != nullptr) stack_->next.advance(output_bytes_);
  encoded_ = {};
}

void ImageJob::begin_output() {
  if (std::exchange(output_begun_, true)) return;
  settings_.before_first_byte(files_.output);
}

void ImageJob::append(std::span<const std::byte> bytes) {
  begin_output();
  output().append(bytes);
  output_bytes_ += static_cast<std::int64_t>(bytes.size());
}

void ImageJob::release() noexcept {
  reader_.reset();
  writer_.reset();
  input_ = {};
  image_.source = Image();
  image_.pixels = Image();
  image_.coded = {};
  encoded_ = {};
  sink_ = {};
  consumer_ = {};
  output_.reset();
  also_.clear();
}

std::vector<ImageNote> ImageJob::notes() const {
  using enum ImageNote::About;
  const std::string input = files_.input_name + ": ";
  std::vector<ImageNote> notes;
  for (const std::string& warning : damage_) notes.push_back({damage, input + warning});
  if (depth_loss_ != DepthLoss::none)
    notes.push_back({depth, input + depth_warning(depth_loss_, header_.bits_per_sample, files_.format)});
  if (header_.scale > 1)
    notes.push_back({scale, input + "decoded at " + std::to_string(header_.shape.width) + "x" +
                                std::to_string(header_.shape.height) + " " + scale_text(header_)});
  if (const std::string text = conversion_text(header_, settings_.decode); !text.empty())
    notes.push_back({integers, input + text});
  if (header_.more_images && !files_.page) {
    const Codec& codec = codec_of(header_.format);
    const bool from_stream =
        files_.input == kStandardStream && codec.find_end != nullptr;  // one page per image
    const bool has_pages = codec.open_pages != nullptr && !from_stream;
    notes.push_back({more_images, input + kMoreImagesWarning +
                                      (has_pages ? "; use --pages all to process all pages" : "")});
  }
  for (const StageRequest& request : settings_.stages) {
    if (request.stage->name == "levels" && has_no_range(request))
      notes.push_back({range, input + "contrast of the series has no range to stretch (" +
                                  request.said.substr(1) + ") and changes nothing"});
  }
  for (const std::string& text : unchanging_) notes.push_back({range, input + text});
  if (!lost_profile_.empty())
    notes.push_back({profile, input + "dropped colour profile \"" + lost_profile_ +
                                  "\"; the colours were not converted"});
  if (!lost_metadata_.empty()) notes.push_back({metadata, input + "dropped metadata: " + lost_metadata_});
  const auto note_alpha = [&](const std::string& output) {
    notes.push_back({alpha, output + ": dropped alpha; " + std::string(format_info(files_.format).name) +
                                " cannot store it"});
  };
  for (const AlsoOutput& output : also_)
    if (output.drops_alpha()) note_alpha(printable(output.path()));
  if (drops_alpha()) note_alpha(files_.output_name);
  return notes;
}

Error over_budget(const ImageJob& image, std::int64_t bytes, std::int64_t budget_bytes) {
  return {ErrorKind::memory, image.files().input_name + ": needs up to " + std::to_string(bytes) +
                                 " bytes, but --memory leaves " + std::to_string(budget_bytes) +
                                 " for images"};
}

}  // namespace imgpipe
