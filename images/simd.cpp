#include "images/simd.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>

// foreach_target.h re-includes this file per target, so its dispatch table matches those of the other files.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_ONCE
#include <hwy/targets.h>

#include "images/error.h"
#include "images/names.h"

namespace imgpipe {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The targets of this build that the processor supports.
std::int64_t usable_targets() {
  static const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable;
}

// Set by use_simd(); 0: the best. Highway's SupportedTargets() takes 30 microseconds on virtual machines,
// which trap the instruction that it uses.
std::atomic<std::int64_t> selected_target{0};

std::vector<std::int64_t> target_bits() {
  std::vector<std::int64_t> bits;  // a lower bit is a better target
  for (std::int64_t left = usable_targets(); left != 0; left &= left - 1) bits.push_back(left & -left);
  return bits;
}

}  // namespace

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t bit : target_bits()) names.emplace_back(hwy::TargetName(bit));
  return names;
}

std::string simd_target() {
  const std::int64_t set = selected_target.load(std::memory_order_relaxed);
  const std::int64_t chosen = set != 0 ? set : usable_targets();
  return hwy::TargetName(chosen & -chosen);
}

void use_simd(std::string_view name) {
  std::int64_t wanted = usable_targets();
  if (!name.empty()) {
    wanted = 0;
    for (const std::int64_t bit : target_bits()) {
      if (lower(hwy::TargetName(bit)) == lower(name)) wanted = bit;
    }
    if (wanted == 0) {
      const std::vector<std::string> targets = simd_targets();
      const std::vector<std::string_view> known(targets.begin(), targets.end());
      throw Error(ErrorKind::usage, "IMGPIPE_SIMD: " + none_of(name, known));
    }
  }
  selected_target.store(name.empty() ? 0 : wanted, std::memory_order_relaxed);
  hwy::SetSupportedTargetsForTest(name.empty() ? 0 : wanted);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::string simd_version() {
  return "Highway " + std::to_string(HWY_MAJOR) + "." + std::to_string(HWY_MINOR) + "." +
         std::to_string(HWY_PATCH);
}

}  // namespace imgpipe
#endif
