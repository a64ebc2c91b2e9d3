#include <algorithm>
#include <utility>

#include "lab/pipeline/codec_sets.h"
#include "pipeline/cuda/device_memory.h"

namespace imgpipe {
namespace {

constexpr int kPoison = 0xA5;

std::size_t rounded(std::size_t bytes) {
  return aligned_bytes(bytes, kCodecAlignment);
}

}  // namespace

CodecSets::CodecSets(const CodecGroup& group, const CodecVariant& variant, CodecWork work,
                     const TimedDevice& device)
    : group_(group), variant_(variant), work_(work), device_(device) {
  if (variant.nvjpeg == Nvjpeg::none && (work == CodecWork::entropy || work == CodecWork::decoding))
    staged_.emplace(subject().jpeg.scan);
  position();
}

bool CodecSets::has_coefficients() const {
  return takes_stream() || work_ == CodecWork::reconstruction;
}

std::size_t CodecSets::bytes() const {
  std::size_t sum = positions_.all * group_.images;
  for (const CodecSet::Part* part : {&sets_.front()->first, &sets_.front()->second})
    sum += part->run ? part->run->memory().bytes : 0;
  return sum;
}

void CodecSets::add() {
  auto set = std::make_unique<CodecSet>();
  set->positions.reserve(std::max<std::size_t>(1, group_.images * positions_.all));
  for (std::size_t i = 0; i < group_.images; ++i)
    set->tasks.push_back(task_at(static_cast<std::byte*>(set->positions.data()) + i * positions_.all));
  if (variant_.cuda != nullptr) set->first.make(variant_.cuda(set->tasks));
  if (variant_.then != nullptr) set->second.make(variant_.then(set->tasks));
  fill(*set);
  sets_.push_back(std::move(set));
}

void CodecSets::position() {
  positions_ = {};
  positions_.coefficients = takes_stream() ? rounded(staged_->bytes_with_margin()) : 0;
  positions_.plane = positions_.coefficients;
  if (has_coefficients())
    positions_.plane += rounded(subject().coefficients.size() * sizeof(std::int16_t) + 1);
  positions_.counts = positions_.plane;
  if (work_ != CodecWork::entropy)
    positions_.counts += rounded(static_cast<std::size_t>(device_bytes(picture().shape())));
  positions_.all = positions_.counts;
  if (gives_pixels() && variant_.pixels == CodecPixels::grey)
    positions_.all += rounded(subject().counts.size() * sizeof(std::uint64_t));
}

CodecTask CodecSets::task_at(std::byte* base) const {
  const Shape shape = picture().shape();
  CodecTask task;
  const Plane<Sample8, Device> plane =
      work_ == CodecWork::entropy
          ? Plane<Sample8, Device>()
          : DeviceView(base + positions_.plane, shape, device_stride_bytes(shape)).as<Sample8>();
  auto* coefficients =
      has_coefficients() ? reinterpret_cast<std::int16_t*>(base + positions_.coefficients) : nullptr;
  if (takes_stream()) {
    task.entropy = {.scan = &subject().jpeg.scan,
                    .tables = &subject().jpeg.tables,
                    .staged = &staged_->scan(),
                    .stream = base,
                    .coefficients = coefficients};
  }
  if (gives_pixels()) {
    task.reconstruction.scan = &subject().jpeg.scan;
    task.reconstruction.coefficients = coefficients;
    const bool grey_of_color = variant_.pixels == CodecPixels::grey && !subject().grey.empty();
    (grey_of_color ? task.reconstruction.grey : task.reconstruction.pixels) = plane;
    if (variant_.pixels == CodecPixels::grey)
      task.reconstruction.counts = reinterpret_cast<std::uint64_t*>(base + positions_.counts);
  }
  task.jpeg = {
      .pixels = plane, .quality = kLabQuality, .subsampled_chroma = variant_.pixels == CodecPixels::rgb_420};
  task.png = {.pixels = plane,
              .strip_rows = variant_.pixels == CodecPixels::grey ? subject().grey_strip_rows
                                                                 : subject().pixel_strip_rows};
  return task;
}

void CodecSets::fill(const CodecSet& set) const {
  for (const CodecTask& task : set.tasks) {
    if (takes_stream())
      device_.copy_up(const_cast<std::byte*>(task.entropy.stream), staged_->bytes(),
                      staged_->bytes_with_margin());
    if (work_ == CodecWork::reconstruction)
      device_.copy_up(const_cast<std::int16_t*>(task.reconstruction.coefficients),
                      subject().coefficients.data(), subject().coefficients.size() * sizeof(std::int16_t));
    if (!gives_pixels() && work_ != CodecWork::entropy) {
      const Plane<const Sample8, Device>& to = task.jpeg.pixels;
      copy_to_device(
          Plane<Sample8, Device>{const_cast<Sample8*>(to.data), to.width, to.height, to.stride, to.channels},
          picture().view(), device_.stream());
    }
  }
  for (const CodecSet::Part* part : {&set.first, &set.second}) {
    if (!part->run) continue;
    std::vector<std::byte> upload(part->run->memory().upload_bytes);
    part->run->write_upload(upload.data());
    device_.copy_up(part->data(), upload.data(), upload.size());
    device_.wait();
  }
  device_.wait();
}

void CodecSets::spoil(const CodecSet& set) const {
  const auto clear = [&](void* what, std::size_t bytes) {
    if (bytes > 0) IMGPIPE_CUDA(cudaMemsetAsync(what, kPoison, bytes, device_.stream().get()));
  };
  for (const CodecTask& task : set.tasks) {
    if (takes_stream()) clear(task.entropy.coefficients, positions_.plane - positions_.coefficients);
    if (!gives_pixels()) continue;
    const auto& planes = task.reconstruction;
    clear(planes.grey.empty() ? planes.pixels.data : planes.grey.data, positions_.all - positions_.plane);
  }
  for (const CodecSet::Part* part : {&set.first, &set.second}) {
    if (!part->run) continue;
    const GroupMemory& memory = part->run->memory();
    clear(part->data() + memory.upload_bytes, memory.bytes - memory.upload_bytes);
  }
  device_.wait();
}

}  // namespace imgpipe
