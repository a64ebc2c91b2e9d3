#include "lab/kernels/stage_variant.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/stage.h"

namespace imgpipe {

StageVariant variant_of(std::span<const StageVariant> ladder, std::string_view name) {
  const auto variant = std::ranges::find(ladder, name, &StageVariant::name);
  if (variant == ladder.end()) throw std::logic_error("unknown rung " + std::string(name));
  return *variant;
}

StageVariant variant_of(std::span<const StageVariant> ladder, std::string_view name,
                        const VariantFunction& function) {
  StageVariant variant = variant_of(ladder, name);
  static_cast<VariantFunction&>(variant) = function;
  return variant;
}

bool has_private_counts(const StageVariant& variant, const Stage& stage) {
  return variant.cpu != nullptr && makes_counts(stage);
}

void run_share(const StageVariant& variant, const StageCall<Host>& call, const Share& share) {
  if (variant.share != nullptr) return variant.share(call, share);
  if (variant.cpu != nullptr) {
    const std::int64_t height = call.in.type.height;
    return variant.cpu(call,
                       {height * share.index / share.count, height * (share.index + 1) / share.count, 0, 0});
  }
  if (share.index == 0) variant.reference(call);
}

CudaStatus launch_variant(const StageVariant& variant, const StageCall<Device>& call,
                          const VariantLaunch& launch) {
  return variant.cuda != nullptr ? variant.cuda(call, launch) : variant.launch(call, launch);
}

}  // namespace imgpipe
