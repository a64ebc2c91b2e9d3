// Checks properties of random chains' plans and of the values that their nodes make and read. A failure
// prints the shortest list that still fails, the image's shape and the seed.
#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/graph.h"
#include "pipeline/plan.h"
#include "pipeline/stage_list.h"
#include "tests/support/images.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::plan_properties_test {
namespace {

constexpr int kChains = 2000;
constexpr std::int64_t kMaxSteps = 6;
constexpr std::uint64_t kSeed = 20261125;

struct Request {
  std::vector<std::string> steps;
  Shape input;
  bool fuse = false;
  int max_bits = 16;
  Keep keep{};

  [[nodiscard]] std::string list() const {
    std::string list;
    for (const std::string& step : steps) list += (list.empty() ? "" : ",") + step;
    return steps.empty() ? "none" : list;
  }
};

Request random_request(Random& random) {
  Request request;
  for (std::int64_t left = below(random, kMaxSteps + 1); left > 0; --left)
    request.steps.push_back(random_step(random, *any_stage(random)));
  const Sample sample = below(random, 2) == 0 ? Sample::u8 : Sample::u16;
  request.input = random_shape(random, sample, static_cast<int>(1 + below(random, 4)));
  request.fuse = below(random, 2) == 0;
  request.max_bits = below(random, 2) == 0 ? 8 : 16;
  request.keep = {.source = below(random, 2) == 0, .outputs = below(random, 2) == 0};
  return request;
}

std::optional<Plan> plan_of(const Request& request) {
  try {
    return make_plan(parse_stages(request.list()), request.input, request.fuse, 1 << 22, request.max_bits);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Checks a plan of one list: each step reads the previous step's frame, and the last frame is the image's.
std::string wrong_step(const Plan& plan) {
  FrameType frame = frame_type_of(plan.input);
  std::vector<std::string> labels;
  for (const Operation& step : plan.operations) {
    if (step.reads && *step.reads >= labels.size()) return step.label + " reads a later operation";
    if (step.in != (step.reads ? plan.operations[*step.reads].out : frame_type_of(plan.input)))
      return step.label + " reads another operation";
    if (step.in != frame) return step.label + " gets another frame";
    if (std::ranges::find(labels, step.label) != labels.end()) return step.label + " is there twice";
    if (step.out != output_type(*step.stage, step.in, step.parameters))
      return step.label + " makes another frame";
    labels.push_back(step.label);
    frame = step.out;
  }
  const bool merged = frame.layout == Layout::interleaved || frame.channels() == 1;
  return merged && shape_of(frame) == plan.output ? "" : "the image is another";
}

// Every value that a node reads is constant or was made by an earlier node, and has not been freed.
std::string wrong_life(const Program& program) {
  std::vector<std::size_t> made(program.values.size(), program.nodes.size() + 2);
  made[0] = 0;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    const auto is_there = [&](ValueId value) {
      const bool constant = program.values[value].constant != nullptr;
      return (constant || made[value] <= i) && program.lives[value].last_read_at >= i + 1;
    };
    for (const Connection& read : node.inputs) {
      if (node.by_decoder) break;
      if (!is_there(read.value) || (read.alpha && !is_there(*read.alpha)))
        return "node " + std::to_string(i) + " reads what is not there";
    }
    for (const Connection& output : node.outputs) {
      for (const auto& value : {std::optional(output.value), output.alpha}) {
        if (!value) continue;
        if (made[*value] <= program.nodes.size()) return "a value is made twice";
        made[*value] = i + 1;
        if (program.lives[*value].made_at != i + 1) return "a value is made at another time";
      }
    }
  }
  for (const auto& results : {program.results, program.counts}) {
    for (const ValueId result : results) {
      if (made[result] > program.nodes.size()) return "a result is never made";
      if (program.lives[result].last_read_at <= program.nodes.size()) return "a result is freed";
    }
  }
  return "";
}

// Values with overlapping lives never share memory.
std::string wrong_place(const Program& program, PlaceRule rule) {
  std::vector<Tenant> tenants;
  for (ValueId i = 1; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    if (value.is_image()) tenants.push_back({i, program.lives[i], value.bytes()});
  }
  std::size_t placed = 0;
  for (const Place& place : place(tenants, rule)) {
    placed += place.values.size();
    for (std::size_t i = 0; i < place.values.size(); ++i) {
      if (program.values[place.values[i]].bytes() > place.bytes) return "a place is too small";
      if (i == 0) continue;
      if (program.lives[place.values[i]].made_at <= program.lives[place.values[i - 1]].last_read_at)
        return "two values lie in one place";
    }
  }
  return placed == tenants.size() ? "" : "a value has no place";
}

// Every input has a port, no node reads both counts and a table of them, and every output is connected.
std::string wrong_ports(const Program& program) {
  for (const Node& node : program.nodes) {
    for (const Connection& read : node.inputs) {
      if (find_port(node.stage->ports.in, read.kind) == nullptr) return "an input has no port";
    }
    if (node.table_in() && node.counts_in()) return "counts are read, and a table of them";
    if (node.outputs.size() != node.stage->ports.out.size()) return "an output is missing";
  }
  return "";
}

// Checks the programs of all targets.
std::string wrong_program(const Plan& plan, const Keep& keep) {
  constexpr std::array kTargets{std::pair{"reference", kReferenceTarget},
                                std::pair{"cpu", kCpuTarget},
                                std::pair{"cpu interleaved", kCpuInterleavedTarget},
                                std::pair{"cuda", kCudaTarget},
                                std::pair{"cuda bands", kCudaBandsTarget},
                                std::pair{"cuda decoding", kCudaDecodingTarget}};
  for (const auto& [name, target] : kTargets) {
    const Program program = lower(plan, target, keep);
    for (const std::string& wrong :
         {wrong_life(program), wrong_ports(program), wrong_place(program, PlaceRule::first),
          wrong_place(program, PlaceRule::largest)}) {
      if (!wrong.empty()) return std::string(name) + ": " + wrong;
    }
  }
  return "";
}

// Returns "" if all properties hold or the planner rejects the chain.
std::string fault_of(const Request& request) {
  const std::optional<Plan> plan = plan_of(request);
  if (!plan) return "";
  const std::string wrong = wrong_step(*plan);
  return wrong.empty() ? wrong_program(*plan, request.keep) : wrong;
}

// Removes every step that the fault does not need.
Request shortest(Request request) {
  for (std::size_t i = 0; i < request.steps.size();) {
    Request fewer = request;
    fewer.steps.erase(fewer.steps.begin() + static_cast<std::ptrdiff_t>(i));
    if (fault_of(fewer).empty()) {
      ++i;
    } else {
      request = fewer;
      i = 0;
    }
  }
  return request;
}

TEST(PlanProperties, HoldForRandomChains) {
  Random random(kSeed);
  int accepted = 0;
  int with_tables = 0;
  for (int i = 0; i < kChains; ++i) {
    const Request request = random_request(random);
    if (!fault_of(request).empty()) {
      const Request least = shortest(request);
      FAIL() << "chain " << i << " of seed " << kSeed << ": " << least.list() << " of " << least.input.width
             << "x" << least.input.height << "x" << least.input.channels << " u"
             << 8 * bytes_per_sample(least.input.sample) << (least.fuse ? ", fused: " : ": ")
             << fault_of(least);
    }
    const std::optional<Plan> plan = plan_of(request);
    if (!plan) continue;
    ++accepted;
    const Program program = lower(*plan, kCpuTarget);
    with_tables +=
        std::ranges::any_of(program.nodes, [](const Node& node) { return node.table_out().has_value(); });
  }
  std::cout << accepted << " plans, " << with_tables << " of them with tables that are made on the way\n";
  EXPECT_GT(accepted, kChains / 4);
  EXPECT_GT(with_tables, kChains / 50);
}

// The same properties for plans with several results.
TEST(PlanProperties, HoldForRandomBranches) {
  Random random(kSeed + 1);
  int accepted = 0;
  for (int i = 0; i < kChains; ++i) {
    const Request request = random_request(random);
    const std::array lists{request.list(), random_request(random).list(), request.list() + ",smooth"};
    const std::vector<std::string_view> views(lists.begin(), lists.end());
    try {
      const Plan plan = make_branched_plan(views, request.input, 1 << 22);
      ASSERT_EQ(wrong_program(plan, request.keep), "")
          << lists[0] << "; " << lists[1] << "; " << lists[2] << ", chain " << i << " of seed " << kSeed + 1;
      ++accepted;
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_GT(accepted, kChains / 8);
}

// The checks can fail: they detect a life that ends early, a missing table, and a missing step.
TEST(PlanProperties, ChecksDetectFaults) {
  const Plan plan = make_plan(parse_stages("gray,hist,contrast,smooth"), {8, 4, 3});
  const Program right = lower(plan, kCpuTarget);
  EXPECT_EQ(wrong_life(right) + wrong_ports(right) + wrong_place(right, PlaceRule::first), "");
  for (ValueId value = 0; value < right.values.size(); ++value) {
    if (right.lives[value].last_read_at == right.lives[value].made_at) continue;
    Program wrong = right;
    --wrong.lives[value].last_read_at;
    EXPECT_NE(wrong_life(wrong), "") << "value " << value;
  }
  Program wrong = right;
  const auto maker =
      std::ranges::find_if(wrong.nodes, [](const Node& node) { return node.table_out().has_value(); });
  ASSERT_NE(maker, wrong.nodes.end());
  wrong.nodes.erase(maker);
  EXPECT_NE(wrong_life(wrong), "");
  Plan other = plan;
  other.operations.erase(other.operations.begin());
  EXPECT_NE(wrong_step(other), "");
}

}  // namespace
}  // namespace imgpipe::test::plan_properties_test
