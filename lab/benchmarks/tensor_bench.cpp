// Measures JPEG bytes in host memory to results of --stages on a CUDA device, downloaded to pinned memory.
//
//   tensor_bench STAGES FILE... [--images N] [--rounds R] [--workers W] [--lanes L] [--slots S] [--group G]
//
// Workers open and stage the JPEGs of a group; each lane has a thread that queues groups on its slots and
// waits for the oldest. Prints a line per round, then the shares of the stages in the time that the device
// worked, and the host's time per image.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/formats/codec_table.h"
#include "pipeline/lane.h"
#include "pipeline/stage_list.h"

namespace {

using namespace imgpipe;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string stages;
  std::vector<std::string> files;
  std::size_t images = 20000, rounds = 3, workers = 8, lanes = 2, slots = 4, group = 64;
};

struct Group {
  std::vector<std::unique_ptr<Reader>> readers;
  std::deque<LaneImage> images;
  std::vector<LaneImage*> pointers;
};

// Prepared groups; workers wait while it is full.
class Queue {
 public:
  explicit Queue(std::size_t most) : most_(most) {}
  void put(std::unique_ptr<Group> group) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return groups_.size() < most_; });
    groups_.push_back(std::move(group));
    changed_.notify_all();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  // Returns nullptr if no group is left, or if none is ready and `wait` is false.
  std::unique_ptr<Group> take(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait(lock, [&] { return closed_ || !groups_.empty(); });
    if (groups_.empty()) return nullptr;
    auto group = std::move(groups_.front());
    groups_.pop_front();
    changed_.notify_all();
    return group;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Group>> groups_;
  std::size_t most_;
  bool closed_ = false;
};

// Device and host times, in nanoseconds.
struct Totals {
  std::mutex mutex;
  std::map<std::string, std::int64_t> device;
  std::atomic<std::int64_t> prepare{0}, launch{0}, finish{0};
};

class Benchmark {
 public:
  Benchmark(const Options& options, const std::vector<std::vector<std::byte>>& files,
            std::pmr::memory_resource& memory)
      : options_(options), files_(files), memory_(memory), requests_(parse_stages(options.stages)) {}

