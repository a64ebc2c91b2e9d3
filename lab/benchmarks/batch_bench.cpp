// Compares decoding and encoding alone with a batch on CUDA devices, in alternation.
//
//   batch_bench IN OUT [--format png|jpg] [--jobs N] [--rounds R] [--devices 0,1]
//
// The mode without kernels runs the same batch with a lane that only returns the device's earlier result for
// the same image: workers do the same work, without a device. Prints a line per round, and the medians.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "app/program.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/memory/available_memory.h"
#include "pipeline/device.h"
#include "pipeline/jobs/batch.h"

namespace {

using namespace imgpipe;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Identifies a source by its shape and the bytes of some rows.
std::size_t key_of(const Image& source) {
  const Shape& shape = source.shape();
  const ConstHostPlane rows = source.view();
  std::size_t key = std::hash<std::int64_t>()(shape.width * 31 + shape.height);
  for (std::int64_t row = 0; row < shape.height; row += std::max<std::int64_t>(1, shape.height / 8)) {
    const auto* start = reinterpret_cast<const char*>(rows.rows(row, 1).data);
    key = key * 1099511628211U ^
          std::hash<std::string_view>()({start, static_cast<std::size_t>(rows.row_samples())});
  }
  return key;
}

struct Results {
  std::mutex mutex;
  std::map<std::size_t, Image> images;
};

// Runs the device's lane and stores its results.
class RecordingLane final : public Lane {
 public:
  RecordingLane(std::unique_ptr<Lane> lane, Results& results) : lane_(std::move(lane)), results_(results) {}
  [[nodiscard]] std::string name() const override { return lane_->name(); }
  [[nodiscard]] std::string device_name() const override { return lane_->device_name(); }
  [[nodiscard]] std::size_t slots() const override { return lane_->slots(); }
  void start() override { lane_->start(); }
  void launch(std::size_t slot, std::span<LaneImage* const> images) override {
    images.front()->coded.form = {};  // requests pixels
    lane_->launch(slot, images);
  }
  void finish(std::size_t slot, std::span<LaneImage* const> images) override {
    lane_->finish(slot, images);
    const LaneImage& image = *images.front();
    Image copy(image.plan->output);
    copy_pixels(std::as_const(image.pixels).view(), copy.view());
    const std::lock_guard lock(results_.mutex);
    results_.images.insert_or_assign(key_of(image.source), std::move(copy));
  }
  void release_memory() override { lane_->release_memory(); }
  [[nodiscard]] std::unique_ptr<Engine> make_band_engine(int threads) override {
    return lane_->make_band_engine(threads);
  }

 private:
  std::unique_ptr<Lane> lane_;
  Results& results_;
};

// Lends memory that another object owns.
class LendingResource final : public std::pmr::memory_resource {
 public:
  void lend(void* block) { next_ = block; }

 private:
  void* do_allocate(std::size_t, std::size_t) override { return next_; }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
  void* next_ = nullptr;
};

class NullLane final : public Lane {
 public:
  explicit NullLane(Results& results) : results_(results) {}
  [[nodiscard]] std::string name() const override { return "none"; }
  [[nodiscard]] std::string device_name() const override { return "no kernels"; }
  [[nodiscard]] std::size_t slots() const override { return 4; }
  void start() override {}
  void launch(std::size_t, std::span<LaneImage* const>) override {}
  void finish(std::size_t, std::span<LaneImage* const> images) override {
    LaneImage& image = *images.front();
    const std::lock_guard lock(results_.mutex);
    lender_.lend(results_.images.at(key_of(image.source)).view().data);
    image.pixels = Image(image.plan->output, &lender_);
  }
  void release_memory() override {}
  [[nodiscard]] std::unique_ptr<Engine> make_band_engine(int) override {
    throw Error(ErrorKind::device, "no kernels, no bands");
  }

