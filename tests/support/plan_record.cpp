#include "tests/support/plan_record.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/chains.h"
#include "tests/support/random_stages.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test {
namespace {

constexpr int kChains = 150;
constexpr std::int64_t kMaxSteps = 6;
constexpr std::uint64_t kSeed = 20261125;

std::string digest(std::string_view text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  std::array<char, 5> digits{};
  (void)std::snprintf(digits.data(), digits.size(), "%04x", (hash ^ (hash >> 16)) & 0xFFFFU);
  return digits.data();
}

struct PlannedChain {
  std::string text;
  Plan plan;
};

// Returns the next chain that the planner accepts, for an image with sides of up to some thousand pixels.
PlannedChain next_chain(Random& random) {
  for (;;) {
    std::string list;
    for (std::int64_t left = 1 + below(random, kMaxSteps); left > 0; --left)
      list += (list.empty() ? "" : ",") + recorded_step(random);
    const Sample sample = below(random, 2) == 0 ? Sample::u8 : Sample::u16;
    Shape shape = random_shape(random, sample, static_cast<int>(1 + below(random, 4)));
    const std::int64_t scale = 1 + below(random, 60);
    shape.width *= scale;
    shape.height *= scale;
    const bool fuse = below(random, 2) == 0;
    try {
      return {list + " of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
                  std::to_string(shape.channels) + " u" + std::to_string(8 * bytes_per_sample(sample)),
              make_plan(parse_stages(list), shape, fuse, 1 << 24)};
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace

DigestRecord::DigestRecord(std::string_view file)
    : writes_(std::getenv("IMGPIPE_WRITE_GOLDEN") != nullptr),
      record_(std::filesystem::path(kSourceDirectory) / file, writes_ ? std::ios::out : std::ios::in) {
  if (const char* const texts = std::getenv("IMGPIPE_RECORD_TEXT")) texts_.open(texts, std::ios::app);
  use_band_bytes(std::int64_t{1} << 19);  // memory needs must not depend on this machine's cache
}

DigestRecord::~DigestRecord() {
  use_band_bytes(0);
}

bool DigestRecord::has(std::string_view text) {
  const std::string now = digest(text);
  if (texts_.is_open()) texts_ << text << "\n";
  if (writes_) {
    record_ << std::exchange(separator_, " ") << now;
    return true;
  }
  std::string before;
  record_ >> before;
  return now == before;
}

void DigestRecord::end_line() {
  separator_.clear();
  if (writes_) record_ << "\n";
}

void expect_recorded(std::string_view file, std::span<const std::string_view> groups,
                     const std::function<std::vector<std::string>(const Plan&)>& numbers_of) {
  DigestRecord record(file);
  Random random(kSeed);
  for (int i = 0; i < kChains; ++i) {
    const PlannedChain chain = next_chain(random);
    const std::vector<std::string> numbers = numbers_of(chain.plan);
    for (std::size_t group = 0; group < groups.size(); ++group)
      ASSERT_TRUE(record.has(numbers[group])) << chain.text << "\n"
                                              << groups[group] << ": " << numbers[group];
    record.end_line();
  }
}

}  // namespace imgpipe::test
