#include "pipeline/color_profiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/icc_curves.h"
#include "images/codecs/icc_transform.h"
#include "images/error.h"
#include "kernels/icc/icc.h"
#include "kernels/stage.h"
#include "pipeline/threads/fork_mutex.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

// lcms2 chooses the same numbers for tables of 8 and 16 bits.
constexpr int kRgbPoints = 33, kCmykPoints = 17;
constexpr std::size_t kMaxTables = 8;  // of up to 0.8 MB

bool is_icc(const StageRequest& step) {
  return step.stage->name == "icc";
}

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorKind::input, why);
}

template <class T>
void append(std::vector<std::byte>& table, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  table.insert(table.end(), bytes, bytes + sizeof(T));
}

// Returns a value of 0..1 times `one`, rounded half up.
std::uint32_t fixed(std::optional<double> value, std::uint32_t one) {
  if (!value) reject("damaged curve");
  const double limited = *value > 0 ? std::min(*value, 1.0) : 0;
  return static_cast<std::uint32_t>(std::floor(limited * one + 0.5));
}

// Appends the entries of curve(sample) for samples of 8 bits and of 16.
template <class Byte, class Word, class Curve>
void append_curve(std::vector<std::byte>& bytes, std::vector<std::byte>& words, const Curve& curve) {
  for (std::uint32_t v = 0; v < kIccWords; ++v) {
    const auto [byte, word] = curve(v / 65535.0);
    append<Word>(words, word);
    if (v % 257 == 0) append<Byte>(bytes, byte);
  }
}

void append_grey(std::vector<std::byte>& table, Bytes profile) {
  std::vector<std::byte> words;
  append_curve<Sample8, Sample16>(table, words, [&](double sample) {
    const std::optional<double> light = grey_light(profile, sample);
    if (!light) reject("damaged curve");
    const auto wide = static_cast<Sample16>(fixed(srgb_encoded(std::clamp(*light, 0.0, 1.0)), 65535));
    return std::pair(converted<Sample8>(wide), wide);
  });
  table.insert(table.end(), words.begin(), words.end());
}

void append_matrix(std::vector<std::byte>& table, Bytes profile, IccHead& head) {
  const std::optional<ColorMatrix> matrix = matrix_to_srgb(profile);
  if (!matrix) reject("damaged matrix");
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double coefficient = std::floor(std::ldexp((*matrix)[row][c], kIccMatrixBits) + 0.5);
      if (!(std::abs(coefficient) <= static_cast<double>(kIccMaxCoefficient))) reject("implausible matrix");
      head.matrix[row][c] = static_cast<std::int64_t>(coefficient);
    }
  }
  std::vector<std::byte> words;
  for (int channel = 0; channel < 3; ++channel) {
    append_curve<std::uint32_t, std::uint32_t>(table, words, [&](double sample) {
      const std::uint32_t light = fixed(channel_light(profile, channel, sample), 1U << kIccLightBits);
      return std::pair(light, light);
    });
  }
  table.insert(table.end(), words.begin(), words.end());
  for (int node = 0; node < kIccCurveNodes; ++node)
    append(table, static_cast<std::uint16_t>(fixed(srgb_encoded(node / (kIccCurveNodes - 1.0)), 65535)));
}

SecondImage make_table(Bytes profile, RenderingIntent intent) {
  IccHead head;
  head.inputs = profile_channels(profile);
  SecondImage made;
  std::vector<std::byte> entries;
  if (head.inputs == 1) {
    made.name = "curve";
    append_grey(entries, profile);
  } else if (head.inputs == 3 && is_matrix_profile(profile)) {
    head.rule = IccRule::matrix;
    made.name = "matrix33";
    append_matrix(entries, profile, head);
  } else {
    head.rule = IccRule::grid;
    head.points = head.inputs == 4 ? kCmykPoints : kRgbPoints;
    made.name = "lcms" + std::to_string(head.points);
    for (const std::uint16_t node : srgb_grid(profile, intent, head.points)) append(entries, node);
  }
  append(made.planes, head);
  made.planes.insert(made.planes.end(), entries.begin(), entries.end());
  return made;
}

// Returns why the profile does not describe pixels; empty: it does.
std::string fault_of(Bytes profile) {
  if (const std::string_view fault = profile_fault(profile); !fault.empty()) return std::string(fault);
  const std::string_view kind(reinterpret_cast<const char*>(profile.data()) + 12, 4);
  constexpr std::array<std::string_view, 4> kKinds{"scnr", "mntr", "prtr", "spac"};
  if (std::ranges::find(kKinds, kind) == kKinds.end()) return "not a profile of a device or colour space";
  return profile_channels(profile) == 0 ? "not a profile of grey, RGB or CMYK" : "";
}

class Tables {
 public:
  std::shared_ptr<const SecondImage> find(Bytes profile, std::int64_t intent) {
    const std::lock_guard lock(fork_mutex());
    const auto found = std::ranges::find_if(kept_, [&](const Entry& one) {
      return one.intent == intent && std::ranges::equal(one.profile, profile);
    });
    if (found == kept_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, found);
    return found->table;
  }
  void add(Bytes profile, std::int64_t intent, std::shared_ptr<const SecondImage> table) {
    std::list<Entry> added, surplus;  // allocated and destroyed without the lock
    added.push_back({{profile.begin(), profile.end()}, intent, std::move(table)});
    const std::lock_guard lock(fork_mutex());
    kept_.splice(kept_.begin(), added);
    if (kept_.size() > kMaxTables) surplus.splice(surplus.begin(), kept_, std::prev(kept_.end()));
  }

 private:
  struct Entry {
    std::vector<std::byte> profile;
    std::int64_t intent = 0;
    std::shared_ptr<const SecondImage> table;
  };
  std::list<Entry> kept_;  // most recently used first
};

}  // namespace

std::shared_ptr<const SecondImage> profile_table(Bytes profile, std::int64_t intent) {
  static Tables tables;
  const std::string where = "colour profile \"" + profile_name(profile) + "\": ";
  try {
    if (const std::string fault = fault_of(profile); !fault.empty()) reject(fault);
    profile = profile.first(profile_bytes(profile));
    if (auto kept = tables.find(profile, intent)) return kept;
    auto made = std::make_shared<const SecondImage>(
        make_table(profile, static_cast<RenderingIntent>(static_cast<std::uint8_t>(intent))));
    tables.add(profile, intent, made);
    return made;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    throw Error(error.kind(), where + error.what() + "; leave out icc to keep the colours");
  }
}

DecodeOptions with_profile(DecodeOptions options, std::span<const StageRequest> steps) {
  options.with_profile = std::ranges::any_of(steps, is_icc);
  options.inks = !steps.empty() && is_icc(steps.front());
  return options;
}

std::vector<StageRequest> with_profile(std::span<const StageRequest> steps, const ImageHeader& header) {
  std::vector<StageRequest> bound(steps.begin(), steps.end());
  const auto step = std::ranges::find_if(bound, is_icc);
  const bool is_bound = step != bound.end() && step->image;
  if (step == bound.end() || is_bound || !header.icc || profile_name(*header.icc).empty()) return bound;
  step->image = profile_table(*header.icc, step->parameters[1]);
  if (icc_head({.image = step->image.get()}).inputs == 4 && !header.inks)
    reject("icc converts CMYK only as the first step, without alpha, --bands and --codec stb");
  step->parameters.image = step->image.get();
  step->said += ":rule=" + step->image->name;
  return bound;
}

}  // namespace imgpipe