  double round(std::vector<std::unique_ptr<Lane>>& lanes, Totals& totals) {
    Queue queue(2 * options_.lanes);
    std::atomic<std::size_t> next{0};
    const Clock::time_point start = Clock::now();
    {
      std::vector<std::jthread> lane_threads, workers;
      for (auto& lane : lanes) lane_threads.emplace_back([&] { run_lane(*lane, queue, totals); });
      for (std::size_t i = 0; i < options_.workers; ++i) {
        workers.emplace_back([&] {
          for (std::size_t first = next.fetch_add(options_.group); first < options_.images;
               first = next.fetch_add(options_.group))
            queue.put(prepare(first, totals));
        });
      }
      workers.clear();
      queue.close();
    }
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  static std::int64_t ns_since(Clock::time_point start) { return (Clock::now() - start).count(); }

  std::unique_ptr<Group> prepare(std::size_t first, Totals& totals) {
    const Clock::time_point start = Clock::now();
    auto group = std::make_unique<Group>();
    for (std::size_t i = first; i < std::min(first + options_.group, options_.images); ++i) {
      group->readers.push_back(open_reader(files_[i % files_.size()], {}));
      Reader& reader = *group->readers.back();
      LaneImage& image = group->images.emplace_back();
      image.plan = std::make_shared<const Plan>(make_plan(requests_, reader.header().shape, true));
      image.coded.jpeg = stage_jpeg(reader, memory_);
      if (!image.coded.jpeg) throw Error(ErrorKind::input, "a file that the device does not decode");
      group->pointers.push_back(&image);
    }
    totals.prepare += ns_since(start);
    return group;
  }

  void run_lane(Lane& lane, Queue& queue, Totals& totals) {
    std::vector<std::unique_ptr<Group>> running(options_.slots);
    std::size_t first = 0, count = 0;
    while (true) {
      if (count < options_.slots) {
        if (auto group = queue.take(count == 0)) {
          const Clock::time_point start = Clock::now();
          const std::size_t slot = (first + count++) % options_.slots;
          lane.launch(slot, group->pointers);
          running[slot] = std::move(group);
          totals.launch += ns_since(start);
          continue;
        }
      }
      if (count == 0) return;
      const Clock::time_point start = Clock::now();
      lane.finish(first, running[first]->pointers);
      totals.finish += ns_since(start);
      add_spans(*running[first], totals);
      running[first].reset();
      first = (first + 1) % options_.slots;
      --count;
    }
  }

  static void add_spans(const Group& group, Totals& totals) {
    const std::lock_guard lock(totals.mutex);
    for (const LaneImage& image : group.images) {
      if (!image.coded.is_intact || image.error || image.pixels.empty())
        throw Error(ErrorKind::input, "an image without a result");
      for (const Span& span : image.timeline.spans()) totals.device[span.name] += span.end_ns - span.start_ns;
    }
  }

  const Options& options_;
  const std::vector<std::vector<std::byte>>& files_;
  std::pmr::memory_resource& memory_;
  std::vector<StageRequest> requests_;
};

Options options_of(const std::vector<std::string>& arguments) {
  Options options;
  const std::map<std::string, std::size_t*> numbers{
      {"--images", &options.images}, {"--rounds", &options.rounds}, {"--workers", &options.workers},
      {"--lanes", &options.lanes},   {"--slots", &options.slots},   {"--group", &options.group}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto number = numbers.find(arguments[i]); number != numbers.end()) {
      *number->second = std::stoul(arguments.at(++i));
    } else if (options.stages.empty()) {
      options.stages = arguments[i];
    } else {
      options.files.push_back(arguments[i]);
    }
  }
  if (options.files.empty()) throw Error(ErrorKind::usage, "tensor_bench STAGES FILE...: see its source");
  return options;
}

void print(const Options& options, const Totals& totals) {
  std::int64_t all = 0;
  for (const auto& [name, ns] : totals.device) all += ns;
  const double count = static_cast<double>(options.images * options.rounds);
  for (const auto& [name, ns] : totals.device)
    std::printf("  %-40s %6.2f us per image, %4.1f %%\n", name.c_str(), static_cast<double>(ns) / count / 1e3,
                100.0 * static_cast<double>(ns) / static_cast<double>(all));
  std::printf("  host, us per image: prepare %.2f (on %zu threads), launch %.2f, finish %.2f (on %zu)\n",
              static_cast<double>(totals.prepare) / count / 1e3, options.workers,
              static_cast<double>(totals.launch) / count / 1e3,
              static_cast<double>(totals.finish) / count / 1e3, options.lanes);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = options_of({argv + 1, argv + argc});
    std::vector<std::vector<std::byte>> files;
    for (const std::string& path : options.files) {
      std::ifstream in(path, std::ios::binary);
      const std::vector<char> chars{std::istreambuf_iterator<char>(in), {}};
      const auto* const bytes = reinterpret_cast<const std::byte*>(chars.data());
      files.emplace_back(bytes, bytes + chars.size());
    }
    const auto memory = make_lane_memory(std::int64_t{8} << 30);
    {
      std::vector<std::unique_ptr<Lane>> lanes;
      for (std::size_t i = 0; i < options.lanes; ++i)
        lanes.push_back(std::move(make_cuda_lanes(std::vector<int>{0}, options.slots, memory).front()));
      for (auto& lane : lanes) lane->start();
      Benchmark benchmark(options, files, *memory);
      Totals warm_up, totals;
      (void)benchmark.round(lanes, warm_up);
      for (std::size_t i = 0; i < options.rounds; ++i) {
        const double seconds = benchmark.round(lanes, totals);
        std::printf("%zu images: %.0f images/s\n", options.images,
                    static_cast<double>(options.images) / seconds);
      }
      print(options, totals);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tensor_bench: %s\n", error.what());
    return 1;
  }
}
