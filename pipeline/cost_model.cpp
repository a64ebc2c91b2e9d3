#include "pipeline/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/synth.h"
#include "pipeline/engine.h"
#include "pipeline/file_encoding.h"

namespace imgpipe {
namespace {

using Clock = Timeline::Clock;

constexpr int kRounds = 5;
constexpr std::array<Shape, 6> kShapes{Shape{64, 48, 3},   Shape{160, 120, 3},  Shape{320, 240, 3},
                                       Shape{640, 480, 3}, Shape{1280, 960, 3}, Shape{2560, 1920, 3}};

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

std::vector<std::byte> make_jpeg(const Shape& shape) {
  const Image image = synthesize(parse_pattern("photo"), shape, 1);
  const auto writer = make_writer(Format::jpeg, shape);
  writer->write_rows(image.view());
  return writer->finish().joined();
}

Plan usual_plan(const Shape& shape) {
  const std::vector<StageRequest> stages = parse_stages(kDefaultStages);
  return make_plan(stages, shape);
}

double host_ns(const std::vector<std::byte>& jpeg, Engine& engine) {
  const Clock::time_point start = Clock::now();
  Job job;
  job.reader = open_reader(jpeg);
  job.plan = usual_plan(job.reader->header().shape);
  job.writer = make_writer(Format::png, job.plan.output);
  job.keep_pixels = false;
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return ns_since(start);
}

std::pair<double, double> lane_ns(const std::vector<std::byte>& jpeg, Lane& lane,
                                  std::pmr::memory_resource& memory, HostThreads& thread) {
  const Clock::time_point start = Clock::now();
  LaneImage image;
  const auto reader = open_reader(jpeg);
  image.plan = std::make_shared<const Plan>(usual_plan(reader->header().shape));
  const auto writer = make_writer(Format::png, image.plan->output);
  image.coded = coded_image_for(writer.get());
  if (lane.has_codecs()) image.coded.jpeg = stage_jpeg(*reader, memory);
  if (!image.coded.jpeg) {
    image.source = Image(image.plan->input, &memory);
    reader->read_rows(image.source.view());
  }
  const double decoding = ns_since(start);
  const Clock::time_point launched = Clock::now();
  LaneImage* const group[] = {&image};
  lane.launch(0, group);
  lane.finish(0, group);
  const double device = ns_since(launched);
  if (image.error) throw Error(*image.error);
  if (!image.coded.is_intact) throw Error(ErrorKind::device, "the device rejected a valid JPEG");
  const Clock::time_point finished = Clock::now();
  if (image.coded.made.parts.empty()) {
    (void)encode_image(std::as_const(image.pixels).view(), *writer, thread, image.timeline);
  } else {
    (void)file_of(image.coded.made, *writer, image.timeline);
  }
  return {decoding + ns_since(finished), device};
}

}  // namespace

LinearCost line_through(std::int64_t pixels_a, double ns_a, std::int64_t pixels_b, double ns_b) {
  LinearCost line;
  line.ns_per_pixel = std::max(0.0, (ns_b - ns_a) / static_cast<double>(pixels_b - pixels_a));
  line.ns_per_image = std::max(0.0, ns_a - line.ns_per_pixel * static_cast<double>(pixels_a));
  return line;
}

namespace {

// Rounds towards zero, clamped to the range from 0 to kMost.
std::int64_t whole_pixels(double value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return value < static_cast<double>(kMost) ? static_cast<std::int64_t>(std::max(0.0, value)) : kMost;
}

}  // namespace

std::optional<std::int64_t> crossing(std::span<const CostPoint> points) {
  std::size_t first = points.size();
  while (first > 0 && points[first - 1].with_lane_ns < points[first - 1].host_ns) --first;
  if (first == points.size()) return std::nullopt;
  if (first == 0) return points.empty() ? 0 : points[0].pixels;
  const auto advantage = [&](std::size_t i) { return std::log(points[i].host_ns / points[i].with_lane_ns); };
  const double share = -advantage(first - 1) / (advantage(first) - advantage(first - 1));
  const double from = std::log(static_cast<double>(points[first - 1].pixels));
  const double to = std::log(static_cast<double>(points[first].pixels));
  return whole_pixels(std::ceil(std::exp(from + share * (to - from))));
}

std::int64_t CostModel::lane_start_pixels(int jobs) const {
  const double saved = host.ns_per_pixel - with_lane.ns_per_pixel;
  if (!(saved > 0)) return std::numeric_limits<std::int64_t>::max();
  return whole_pixels(lane_start_ns / saved * std::max(1, jobs));
}

bool CostModel::single_image_pays(std::int64_t pixels, int threads, int passes) const {
  const double saved =
      std::max(0.0, host.ns_per_pixel - with_lane.ns_per_pixel) * static_cast<double>(pixels) * passes;
  return saved / std::max(1, threads) > lane_start_ns + lane.ns(pixels) * passes;
}

bool bands_pay(const LinearCost& lane, std::int64_t pixels, double stages_ns, int threads) {
  return stages_ns / std::max(1, threads) > lane.ns(pixels);
}

std::string megapixels(std::int64_t pixels) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f MP", static_cast<double>(pixels) / 1e6);
  return text.data();
}

CostModel default_cost_model() {
  return {{145'000, 5.68}, {76'000, 0.048}, {421'000, 0.171}, 100e6, 87'000};
}

CostModel measure_cost_model(Lane& lane, std::pmr::memory_resource& memory) {
  CostModel model;
  const Clock::time_point start = Clock::now();
  lane.start();
  model.lane_start_ns = ns_since(start);
  const std::unique_ptr<Engine> engine = make_cpu_engine(1);
  HostThreads thread(1);
  std::vector<CostPoint> points;
  std::vector<double> workers;
  std::vector<double> lanes;
  for (const Shape& shape : kShapes) {
    const std::vector<std::byte> jpeg = make_jpeg(shape);
    std::vector<double> host_times;
    std::vector<double> worker_times;
    std::vector<double> lane_times;
    for (int round = 0; round <= kRounds; ++round) {
      const double host_time = host_ns(jpeg, *engine);
      const auto [worker_time, lane_time] = lane_ns(jpeg, lane, memory, thread);
      if (round == 0) continue;  // the first round also allocates memory, makes tables and loads code
      host_times.push_back(host_time);
      worker_times.push_back(worker_time);
      lane_times.push_back(lane_time);
    }
    workers.push_back(median(std::move(worker_times)));
    lanes.push_back(median(std::move(lane_times)));
    points.push_back({shape.pixels(), median(std::move(host_times)), workers.back() + lanes.back()});
  }
  // Lines through the smallest and the largest point separate the costs per image and per pixel.
  const std::size_t last = points.size() - 1;
  const auto line = [&](double first_ns, double last_ns) {
    return line_through(points[0].pixels, first_ns, points[last].pixels, last_ns);
  };
  model.host = line(points[0].host_ns, points[last].host_ns);
  model.with_lane = line(workers[0], workers[last]);
  model.lane = line(lanes[0], lanes[last]);
  model.lane_pixels = crossing(points);
  return model;
}

}  // namespace imgpipe
