#include "kernels/jpeg/reconstruction.h"

#include <array>
#include <cstring>
#include <utility>

#include "images/rounded_up.h"
#include "kernels/jpeg/reconstruction_plan.h"

namespace imgpipe {
namespace {

constexpr std::size_t kBoundary = 256;
constexpr std::uint32_t kItemPixels = kTransformBlocks * kBlockSide;

Upsampling upsampling_of(const BaselineScan& scan) {
  const bool repeated = scan.component[1].width <= kMaxRepeatedWidth;
  switch (scan.sampling) {
    case Sampling::s444:
      return Upsampling::none;
    case Sampling::s422:
      return repeated ? Upsampling::repeated : Upsampling::across;
    case Sampling::s420:
      return repeated ? Upsampling::repeated : Upsampling::both;
    case Sampling::s440:
      return Upsampling::down;
    case Sampling::grey:
      break;
  }
  return Upsampling::grey;
}

ComponentSteps component_steps(const ScanComponent& component) {
  std::array<std::uint16_t, kBlockSamples> steps{};  // in row order
  for (std::size_t i = 0; i < kBlockSamples; ++i) steps[kZigzag[i]] = component.steps[i];
  ComponentSteps made{};
  for (unsigned pair = 0; pair < kBlockSide / 2; ++pair) {
    for (unsigned part = 0; part < kBlockLanes; ++part)
      made.of[pair][part] = row_pair_steps(steps.data(), pair, part);
  }
  return made;
}

ReconstructionImage image_of(const ReconstructionTask& task) {
  const BaselineScan& scan = *task.scan;
  ReconstructionImage image;
  image.coefficients = task.coefficients;
  image.pixels = task.pixels.data;
  image.pixel_stride = task.pixels.stride;
  image.grey = task.grey.data;
  image.grey_stride = task.grey.stride;
  image.counts = task.counts;
  image.width = static_cast<std::uint32_t>(scan.width);
  image.height = static_cast<std::uint32_t>(scan.height);
  image.upsampling = upsampling_of(scan);
  image.order.mcus_across = static_cast<std::uint32_t>(scan.mcus_across);
  image.order.across_shift = scan.component[0].across == 2 ? 1 : 0;
  image.order.down_shift = scan.component[0].down == 2 ? 1 : 0;
  image.order.blocks_in_mcu = static_cast<std::uint8_t>(scan.blocks_in_mcu);
  image.order.mcu_bytes = image.order.blocks_in_mcu * kBlockBytes;
  image.order.last_mcu = static_cast<std::uint32_t>(scan.mcus() - 1);
  image.luma_groups = (image.width + kItemPixels - 1) / kItemPixels;
  if (image.upsampling != Upsampling::grey) {
    image.colour_width = static_cast<std::uint32_t>(scan.component[1].width);
    image.colour_height = static_cast<std::uint32_t>(scan.component[1].height);
    image.colour_groups = (image.order.mcus_across + kColourItemMcus - 1) / kColourItemMcus;
  }
  image.weights = byte_weights(task.luma);
  for (std::size_t c = 0; c < static_cast<std::size_t>(scan.components); ++c)
    image.steps[c] = component_steps(scan.component[c]);
  return image;
}

}  // namespace

ReconstructionPlan plan_reconstruction(const std::vector<ReconstructionTask>& tasks) {
  ReconstructionPlan plan;
  plan.images.reserve(tasks.size());
  std::uint64_t luma = 0;
  std::uint64_t colour = 0;
  plan.first_luma.push_back(0);
  plan.first_colour.push_back(0);
  for (const ReconstructionTask& task : tasks) {
    ReconstructionImage image = image_of(task);
    const auto mcu_rows = static_cast<std::uint64_t>(task.scan->mcu_rows);
    luma += (mcu_rows << image.order.down_shift) * image.luma_groups;
    colour += mcu_rows * image.colour_groups;
    plan.first_luma.push_back(luma);
    plan.first_colour.push_back(colour);
    plan.any_counts = plan.any_counts || image.counts != nullptr;
    if (image.upsampling != Upsampling::grey) {
      plan.any_pixels = plan.any_pixels || image.pixels != nullptr;
      plan.any_grey = plan.any_grey || image.grey != nullptr;
    }
    plan.images.push_back(image);
  }
  plan.bytes = rounded_up(plan.upload_bytes(), kBoundary);
  for (ReconstructionImage& image : plan.images) {
    image.colour_offset = static_cast<std::int64_t>(plan.bytes);
    const auto colour_bytes = std::size_t{2} * kBlockSide * image.order.mcus_across * image.colour_height;
    plan.bytes = rounded_up(plan.bytes + colour_bytes, kBoundary);
  }
  return plan;
}

JpegReconstruction::JpegReconstruction(std::vector<ReconstructionTask> tasks) : tasks_(std::move(tasks)) {
  const ReconstructionPlan plan = plan_reconstruction(tasks_);
  memory_ = {.bytes = plan.bytes, .upload_bytes = plan.upload_bytes()};
  luma_items_ = plan.first_luma.back();
  colour_items_ = plan.first_colour.back();
  any_pixels_ = plan.any_pixels;
  any_grey_ = plan.any_grey;
  any_counts_ = plan.any_counts;
}

void JpegReconstruction::write_upload(std::byte* to) const {
  const ReconstructionPlan plan = plan_reconstruction(tasks_);
  if (!plan.images.empty()) std::memcpy(to, plan.images.data(), plan.luma_offset());
  std::memcpy(to + plan.luma_offset(), plan.first_luma.data(),
              plan.first_luma.size() * sizeof(std::uint64_t));
  std::memcpy(to + plan.colour_offset(), plan.first_colour.data(),
              plan.first_colour.size() * sizeof(std::uint64_t));
}

}  // namespace imgpipe
