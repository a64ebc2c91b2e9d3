#include "pipeline/cuda/coded_group.h"

#include <algorithm>
#include <string>
#include <utility>

#include "images/error.h"

namespace imgpipe {
namespace {

Plane<Sample8, Device> samples_of(const DeviceView& view) {
  return view.empty() ? Plane<Sample8, Device>() : view.as<Sample8>();
}

}  // namespace

CodedGroup::CodedGroup(Context& context, std::vector<Member> members)
    : context_(context), members_(std::move(members)) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].image->jpeg) decoded_.push_back(i);
  }
}

Image CodedGroup::pinned_bytes(std::size_t bytes) {
  Image block({static_cast<std::int64_t>(std::max<std::size_t>(bytes, 1)), 1, 1}, &context_.pinned);
  context_.pinned.pin(block.untyped_view().data);
  return block;
}

// Allocates a codec's memory and uploads its parameters.
template <class Group>
CodedGroup::Launches CodedGroup::make_launches(const Group& group) {
  const GroupMemory& memory = group.memory();
  Launches launches{context_.arena.take(memory.bytes), pinned_bytes(memory.upload_bytes),
                    pinned_bytes(memory.results_bytes)};
  group.write_upload(launches.tables.untyped_view().data);
  IMGPIPE_CUDA(cudaMemcpyAsync(launches.memory, launches.tables.untyped_view().data, memory.upload_bytes,
                               cudaMemcpyHostToDevice, context_.stream.get()));
  return launches;
}

void CodedGroup::prepare_decoding() {
  if (decoded_.empty()) return;
  std::vector<EntropyTask> entropy;
  std::vector<ReconstructionTask> reconstruction;
  for (const std::size_t i : decoded_) {
    const StagedJpeg& jpeg = *members_[i].image->jpeg;
    const BaselineScan& scan = jpeg.jpeg->scan;
    const auto blocks = static_cast<std::size_t>(scan.mcus() * scan.blocks_in_mcu);
    streams_.push_back(context_.arena.take(jpeg.scan.bytes + kStreamMargin));
    auto* const coefficients =
        reinterpret_cast<std::int16_t*>(context_.arena.take(blocks * kBlockSamples * sizeof(std::int16_t)));
    const DeviceRun::DecodedTo to = members_[i].run->decoded_to();
    entropy.push_back({&scan, &jpeg.jpeg->tables, &jpeg.scan, streams_.back(), coefficients});
    reconstruction.push_back(
        {&scan, coefficients, samples_of(to.pixels), samples_of(to.grey), to.luma, to.counts});
  }
  entropy_.emplace(std::move(entropy));
  entropy_launches_ = make_launches(*entropy_);
  reconstruction_.emplace(std::move(reconstruction));
  reconstruction_launches_ = make_launches(*reconstruction_);
}

void CodedGroup::upload(int pass) {
  std::size_t before = decoded_.empty() ? 0 : context_.mark();
  for (std::size_t i = 0; i < decoded_.size(); ++i) {
    const Member& member = members_[decoded_[i]];
    const StagedJpeg& jpeg = *member.image->jpeg;
    const std::byte* const from = jpeg.bytes.untyped_view().data;
    context_.pinned.pin(from);
    IMGPIPE_CUDA(
        cudaMemcpyAsync(streams_[i], from, jpeg.scan.bytes, cudaMemcpyHostToDevice, context_.stream.get()));
    const std::size_t after = context_.mark();
    member.run->times().interval("upload", SpanKind::transfer, static_cast<std::int64_t>(jpeg.scan.bytes),
                                 pass, std::exchange(before, after), after);
  }
}

CodedGroup::Work CodedGroup::decoding_of(const Member& member) {
  const DeviceRun::DecodedTo to = member.run->decoded_to();
  std::int64_t bytes = static_cast<std::int64_t>(member.image->jpeg->scan.bytes);
  for (const DeviceView& plane : {to.pixels, to.grey}) bytes += plane.empty() ? 0 : plane.bytes();
  return {to.row, bytes};
}

CodedGroup::Work CodedGroup::encoding_of(const Member& member) {
  return {"encode (cuda)", member.run->plan().output.bytes()};
}

// Divides the time between two marks among the images in proportion to their pixels.
void CodedGroup::add_shares(std::span<const std::size_t> members, Work (*work_of)(const Member&), int pass,
                            std::size_t first, std::size_t last) {
  const auto pixels = [&](std::size_t i) {
    return static_cast<double>(members_[i].run->plan().input.pixels());
  };
  double all = 0;
  for (const std::size_t i : members) all += pixels(i);
  double before = 0;
  for (const std::size_t i : members) {
    const Work work = work_of(members_[i]);
    const double own = pixels(i) / all;
    members_[i].run->times().share(work.row, SpanKind::codec, work.bytes, pass, first, last,
                                   {before, before + own});
    before += own;
  }
}

