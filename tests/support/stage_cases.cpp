#include "tests/support/stage_cases.h"

#include <algorithm>
#include <array>

#include "pipeline/stage_list.h"
#include "tests/support/golden.h"
#include "tests/support/second_images.h"

namespace imgpipe::test {
namespace {

// Golden values are integers; tests/golden/float_oracle.py covers floats.
constexpr const char* kDepthOfFloats = "depth:float";
// The second has fewer floats than bins, the third has all finite ones.
constexpr std::array kHistsOfFloats{"hist:-0.5:1.5", "hist:0.1:0.1000001", "hist:-3.4e38:3.4e38"};

// Returns both stages' parameters, one after another.
Parameters joined(const Stage& first, Parameters parameters, const Parameters& second) {
  std::size_t count = first.parameters.size();
  for (std::size_t i = 0; count < kMaxParameters; ++i) parameters.values[count++] = second[i];
  return parameters;
}
Parameters second_of(const Stage& first, const Parameters& both) {
  Parameters second;
  for (std::size_t i = first.parameters.size(); i < kMaxParameters; ++i)
    second.values[i - first.parameters.size()] = both[i];
  return second;
}

bool is_possible(const Stage& stage, const FrameType& type, Parameters parameters) {
  FrameType out = type;
  parameters = with_second_image(parameters, type);
  if (parameters.image != nullptr && parameters.image->name == "same" && type.color_channels == 1)
    return false;
  const bool fits = stage.infer == nullptr || stage.infer(type, parameters, out).empty();
  return fits && (stage.skip_reason == nullptr || stage.skip_reason(type, parameters).empty());
}

Made made_by_one(const Stage& stage, Parameters parameters, const Frame<const std::byte, Host>& in) {
  parameters = with_second_image(parameters, in.type);
  const FrameType out = output_type(stage, in.type, parameters);
  Made made{OwnFrame(makes_pixels(stage) ? out : FrameType{}), {}};
  if (reads_counts(stage, parameters)) made.counts = counts_of(in);
  if (makes_counts(stage)) made.counts.resize(counters(out));
  StageCall<Host> call{};
  call.in = in;
  if (makes_pixels(stage)) call.out = made.frame.view();
  if (!made.counts.empty())
    call.histogram = histogram_view<Host>(made.counts.data(), makes_counts(stage) ? out : in.type);
  call.parameters = parameters;
  std::vector<std::byte> table = table_for(stage, call);
  call.table = {table.data(), std::ssize(table)};
  run_reference(stage, call);
  if (!makes_counts(stage)) made.counts.clear();
  return made;
}

template <class T>
void count_samples(const Frame<const std::byte, Host>& frame, std::vector<std::uint64_t>& counts) {
  const bool interleaved = frame.type.layout == Layout::interleaved;
  for (int c = 0; c < frame.type.color_channels; ++c) {
    const Plane<const T, Host> plane = frame.plane<T>(interleaved ? 0 : static_cast<std::size_t>(c));
    std::uint64_t* const to = counts.data() + c * frame.type.bins();
    for (std::int64_t y = 0; y < plane.height; ++y) {
      const T* sample = plane.row(y) + (interleaved ? c : 0);
      for (std::int64_t x = 0; x < plane.width; ++x, sample += plane.channels) ++to[*sample];
    }
  }
}

// Returns the frame that a stage for colour only receives.
Frame<const std::byte, Host> color_of(Frame<const std::byte, Host> frame) {
  frame.type.alpha = false;
  frame.planes[kAlphaPlane] = {};
  return frame;
}

}  // namespace

std::vector<const Stage*> all_stages() {
  std::vector<const Stage*> all;
  for (const Stage& stage : stage_table()) all.push_back(&stage);
  for (const Fusion& row : fusion_table()) {
    if (row.as != nullptr) all.push_back(row.as);
  }
  return all;
}

std::vector<const Stage*> parts_of(const Stage& stage) {
  std::vector<const Stage*> parts;
  const auto row = std::ranges::find(fusion_table(), &stage, &Fusion::as);
  if (row == fusion_table().end()) return parts;
  for (const std::string_view name : row->stages) parts.push_back(find_stage(name));
  return parts;
}

std::vector<StageCase> cases_of(const Stage& stage) {
  if (const std::vector<const Stage*> parts = parts_of(stage); !parts.empty()) {
    const std::vector<StageCase> first = cases_of(*parts[0]);
    const std::vector<StageCase> second = cases_of(*parts[1]);
    std::vector<StageCase> cases;
    for (std::size_t i = 0; !first.empty() && !second.empty() && i < std::max(first.size(), second.size());
         ++i) {
      const StageCase& one = first[i % first.size()];
      const StageCase& two = second[i % second.size()];
      cases.push_back({one.text + "," + two.text, joined(*parts[0], one.parameters, two.parameters)});
    }
    return cases;
  }
  if (!stage.selectable) return {{"", presets(stage.parameters)}};
  std::vector<StageCase> cases;
  std::vector<std::string> steps = golden_cases(stage.name);
  if (stage.name == "depth") steps.insert(steps.begin(), kDepthOfFloats);
  if (stage.name == "hist") steps.insert(steps.end(), kHistsOfFloats.begin(), kHistsOfFloats.end());
  if (stage.name == "levels") steps.emplace_back("levels:-0.25:1e-3");
  for (const std::string& step : steps) {
    StageRequest request = parse_stages(step).front();
    if (!request.image) request.image = named_profile_table(stage, request.parameters);
    request.parameters.image = request.image.get();
    cases.push_back({step, request.parameters, request.image});
  }
  return cases;
}

std::vector<FrameType> inputs_of(const Stage& stage, const StageCase& test, Size size, Sample sample) {
  std::vector<FrameType> types;
  const std::vector<const Stage*> parts = parts_of(stage);
  const Stage& first = parts.empty() ? stage : *parts[0];
  if (std::ranges::find(first.kernels, sample, &Kernel::in) == first.kernels.end()) return types;
  const std::optional<Layout> in = stage.ports.in.front().layout, out = stage.ports.out.front().layout;
  for (const int color : {1, 3}) {
    for (const bool alpha : {false, true}) {
      const FrameType type{size.width, size.height, color, alpha, in.value_or(Layout::planar), sample};
      const bool grey_plane = color == 1 && !alpha;  // the same in both layouts: nothing to split or merge
      if (alpha && passes_alpha(stage, type, output_type(stage, type, test.parameters))) continue;
      if (grey_plane && (in == Layout::interleaved || out == Layout::interleaved)) continue;
      if (!is_possible(first, type, test.parameters)) continue;
      const Sample made = output_type(first, type, test.parameters).sample;
      if (find_kernel(first, Backend::reference, sample, made) == nullptr) continue;
      // The planner fuses no steps if the samples' type changes between them.
      if (!parts.empty() && made != sample) continue;
      types.push_back(type);
      if (in || grey_plane) continue;
      types.push_back(type);
      types.back().layout = Layout::interleaved;
    }
  }
  return types;
}

OwnFrame::OwnFrame(const FrameType& frame_type) : type(frame_type) {
  if (type.pixels() == 0) return;
  const int channels = type.layout == Layout::interleaved ? type.channels() : 1;
  for (const std::size_t i : plane_indices(type))
    planes[i] = Image({type.width, type.height, channels, type.sample});
}

Frame<std::byte, Host> OwnFrame::view() {
  Frame<std::byte, Host> frame{type, {}};
  for (std::size_t i = 0; i < planes.size(); ++i) {
    if (!planes[i].empty()) frame.planes[i] = planes[i].untyped_view();
  }
  return frame;
}

std::vector<std::uint64_t> counts_of(const Frame<const std::byte, Host>& frame) {
  std::vector<std::uint64_t> counts(counters(frame.type));
  frame.type.sample == Sample::u16 ? count_samples<Sample16>(frame, counts)
                                   : count_samples<Sample8>(frame, counts);
  return counts;
}

std::vector<std::byte> table_for(const Stage& stage, const StageCall<Host>& call) {
  const Sample in = call.in.type.sample;
  const Sample out = call.out.type.pixels() > 0 ? call.out.type.sample : in;
  const Stage* const maker = table_maker(stage, call.parameters, Backend::cpu, in, out);
  return maker == nullptr ? std::vector<std::byte>() : make_table(*maker, call);
}

Made made_by_reference(const Stage& stage, const StageCase& test, const Frame<const std::byte, Host>& in) {
  const std::vector<const Stage*> parts = parts_of(stage);
  if (parts.empty()) return made_by_one(stage, test.parameters, in);
  Made first = made_by_one(*parts[0], test.parameters, in);
  const Stage& next = *parts[1];
  const Frame<const std::byte, Host> between = first.frame.view();
  Made second = made_by_one(next, second_of(*parts[0], test.parameters),
                            next.ports.in.front().alpha ? between : color_of(between));
  if (makes_pixels(next)) return second;
  first.counts = std::move(second.counts);
  return first;
}

}  // namespace imgpipe::test
