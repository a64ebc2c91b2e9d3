#include "pipeline/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "images/codec.h"
#include "images/synth.h"
#include "pipeline/bands.h"
#include "pipeline/engine.h"

namespace imgpipe {
namespace {

using Clock = Timeline::Clock;

constexpr int kRounds = 5;
constexpr std::array<Shape, 2> kShapes{Shape{512, 384, 3}, Shape{2560, 1600, 3}};

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
  const std::vector<const Stage*> stages = parse_stages(default_stages());
  return make_plan(stages, shape, {});
}

double host_ns(const std::vector<std::byte>& jpeg, Engine& engine) {
  const Clock::time_point start = Clock::now();
  Job job;
  job.reader = open_reader(jpeg);
  job.plan = usual_plan(job.reader->header().shape);
  job.writer = make_writer(Format::png, job.plan.output);
  job.keep_pixels = false;
  engine.submit(std::move(job));
  const Outcome outcome = engine.next();
  if (outcome.error) std::rethrow_exception(outcome.error);
  return ns_since(start);
}

// What the worker and the lane took.
std::pair<double, double> lane_ns(const std::vector<std::byte>& jpeg, Lane& lane, HostThreads& thread) {
  const Clock::time_point start = Clock::now();
  LaneImage image;
  const auto reader = open_reader(jpeg);
  image.plan = usual_plan(reader->header().shape);
  image.source = Image(image.plan.input, &lane.memory());
  reader->read_rows(image.source.view());
  const double decoding = ns_since(start);
  const Clock::time_point launched = Clock::now();
  lane.launch(0, image);
  lane.finish(0, image);
  const double device = ns_since(launched);
  const Clock::time_point finished = Clock::now();
  const auto writer = make_writer(Format::png, image.plan.output);
  (void)encode_image(std::as_const(image.pixels).view(), *writer, thread, image.timeline);
  return {decoding + ns_since(finished), device};
}

}  // namespace

LinearCost line_through(std::int64_t pixels_a, double ns_a, std::int64_t pixels_b, double ns_b) {
  LinearCost line;
  line.ns_per_pixel = std::max(0.0, (ns_b - ns_a) / static_cast<double>(pixels_b - pixels_a));
  line.ns_per_image = std::max(0.0, ns_a - line.ns_per_pixel * static_cast<double>(pixels_a));
  return line;
}

std::optional<std::int64_t> CostModel::lane_pixels() const {
  const double saved = host.ns_per_pixel - with_lane.ns_per_pixel;
  if (saved <= 0) return std::nullopt;
  // What the lane itself costs an image, its worker waits for once at most; its pixels are others' time.
  const double more = with_lane.ns_per_image + lane.ns_per_image - host.ns_per_image;
  return static_cast<std::int64_t>(std::ceil(std::max(0.0, more / saved)));
}

std::int64_t CostModel::lane_start_pixels(int jobs) const {
  const double saved = host.ns_per_pixel - with_lane.ns_per_pixel;
  if (saved <= 0) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(lane_start_ns / saved * std::max(1, jobs));
}

bool CostModel::lane_pays_alone(std::int64_t pixels, int threads, int passes) const {
  const double saved =
      std::max(0.0, host.ns_per_pixel - with_lane.ns_per_pixel) * static_cast<double>(pixels) * passes;
  return saved / std::max(1, threads) > lane_start_ns + lane.ns(pixels) * passes;
}

CostModel usual_cost_model() {
  return {{250'000, 4.4}, {250'000, 3.9}, {100'000, 0.09}, 230e6};
}

CostModel measure_cost_model(Lane& lane) {
  CostModel model;
  const Clock::time_point start = Clock::now();
  lane.start();
  model.lane_start_ns = ns_since(start);
  const std::unique_ptr<Engine> engine = make_cpu_engine(1);
  HostThreads thread(1);
  std::array<double, 2> host{};
  std::array<double, 2> worker{};
  std::array<double, 2> device{};
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    const std::vector<std::byte> jpeg = make_jpeg(kShapes[i]);
    std::vector<double> host_times;
    std::vector<double> worker_times;
    std::vector<double> device_times;
    for (int round = 0; round <= kRounds; ++round) {
      const double host_time = host_ns(jpeg, *engine);
      const auto [worker_time, device_time] = lane_ns(jpeg, lane, thread);
      if (round == 0) continue;  // memory, tables, code: made once
      host_times.push_back(host_time);
      worker_times.push_back(worker_time);
      device_times.push_back(device_time);
    }
    host[i] = median(std::move(host_times));
    worker[i] = median(std::move(worker_times));
    device[i] = median(std::move(device_times));
  }
  const std::int64_t small = kShapes[0].pixels();
  const std::int64_t large = kShapes[1].pixels();
  model.host = line_through(small, host[0], large, host[1]);
  model.with_lane = line_through(small, worker[0], large, worker[1]);
  model.lane = line_through(small, device[0], large, device[1]);
  return model;
}

}  // namespace imgpipe
