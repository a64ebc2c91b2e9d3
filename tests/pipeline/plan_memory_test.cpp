// The memory that plans of random chains need, against tests/pipeline/plan_memory.txt: a line of digests for
// each chain, in the order of kGroups. A failure prints the numbers of today; IMGPIPE_WRITE_GOLDEN=1 writes
// the file.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/chains.h"
#include "pipeline/devices/device_bands.h"
#include "pipeline/engine.h"
#include "pipeline/host/chained_run.h"
#include "tests/support/images.h"
#include "tests/support/places.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::plan_memory_test {
namespace {

constexpr int kChains = 150;
constexpr std::int64_t kMostSteps = 6;
constexpr std::uint64_t kSeed = 20261125;

// The reader and the writer are never run: estimates ask for their sizes.
class HeaderReader final : public Reader {
 public:
  explicit HeaderReader(const Shape& shape) { header_.shape = shape; }

 protected:
  void read_next_rows(HostView) override {}
};

class StripWriter final : public Writer {
 public:
  explicit StripWriter(std::int64_t rows) : rows_(rows) {}
  void write_rows(ConstHostView) override {}
  void write_strip(std::int64_t, ConstHostView) override {}
  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return rows_; }
  [[nodiscard]] std::int64_t working_bytes() const override { return 1000; }
  EncodedFile finish() override { return {}; }

 private:
  std::int64_t rows_;
};

constexpr std::array<std::int64_t, 3> kStripRows{0, 2, 16};
constexpr std::array<std::string_view, 8> kGroups{"reference", "cpu",  "cpu kept", "cpu repeated",
                                                  "device",    "lane", "bands",    "device bands"};
using Numbers = std::array<std::string, kGroups.size()>;

std::string text_of(const MemoryNeed& need) {
  return std::to_string(need.bytes) + " " + std::to_string(need.band_bytes) + " " +
         std::to_string(need.most_bands) + "; ";
}

std::string bands_text(const Plan& plan, ChainLength length, bool streamed, const Writer& writer) {
  std::string text;
  const ChainedPlan chained(plan, streamed, {}, length);
  for (const Chain& chain : chained.chains) {
    const BandPlan bands(chained, chain, chain.last ? &writer : nullptr, 3);
    text += std::to_string(chain.first) + "-" + std::to_string(chain.end) + " " +
            std::to_string(bands.bands()) + "x" + std::to_string(bands.rows()) + "x" +
            std::to_string(bands.band_bytes()) + "; ";
  }
  return text;
}

// Of a device with little memory, so that tables and places decide how high the bands are.
std::string device_bands_text(const Plan& plan, const Writer& writer) {
  std::string text;
  const DeviceRoom room{std::int64_t{1} << 20, [](const Shape& shape) { return shape.row_bytes(); }};
  const ChainedPlan chained(plan, true, {}, ChainLength::longest_on_device);
  for (const Chain& chain : chained.chains) {
    if (chain.first == chain.end || chain.of_all_rows) continue;
    text += std::to_string(table_bytes(chained, chain)) + " ";
    try {
      const DeviceCut cut = cut_for_device(chained, chain, chain.last ? &writer : nullptr, room, 3);
      text += std::to_string(cut.slots) + "x" + std::to_string(cut.bands.bands().rows()) + "x" +
              std::to_string(cut.bands.bytes()) + "; ";
    } catch (const Error& error) {
      text += std::string(error.what()) + "; ";
    }
  }
  return text;
}

Numbers numbers_of(const Plan& plan) {
  const auto reference = make_reference_engine();
  const auto cpu = make_cpu_engine(3);
  const HeaderReader reader(plan.input);
  Numbers numbers;
  for (const std::int64_t rows : kStripRows) {
    const StripWriter writer(rows);
    const MemoryQuestion streamed{plan, reader, &writer};
    MemoryQuestion kept = streamed;
    kept.keep_source = kept.keep_outputs = kept.keep_pixels = true;
    MemoryQuestion repeated = streamed;
    repeated.repeat = 2;
    for (const MemoryQuestion& question : {streamed, kept, repeated})
      numbers[0] += text_of(reference->memory_need(question));
    numbers[1] += text_of(cpu->memory_need(streamed));
    numbers[2] += text_of(cpu->memory_need(kept));
    numbers[3] += text_of(cpu->memory_need(repeated));
    for (const MemoryQuestion& question : {streamed, kept, repeated})
      numbers[4] += text_of(chains_need(question, true));
    numbers[5] += text_of(lane_need(streamed));
    numbers[7] += device_bands_text(plan, writer);
    for (const bool is_streamed : {true, false}) {
      for (const ChainLength length : {ChainLength::longest, ChainLength::longest_on_device,
                                       ChainLength::longest_on_device_behind_decoding, ChainLength::step})
        numbers[6] += bands_text(plan, length, is_streamed, writer);
    }
  }
  return numbers;
}

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

// The next chain that the planner accepts, of an image with sides of up to some thousand pixels.
PlannedChain next_chain(Random& random) {
  for (;;) {
    std::string list;
    for (std::int64_t left = 1 + below(random, kMostSteps); left > 0; --left)
      list += (list.empty() ? "" : ",") + random_step(random, *any_stage(random));
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

TEST(PlanMemory, NeedsWhatItNeededBefore) {
  const auto path = std::filesystem::path(kSourceFolder) / "tests" / "pipeline" / "plan_memory.txt";
  const bool writes = std::getenv("IMGPIPE_WRITE_GOLDEN") != nullptr;
  std::fstream file(path, writes ? std::ios::out : std::ios::in);
  Random random(kSeed);
  for (int i = 0; i < kChains; ++i) {
    const PlannedChain chain = next_chain(random);
    const Numbers numbers = numbers_of(chain.plan);
    for (std::size_t group = 0; group < kGroups.size(); ++group) {
      const std::string now = digest(numbers[group]);
      if (writes) {
        file << now << (group + 1 == kGroups.size() ? "\n" : " ");
        continue;
      }
      std::string before;
      file >> before;
      ASSERT_EQ(now, before) << chain.text << "\n" << kGroups[group] << ": " << numbers[group];
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::plan_memory_test
