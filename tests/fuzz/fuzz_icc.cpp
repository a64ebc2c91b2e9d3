// Reads any bytes as an ICC profile, makes the table of icc, and, with small grids, all that lcms2 reads of
// it.
#include <span>

#include "images/codecs/icc.h"
#include "images/codecs/icc_transform.h"
#include "images/error.h"
#include "images/text.h"
#include "kernels/icc/icc.h"
#include "pipeline/color_profiles.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace imgpipe;

template <class Action>
void attempt(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    if (printable(error.what()) != error.what()) __builtin_trap();
  }
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_icc) {
  const auto profile = std::as_bytes(std::span(data, size));
  const int channels = profile_channels(profile);
  for (int i = 0; i <= 16; ++i) {
    (void)grey_light(profile, i / 16.0);
    for (int c = 0; c < 3; ++c) (void)channel_light(profile, c, i / 16.0);
  }
  (void)matrix_to_srgb(profile);
  // Whole tables take longer.
  const bool makes_table = size > 0 && data[size - 1] % 64 == 0;
  if (makes_table && (channels != 4 && (channels != 3 || is_matrix_profile(profile)))) {
    attempt([&] {
      const auto table = profile_table(profile, 0);
      if (icc_head({.image = table.get()}).inputs != channels) __builtin_trap();
    });
  }
  if (channels < 3 || !profile_fault(profile).empty()) return 0;
  for (const RenderingIntent intent :
       {RenderingIntent::perceptual, RenderingIntent::relative, RenderingIntent::saturation})
    attempt([&] { (void)srgb_grid(profile, intent, 2); });
  return 0;
}
