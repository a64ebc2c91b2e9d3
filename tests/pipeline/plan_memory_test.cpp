// Compares memory needs and value offsets of random chains' plans with tests/pipeline/plan_memory.txt.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/chains.h"
#include "pipeline/devices/device_bands.h"
#include "pipeline/engine.h"
#include "pipeline/host/chained_run.h"
#include "tests/support/plan_record.h"

namespace imgpipe::test::plan_memory_test {
namespace {

// The reader and the writer never run: estimates only ask for their sizes.
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

std::string text_of(const MemoryNeed& need) {
  return std::to_string(need.bytes) + " " + std::to_string(need.band_bytes) + " " +
         std::to_string(need.max_bands) + "; ";
}

// Returns how many of the first `end` nodes are steps; the others make tables.
std::size_t steps_before(const Program& program, std::size_t end) {
  return end - static_cast<std::size_t>(std::count_if(
                   program.nodes.begin(), program.nodes.begin() + static_cast<std::ptrdiff_t>(end),
                   [](const Node& node) { return node.table_out().has_value(); }));
}

std::string bands_text(const Plan& plan, ChainLength length, bool streamed, const Writer& writer) {
  std::string text;
  const ChainedPlan chained(plan, streamed, {}, length);
  for (const Chain& chain : chained.chains) {
    const BandPlan bands(chained, chain, chain.last ? &writer : nullptr, 3);
    text += std::to_string(steps_before(chained.program, chain.first)) + "-" +
            std::to_string(steps_before(chained.program, chain.end)) + " " + std::to_string(bands.bands()) +
            "x" + std::to_string(bands.rows()) + "x" + std::to_string(bands.band_bytes());
    for (ValueId value = 0; value < chained.program.values.size(); ++value) {
      if (chained.program.values[value].table_bytes > 0) continue;
      const auto place = bands.place_of(value);
      text += place ? " " + std::to_string(*place) : " -";
    }
    text += "; ";
  }
  return text;
}

// Returns the offsets of the first band's rows and counters from the beginning of its memory.
std::string offsets_text(const DeviceBands& bands) {
  std::string text;
  auto* const memory = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
  const BandRows rows = bands.rows_of(bands.bands().band(0));
  for (ValueId value = 0; value < rows.held.size(); ++value) {
    if (rows.held[value].count() > 0)
      text += " " + std::to_string(bands.view(memory, rows, {value, 0, rows.held[value]}).data - memory);
  }
  for (std::size_t node = bands.chain().first; node < bands.chain().end; ++node) {
    if (const auto counts = bands.plan().program.nodes[node].counts_out())
      text += " " + std::to_string(bands.counts(memory, *counts) - memory);
  }
  return text;
}

// Assumes a device with little memory, so that tables and positions determine the height of bands.
std::string device_bands_text(const Plan& plan, const Writer& writer) {
  std::string text;
  const DeviceCapacity room{std::int64_t{1} << 20, [](const Shape& shape) { return shape.row_bytes(); }};
  const ChainedPlan chained(plan, true, {}, ChainLength::longest_on_device);
  for (const Chain& chain : chained.chains) {
    if (chain.first == chain.end || chain.of_all_rows) continue;
    text += std::to_string(table_bytes(chained, chain)) + " ";
    try {
      const DeviceCut cut = cut_for_device(chained, chain, chain.last ? &writer : nullptr, room, 3);
      text += std::to_string(cut.slots) + "x" + std::to_string(cut.bands.bands().rows()) + "x" +
              std::to_string(cut.bands.bytes()) + offsets_text(cut.bands) + "; ";
    } catch (const Error& error) {
      text += std::string(error.what()) + "; ";
    }
  }
  return text;
}

std::vector<std::string> numbers_of(const Plan& plan) {
  const auto reference = make_reference_engine();
  const auto cpu = make_cpu_engine(3);
  const HeaderReader reader(plan.input);
  std::vector<std::string> numbers(kGroups.size());
  for (const std::int64_t rows : kStripRows) {
    const StripWriter writer(rows);
    const MemoryEstimateRequest streamed{plan, reader, &writer};
    MemoryEstimateRequest kept = streamed;
    kept.keep_source = kept.keep_outputs = kept.keep_pixels = true;
    MemoryEstimateRequest repeated = streamed;
    repeated.repeat = 2;
    for (const MemoryEstimateRequest& question : {streamed, kept, repeated})
      numbers[0] += text_of(reference->memory_need(question));
    numbers[1] += text_of(cpu->memory_need(streamed));
    numbers[2] += text_of(cpu->memory_need(kept));
    numbers[3] += text_of(cpu->memory_need(repeated));
    for (const MemoryEstimateRequest& question : {streamed, kept, repeated})
      numbers[4] += text_of(chains_need(question, true));
    numbers[5] += text_of(lane_need(streamed));
    numbers[7] += device_bands_text(plan, writer);
    for (const bool is_streamed : {true, false}) {
      for (const ChainLength length : {ChainLength::longest, ChainLength::longest_on_device,
                                       ChainLength::longest_on_device_after_decoding, ChainLength::step})
        numbers[6] += bands_text(plan, length, is_streamed, writer);
    }
  }
  return numbers;
}

TEST(PlanMemory, NeedsAreUnchanged) {
  expect_recorded("tests/pipeline/plan_memory.txt", kGroups, numbers_of);
}

}  // namespace
}  // namespace imgpipe::test::plan_memory_test
