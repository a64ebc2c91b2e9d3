// Compares every route of an image through the CUDA engine, and of groups through a lane, with a record: CUDA
// calls, spans and results, on a stand-in for the runtime. Kernels do nothing, so pixels are zeros.
#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/error_of.h"
#include "pipeline/lane.h"
#include "tests/cuda_stand_in/stand_in_runtime.h"
#include "tests/support/banded_reader.h"
#include "tests/support/plan_record.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::device_routes_test {
namespace {

constexpr std::size_t kMuch = std::size_t{1} << 40;
constexpr std::size_t kLeftFree = std::size_t{64} << 20;  // device memory that bands leave free

struct Case {
  bool coded = false, banded = false, fuse = false;
  Sample sample = Sample::u8;
  Shape shape;
  std::string stages;
  std::optional<Format> format;
  bool keep_pixels = false, keep_source = false, keep_outputs = false;
  int repeat = 0;
  bool is_intact = true;
  std::uint64_t scan_bytes = 0;

  [[nodiscard]] std::string text() const {
    return (coded    ? "a JPEG"
            : banded ? "bands"
                     : "rows") +
           std::string(" of ") + std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
           std::to_string(shape.channels) + " u" + std::to_string(8 * bytes_per_sample(shape.sample)) +
           " \"" + stages + "\"" + (fuse ? " fused" : "") +
           (!format                   ? ""
            : *format == Format::jpeg ? " to jpeg"
            : *format == Format::png  ? " to png"
                                      : " to ppm") +
           (keep_pixels ? " pixels" : "") + (keep_source ? " source" : "") +
           (keep_outputs ? " outputs" : "") + " repeat " + std::to_string(repeat) +
           (is_intact ? "" : " damaged") + " scan " + std::to_string(scan_bytes);
  }
};

// A device's memory, and which of its allocations fail.
struct Scenario {
  std::int64_t limit = 0;
  std::size_t free_bytes = kMuch;
  std::int64_t first_failing = 0, last_failing = 0;
  bool warm = false;  // another image was processed before
  std::size_t max_pinned = kMuch;
};

std::vector<Scenario> scenarios() {
  std::vector<Scenario> all;
  for (const bool warm : {false, true}) {
    for (const std::int64_t limit : {0, 100'000, 400'000, 1'000'000, 2'500'000, 64'000'000})
      all.push_back({.limit = limit, .warm = warm});
  }
  for (const std::size_t bytes : {std::size_t{100'000}, kLeftFree + 100'000, kLeftFree + 1'000'000})
    all.push_back({.free_bytes = bytes});
  for (std::int64_t i = 1; i <= 6; ++i) {
    all.push_back({.first_failing = i, .last_failing = i});
    all.push_back({.first_failing = i, .last_failing = 1 << 30});
  }
  all.push_back({.max_pinned = 0});
  all.push_back({.limit = 2'000'000, .first_failing = 2, .last_failing = 2});
  return all;
}

std::vector<std::byte> coded_jpeg(const Image& image) {
  const auto writer = make_writer(Format::jpeg, image.shape());
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

Case random_case(Random& random) {
  static const std::vector<std::string> kStages{
      "none", "gray,hist,contrast,smooth", "contrast,smooth",     "hist",
      "gray", "smooth,gray,hist",          "resize:90:70,invert", "flip:vertical,smooth"};
  const auto yes = [&](int of) { return below(random, of) == 0; };
  Case one;
  one.coded = yes(2);
  one.banded = !one.coded && yes(3);
  one.sample = !one.coded && yes(4) ? Sample::u16 : Sample::u8;
  one.shape = {200 + below(random, 300), 150 + below(random, 300), yes(3) ? 1 : 3, one.sample};
  one.stages = kStages[static_cast<std::size_t>(below(random, std::ssize(kStages)))];
  one.fuse = yes(3);
  switch (below(random, 4)) {
    case 0:
      break;
    case 1:
      one.format = Format::jpeg;
      if (one.sample == Sample::u16) one.format = Format::png;
      break;
    default:
      one.format = Format::png;
  }
  one.keep_pixels = !one.format || yes(2);
  one.keep_source = yes(4);
  one.keep_outputs = yes(4);
  one.repeat = yes(4) ? 2 : 0;
  one.is_intact = !yes(4);
  one.scan_bytes = yes(2) ? 300 : 0;
  return one;
}

// Omits the source location.
std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& caught) {
    const std::string what = caught.what();
    const std::string kind = caught.kind() == ErrorKind::memory   ? "memory: "
                             : caught.kind() == ErrorKind::device ? "device: "
                                                                  : "other: ";
    return kind + what.substr(0, what.starts_with("CUDA: ") ? what.rfind(" (") : std::string::npos);
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

std::string text_of(const Timeline& timeline) {
  std::string text;
  for (const Span& span : timeline.spans())
    text += "  " + span.track + ": " + span.name + " kind " + std::to_string(static_cast<int>(span.kind)) +
            " bytes " + std::to_string(span.bytes) + " pass " + std::to_string(span.pass) + "\n";
  return text;
}

std::string text_of(const Outcome& outcome) {
  std::string text = text_of(outcome.timeline);
  if (outcome.error) return text + "  " + text_of(outcome.error) + "\n";
  text += "  pixels " + std::to_string(outcome.pixels.empty() ? 0 : outcome.pixels.bytes()) + " source " +
          std::to_string(outcome.source.empty() ? 0 : outcome.source.shape().bytes()) + " memory " +
          std::to_string(outcome.memory.size()) + (outcome.in_bands ? " in bands" : "") +
          (outcome.file.joined().empty() ? "" : " file") + "\n  outputs";
  for (const auto& frame : outcome.outputs) text += " " + std::to_string(frame.planes[0].width);
  text += "\n  counts";
  for (const auto& counts : outcome.histograms) text += " " + std::to_string(counts.size());
  for (const std::string& warning : outcome.warnings) text += "\n  " + warning;
  return text + "\n";
}

// A case's image, and its file if the case is coded.
struct Input {
  Image image;
  std::vector<std::byte> file;
};

Job job_of(const Case& one, const Input& input, BandedLog& log) {
  Job job;
  job.reader = one.coded ? open_reader(input.file) : make_memory_reader(input.image.untyped_view());
  if (one.banded)
    job.reader = std::make_unique<BandedReader>(input.image.untyped_view(), BandedBehaviour{}, log);
  job.plan = make_plan(parse_stages(one.stages), input.image.shape(), one.fuse);
  if (one.format) job.writer = make_writer(*one.format, job.plan.output);
  job.keep_pixels = one.keep_pixels;
  job.keep_source = one.keep_source;
  job.keep_outputs = one.keep_outputs;
  job.repeat = one.repeat;
  return job;
}

void run_small_image(Engine& engine) {
  Image image(Shape{1, 1, 1});
  image.untyped_view().data[0] = {};
  Job job;
  job.reader = make_memory_reader(image.untyped_view());
  job.plan = make_plan({}, image.shape());
  EXPECT_FALSE(engine.run(std::move(job)).error);
}

// Starts a device with enough memory, and records this thread's calls.
void start_device(const Case& one) {
  runtime.reset();
  runtime.mode = StandInMode::runs;
  runtime.logging_thread = std::this_thread::get_id();
  runtime.is_intact = one.is_intact;
  runtime.scan_bytes = one.scan_bytes;
}

void begin(const Scenario& scenario) {
  runtime.calls.clear();
  runtime.mallocs = 0;
  runtime.free_bytes = scenario.free_bytes;
  runtime.max_pinned = scenario.max_pinned;
  runtime.first_failing_malloc = scenario.first_failing;
  runtime.last_failing_malloc = scenario.last_failing;
}

std::string take_calls() {
  std::string text;
  for (const std::string& call : std::exchange(runtime.calls, {})) text += "  " + call + "\n";
  return text;
}

// Returns the route of two images through one engine; the scenario applies to the first.
std::string route_text(const Case& one, const Input& input, const Scenario& scenario) {
  BandedLog log;
  std::array<Job, 2> jobs{job_of(one, input, log), job_of(one, input, log)};
  start_device(one);
  runtime.is_starting = true;
  std::string text;
  {
    const std::unique_ptr<Engine> engine = make_cuda_engine(0, 1, scenario.limit);
    if (scenario.warm) run_small_image(*engine);
    begin(scenario);
    for (Job& job : jobs) {
      const Outcome outcome = engine->run(std::move(job));
      text += take_calls() + text_of(outcome) + "  end of an image\n";
    }
    runtime.start();
  }
  return text + "  end\n" + take_calls();
}

// Like route_text(), but one call fails: each of the first 16 in turn, then calls at growing intervals.
std::string faults_text(const Case& one, const Input& input, cudaError_t status) {
  std::string text;
  for (std::int64_t call = 0;; call += 1 + call / 16) {
    BandedLog log;
    std::array<Job, 2> jobs{job_of(one, input, log), job_of(one, input, log)};
    start_device(one);
    text += " call " + std::to_string(call) + "\n";
    const std::unique_ptr<Engine> engine = make_cuda_engine(0, 1, 1'000'000);
    run_small_image(*engine);
    begin({});
    const std::int64_t before = cuda_calls();
    fail_cuda_call(call, status);
    for (Job& job : jobs) {
      const Outcome outcome = engine->run(std::move(job));
      text += take_calls() + text_of(outcome) + "  end of an image\n";
      const bool failed = cuda_calls() - before > call;
      fail_cuda_call(-1, cudaSuccess);
      if (&job == &jobs[0] && !failed) return text;
      EXPECT_TRUE(!outcome.error || outcome.pixels.empty());
    }
  }
}

// Returns the route of a group that runs twice through a lane.
std::string lane_text(std::span<const Case> cases, std::span<const Input> inputs, const Scenario& scenario) {
  start_device(cases.front());
  std::string text;
  const auto memory = make_lane_memory(1 << 20);
  const std::vector<int> devices{0};
  {
    const auto lanes = make_cuda_lanes(devices, 1, memory);
    lanes.front()->start();
    begin(scenario);
    for (int i = 0; i < 2; ++i) {
      std::deque<LaneImage> images(cases.size());
      std::vector<LaneImage*> group;
      std::vector<std::unique_ptr<Reader>> readers;
      for (std::size_t k = 0; k < cases.size(); ++k) {
        LaneImage& image = images[k];
        BandedLog log;
        Job job = job_of(cases[k], inputs[k], log);
        image.plan = std::make_shared<const Plan>(std::move(job.plan));
        image.coded = coded_image_for(job.writer.get());
        if (cases[k].coded) image.coded.jpeg = stage_jpeg(*job.reader, *memory);
        if (!cases[k].coded) {
          image.source = Image(inputs[k].image.shape(), memory.get());
          copy_pixels(inputs[k].image.untyped_view(), image.source.untyped_view());
        }
        readers.push_back(std::move(job.reader));
        group.push_back(&image);
      }
      const auto step = [&](const auto& action) {
        try {
          action();
        } catch (...) {
          text += "  " + text_of(std::current_exception()) + "\n";
          return false;
        }
        return true;
      };
      const bool launched = step([&] { lanes.front()->launch(0, group); });
      text += take_calls() + "  launched\n";
      if (launched) (void)step([&] { lanes.front()->finish(0, group); });
      text += take_calls();
      for (const LaneImage& image : images) {
        text += text_of(image.timeline) + "  pixels " +
                std::to_string(image.pixels.empty() ? 0 : image.pixels.shape().bytes()) + " parts " +
                std::to_string(image.coded.made.parts.size()) + (image.coded.is_intact ? "" : " damaged") +
                (image.error ? std::string(" ") + image.error->what() : "") + "\n";
      }
      if (!launched) (void)step([&] { lanes.front()->release_memory(); });
    }
  }
  return text + "  end\n" + take_calls();
}

std::string text_of(const Scenario& scenario) {
  return ", limit " + std::to_string(scenario.limit) + ", free " + std::to_string(scenario.free_bytes) +
         ", failing " + std::to_string(scenario.first_failing) + " to " +
         std::to_string(scenario.last_failing) + (scenario.max_pinned == 0 ? ", nothing is pinned" : "") +
         (scenario.warm ? ", warm\n" : "\n");
}

Input input_of(const Case& one) {
  Input input{synthesize(parse_pattern("photo", one.sample), one.shape, 7), {}};
  if (one.coded) input.file = coded_jpeg(input.image);
  return input;
}

bool same_pixels(const ConstHostView& view, const Image& image) {
  return view.shape() == image.shape() &&
         std::memcmp(view.data, image.untyped_view().data, image.size_bytes()) == 0;
}

class DeviceRoutes : public testing::Test {
 protected:
  ~DeviceRoutes() override { runtime.reset(); }
};

TEST_F(DeviceRoutes, CallsForImagesAreUnchanged) {
  DigestRecord record("tests/cuda_stand_in/device_routes.txt");
  Random random(20261125);
  constexpr int kCases = 60;
  for (int i = 0; i < kCases; ++i) {
    const Case one = random_case(random);
    const Input input = input_of(one);
    for (const Scenario& scenario : scenarios()) {
      const std::string text = one.text() + text_of(scenario) + route_text(one, input, scenario);
      ASSERT_TRUE(record.has(text)) << text;
    }
    record.end_line();
  }
}

TEST_F(DeviceRoutes, OutcomesOfFailedCallsAreUnchanged) {
  DigestRecord record("tests/cuda_stand_in/device_faults.txt");
  Random random(1);
  constexpr int kCases = 12;
  for (int i = 0; i < kCases; ++i) {
    const Case one = random_case(random);
    const Input input = input_of(one);
    for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress}) {
      const std::string text =
          one.text() + " status " + std::to_string(status) + "\n" + faults_text(one, input, status);
      ASSERT_TRUE(record.has(text)) << text;
    }
    record.end_line();
  }
}

TEST_F(DeviceRoutes, CallsForGroupsAreUnchanged) {
  DigestRecord record("tests/cuda_stand_in/lane_routes.txt");
  Random random(2);
  constexpr int kGroups = 30;
  for (int i = 0; i < kGroups; ++i) {
    std::vector<Case> cases;
    std::vector<Input> inputs;
    std::string names;
    for (std::int64_t images = 1 + below(random, 3); images > 0; --images) {
      cases.push_back(random_case(random));
      inputs.push_back(input_of(cases.back()));
      names += cases.back().text() + "; ";
    }
    for (const Scenario& scenario : scenarios()) {
      if (scenario.limit > 0 || scenario.warm) continue;
      const std::string text = names + text_of(scenario) + lane_text(cases, inputs, scenario);
      ASSERT_TRUE(record.has(text)) << text;
    }
    record.end_line();
  }
}

// Images of several chunks: uploaded through the ring of chunks, uploaded to memory for the whole image, or
// decoded before a context exists.
TEST_F(DeviceRoutes, CallsForLargeImagesAreUnchanged) {
  DigestRecord record("tests/cuda_stand_in/large_routes.txt");
  const std::vector<Scenario> large{{},
                                    {.warm = true},
                                    {.limit = 16'000'000},
                                    {.free_bytes = kLeftFree},
                                    {.first_failing = 1, .last_failing = 2}};
  for (const bool banded : {false, true}) {
    for (const auto& [repeat, keep] : {std::pair{0, false}, {0, true}, {2, false}}) {
      const Case one{.banded = banded,
                     .shape = {2711, 2000, 3},
                     .stages = "gray,hist,contrast,smooth",
                     .format = {},
                     .keep_pixels = true,
                     .keep_source = keep,
                     .repeat = repeat};
      const Input input = input_of(one);
      for (const Scenario& scenario : large) {
        const std::string text = one.text() + text_of(scenario) + route_text(one, input, scenario);
        ASSERT_TRUE(record.has(text)) << text;
      }
    }
    record.end_line();
  }
}

// Lets the device start once it has returned `rows` rows, then waits for a moment.
class StartingReader final : public Reader {
 public:
  StartingReader(const Image& image, std::int64_t rows) : image_(image), rows_(rows) {
    header_.shape = image.shape();
  }