void CodedGroup::launch_decoding(int pass) {
  if (decoded_.empty()) return;
  const CudaLaunch launch{context_.stream.get(), context_.multiprocessors};
  const std::size_t first = context_.mark();
  IMGPIPE_CUDA(static_cast<cudaError_t>(entropy_->launch(entropy_launches_.memory, launch)));
  IMGPIPE_CUDA(static_cast<cudaError_t>(reconstruction_->launch(reconstruction_launches_.memory, launch)));
  add_shares(decoded_, decoding_of, pass, first, context_.mark());
}

void CodedGroup::prepare_encoding() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    DeviceForm& form = members_[i].image->form;
    // The device's encoders support 8 bits only; other images are downloaded as pixels.
    if (!is_byte(members_[i].run->plan().output.sample)) form = {};
    if (form.kind == DeviceForm::Kind::png_strips) png_.push_back(i);
    if (form.kind == DeviceForm::Kind::jpeg_scan) jpeg_.push_back(i);
  }
  if (!png_.empty()) {
    std::vector<PngEncodingTask> tasks;
    for (const std::size_t i : png_)
      tasks.push_back({members_[i].run->result().as<Sample8>(), members_[i].image->strip_rows});
    png_encoding_.emplace(std::move(tasks));
    png_launches_ = make_launches(*png_encoding_);
  }
  if (!jpeg_.empty()) {
    std::vector<JpegEncodingTask> tasks;
    for (const std::size_t i : jpeg_) {
      const DeviceForm& form = members_[i].image->form;
      tasks.push_back({members_[i].run->result().as<Sample8>(), form.quality, form.subsampled_chroma});
    }
    jpeg_encoding_.emplace(std::move(tasks));
    jpeg_launches_ = make_launches(*jpeg_encoding_);
  }
}

void CodedGroup::launch_encoding(int pass) {
  const CudaLaunch launch{context_.stream.get(), context_.multiprocessors};
  const auto run = [&](const auto& encoding, const Launches& launches, std::span<const std::size_t> members) {
    if (!encoding) return;
    const std::size_t first = context_.mark();
    IMGPIPE_CUDA(static_cast<cudaError_t>(encoding->launch(launches.memory, launch)));
    add_shares(members, encoding_of, pass, first, context_.mark());
  };
  run(png_encoding_, png_launches_, png_);
  run(jpeg_encoding_, jpeg_launches_, jpeg_);
}

template <class Group>
void CodedGroup::queue_results_of(const std::optional<Group>& group, Launches& launches) {
  if (!group || group->memory().results_bytes == 0) return;
  IMGPIPE_CUDA(cudaMemcpyAsync(launches.results.untyped_view().data,
                               launches.memory + group->memory().results_offset,
                               group->memory().results_bytes, cudaMemcpyDeviceToHost, context_.stream.get()));
}

void CodedGroup::queue_results() {
  queue_results_of(entropy_, entropy_launches_);
  queue_results_of(png_encoding_, png_launches_);
  queue_results_of(jpeg_encoding_, jpeg_launches_);
}

void CodedGroup::judge() {
  for (std::size_t i = 0; i < decoded_.size(); ++i) {
    members_[decoded_[i]].image->is_intact =
        entropy_->is_intact(i, entropy_launches_.results.untyped_view().data);
  }
}

void CodedGroup::collect(std::size_t member, int first_pass, int passes) {
  const auto place_in = [member](const std::vector<std::size_t>& members) {
    return static_cast<std::size_t>(std::ranges::lower_bound(members, member) - members.begin());
  };
  const auto& [image, run] = members_[member];
  OutputRecord made;
  const bool is_png = image->form.kind == DeviceForm::Kind::png_strips;
  const FileOnDevice file = is_png ? find_png(place_in(png_), made) : find_jpeg(place_in(jpeg_), made);
  if (file.bytes == 0) return;  // the host encodes it
  made.bytes = pinned_bytes(file.bytes);
  image->made = std::move(made);  // must outlive the queued copies, even after an error
  for (int pass = first_pass; pass < passes; ++pass) {
    const std::size_t before = context_.mark();
    IMGPIPE_CUDA(cudaMemcpyAsync(image->made.bytes.untyped_view().data, file.begin, file.bytes,
                                 cudaMemcpyDeviceToHost, context_.stream.get()));
    run->times().interval("download", SpanKind::transfer, static_cast<std::int64_t>(file.bytes), pass, before,
                          context_.mark());
  }
}

CodedGroup::FileOnDevice CodedGroup::find_png(std::size_t index, OutputRecord& made) const {
  const std::vector<PngEncoding::Strip> strips =
      png_encoding_->strips(index, png_launches_.results.untyped_view().data);
  const std::size_t first = strips.front().offset;
  for (const PngEncoding::Strip& strip : strips)
    made.parts.push_back({strip.offset - first, strip.bytes, strip.adler, strip.filtered});
  return {png_launches_.memory + first, strips.back().offset + strips.back().bytes - first};
}

CodedGroup::FileOnDevice CodedGroup::find_jpeg(std::size_t index, OutputRecord& made) const {
  const JpegEncoding::Scan scan = jpeg_encoding_->scan(index, jpeg_launches_.results.untyped_view().data);
  made.parts.push_back({.offset = 0, .bytes = scan.bytes});
  return {jpeg_launches_.memory + scan.offset, scan.bytes};
}

}  // namespace imgpipe
