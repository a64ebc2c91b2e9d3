#include "lab/kernels/stage_variant.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kernels/stage.h"

namespace imgpipe {

Rung same_rung(std::span<const Rung> ladder, std::string_view name) {
  const auto rung = std::ranges::find(ladder, name, &Rung::name);
  if (rung == ladder.end()) throw std::logic_error("unknown rung " + std::string(name));
  return *rung;
}

Rung same_rung(std::span<const Rung> ladder, std::string_view name, const RungFunction& function) {
  Rung rung = same_rung(ladder, name);
  static_cast<RungFunction&>(rung) = function;
  return rung;
}

bool counts_apart(const Rung& rung, const Stage& stage) {
  return rung.cpu != nullptr && makes_counts(stage);
}

void run_share(const Rung& rung, const StageCall<Host>& call, const Share& share) {
  if (rung.share != nullptr) return rung.share(call, share);
  if (rung.cpu != nullptr) {
    const std::int64_t height = call.in.type.height;
    return rung.cpu(call,
                    {height * share.index / share.count, height * (share.index + 1) / share.count, 0, 0});
  }
  if (share.index == 0) rung.reference(call);
}

CudaStatus launch_rung(const Rung& rung, const StageCall<Device>& call, const RungLaunch& launch) {
  return rung.cuda != nullptr ? rung.cuda(call, launch) : rung.launch(call, launch);
}

}  // namespace imgpipe