 protected:
  void read_next_rows(HostView rows) override {
    copy_pixels(image_.untyped_view().rows(next_row_, rows.height), rows);
    next_row_ += rows.height;
    if (next_row_ < rows_) return;
    runtime.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

 private:
  const Image& image_;
  std::int64_t rows_, next_row_ = 0;
};

TEST_F(DeviceRoutes, AllRowsAreUploadedWhereverDecoded) {
  const Image image = synthesize(parse_pattern("photo"), {1000, 9'000, 3}, 7);  // four chunks
  for (const std::int64_t early_rows : {1, 5'000, 9'000}) {
    for (const int threads : {0, 1, 3}) {  // 0: a reader without bands
      for (const bool keep_source : {false, true}) {
        start_device({});
        runtime.is_starting = true;
        BandedLog log;
        const std::unique_ptr<Engine> engine = make_cuda_engine(0, std::max(threads, 1));
        Job job;
        job.reader = std::make_unique<StartingReader>(image, early_rows);
        if (threads > 0)
          job.reader = std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour{.seed = 3}, log);
        job.plan = make_plan({}, image.shape());
        job.keep_source = keep_source;
        if (threads > 0 && early_rows < 9'000) runtime.start();
        const Outcome outcome = engine->run(std::move(job));
        const std::string text =
            std::to_string(early_rows) + " rows early, threads " + std::to_string(threads);
        ASSERT_FALSE(outcome.error) << text;
        EXPECT_TRUE(same_pixels(outcome.pixels, image)) << text;
        EXPECT_TRUE(!keep_source || same_pixels(outcome.source.untyped_view(), image)) << text;
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::device_routes_test

#endif