 private:
  Results& results_;
  LendingResource lender_;  // used by the collecting thread only
};

struct Options {
  std::string in, out;
  Format format = Format::png;
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  int rounds = 5;
  std::vector<int> devices{0};
};

using Memory = std::shared_ptr<std::pmr::memory_resource>;

double images_per_second(const Options& options,
                         const std::function<std::vector<std::unique_ptr<Lane>>(const Memory&)>& make) {
  std::vector<BatchItem> items;
  for (const auto& entry : fs::directory_iterator(options.in)) {
    const std::string ending(format_info(options.format).endings.front());
    items.push_back({entry.path().string(),
                     (fs::path(options.out) / entry.path().filename()).replace_extension(ending).string(),
                     options.format});
  }
  std::ranges::sort(items, {}, &BatchItem::input);
  const std::size_t count = items.size();
  const Clock::time_point start = Clock::now();
  {
    BatchSettings settings;
    settings.stages = parse_stages(kDefaultStages);
    settings.jobs = settings.threads = options.jobs;
    settings.memory_bytes = available_memory_bytes() / 2;
    settings.lane_memory = make_lane_memory(settings.memory_bytes / 2);
    settings.find_lanes = [&make, memory = settings.lane_memory] {
      LaneCapacity offer;
      offer.lanes = make(memory);
      return offer;
    };
    Batch batch(std::move(items), std::move(settings));
    while (!batch.finished()) {
      const std::optional<BatchResult> result = batch.next(std::chrono::milliseconds(50));
      if (result && result->failed) throw Error(*result->failed, result->reason);
      if (const std::optional<Error> fatal = batch.fatal()) throw *fatal;
    }
  }
  return static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - start).count();
}

Options options_of(const std::vector<std::string>& arguments) {
  Options options;
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (arguments[i] == "--format") {
      options.format = format_by_name(value == "jpg" ? "jpeg" : value).value_or(Format::png);
    } else if (arguments[i] == "--jobs") {
      options.jobs = std::stoi(value);
    } else if (arguments[i] == "--rounds") {
      options.rounds = std::stoi(value);
    } else if (arguments[i] == "--devices") {
      options.devices = choose_device("cuda:" + value).cuda_devices;
    } else {
      paths.push_back(arguments[i]);
      continue;
    }
    ++i;
  }
  if (paths.size() != 2) throw Error(ErrorKind::usage, "batch_bench IN OUT [options]: see its source");
  options.in = paths[0];
  options.out = paths[1];
  return options;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  set_up_process();
  try {
    const Options options = options_of({argv + 1, argv + argc});
    constexpr std::size_t kSlots = 4;
    Results results;
    using Lanes = std::vector<std::unique_ptr<Lane>>;
    const auto cuda = [&](const Memory& memory) { return make_cuda_lanes(options.devices, kSlots, memory); };
    const auto recording = [&](const Memory& memory) {
      Lanes lanes = cuda(memory);
      for (std::unique_ptr<Lane>& lane : lanes)
        lane = std::make_unique<RecordingLane>(std::move(lane), results);
      return lanes;
    };
    const auto none = [&](const Memory&) {
      Lanes lanes;
      lanes.push_back(std::make_unique<NullLane>(results));
      return lanes;
    };
    (void)images_per_second(options, recording);
    std::vector<double> without;
    std::vector<double> with;
    std::vector<double> share;
    for (int round = 0; round < options.rounds; ++round) {
      without.push_back(images_per_second(options, none));
      with.push_back(images_per_second(options, cuda));
      share.push_back(with.back() / without.back());
      std::printf("round %d: decode + encode alone %.1f images/s, with cuda %.1f, share %.3f\n", round + 1,
                  without.back(), with.back(), share.back());
    }
    std::printf("median: decode + encode alone %.1f images/s, with cuda %.1f, share %.3f\n", median(without),
                median(with), median(share));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "batch_bench: %s\n", error.what());
    return 1;
  }
}
