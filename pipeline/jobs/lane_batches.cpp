#include "pipeline/jobs/lane_batches.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "images/formats/codec_table.h"
#include "images/memory/available_memory.h"
#include "pipeline/coded_image.h"
#include "pipeline/color_profiles.h"
#include "pipeline/error_of.h"

namespace imgpipe {
namespace {

// Enough to fill a large device; more would only increase the latency.
constexpr std::size_t kGroupImages = 128;
// Fewer images are not worth a group, even if other threads are idle.
constexpr std::size_t kLeastImages = 16;

// The files of more images than these are opened twice: to plan the images, and for their group.
constexpr int kMaxOpenImages = 1024;

// An image that a lane processes.
struct StagedImage {
  std::size_t index = 0;
  std::unique_ptr<Reader> reader;
  LaneImage image;
};

// The device memory that an image takes, roughly: pixels, coefficients, planes and intermediate results.
std::int64_t estimated_bytes(const Plan& plan) {
  constexpr std::int64_t kRest = std::int64_t{64} << 10;
  return plan.input.bytes() * 7 / 2 + 2 * plan.output.bytes() + kRest;
}

}  // namespace

// One call of run().
class LaneBatches::Run {
 public:
  Run(LaneBatches& batches, std::span<LaneBatchImage> images, const LaneBatchRequest& request)
      : batches_(batches), images_(images), request_(request), readers_(images.size()) {}

  void open(std::size_t i) {
    LaneBatchImage& image = images_[i];
    image.error = error_of([&] {
      const ArraySource& source = image.source;
      ImageHeader header;
      Shape shape = source.pixels.empty() ? image.device_pixels.shape() : source.pixels.shape();
      if (source.open) {
        readers_[i] = open_file(source);
        header = readers_[i]->header();
        shape = header.shape;
        if (open_images_++ >= kMaxOpenImages || (source.is_on_disk && source.is_on_disk())) close(i);
      }
      image.plan = source.box ? request_.plans->plan_for_box(shape, *source.box, header)
                              : request_.plans->plan_for(shape, false, header);
    });
    if (!image.error) return;
    image.plan.reset();
    close(i);
  }

  // Divides the planned images into groups that fit a lane's share of memory; returns their number.
  std::size_t divide(int threads) {
    const std::int64_t share = batches_.locked_share();
    std::size_t planned = 0;
    for (const LaneBatchImage& image : images_) planned += image.plan ? 1 : 0;
    const std::size_t each =
        (planned + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads);
    const std::size_t most = std::clamp(each, kLeastImages, kGroupImages);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (!images_[i].plan) continue;
      const std::int64_t more = estimated_bytes(images_[i].plan->plan);
      if (groups_.empty() || groups_.back().size() >= most || bytes + more > share) {
        groups_.emplace_back();
        bytes = 0;
      }
      bytes += more;
      groups_.back().push_back(i);
    }
    return groups_.size();
  }

  // Processes a group. Throws Error(device).
  void process(std::size_t group) {
    {
      std::vector<StagedImage> staged;
      for (const std::size_t i : groups_[group]) prepare(i, true, staged);
      send(staged);
    }
    for (const std::size_t i : groups_[group]) close(i);
  }

 private:
  void close(std::size_t i) {
    readers_[i].reset();
    if (images_[i].source.close) images_[i].source.close();
  }

  [[nodiscard]] std::unique_ptr<Reader> open_file(const ArraySource& source) const {
    return source.open(with_profile(request_.decode, request_.plans->stages()));
  }

  void reopen(std::size_t i) {
    readers_[i] = open_file(images_[i].source);
    if (readers_[i]->header().shape != images_[i].plan->plan.input)
      throw Error(ErrorKind::input, "the file was changed while it was read");
  }

  // Stages a JPEG, or decodes other images, and adds it to `staged`.
  void prepare(std::size_t i, bool may_stage, std::vector<StagedImage>& staged) {
    LaneBatchImage& image = images_[i];
    StagedImage one;
    one.index = i;
    image.error = error_of([&] {
      if (image.source.open && !readers_[i]) reopen(i);
      one.reader = std::move(readers_[i]);
      LaneImage& lane_image = one.image;
      lane_image.plan = std::shared_ptr<const Plan>(image.plan, &image.plan->plan);
      lane_image.device_result = {
          .data = image.result, .planar = image.plan->splits, .mirrored = image.source.flip};
      lane_image.device_source = image.device_pixels;
      std::pmr::memory_resource& memory = *batches_.settings_.memory;
      if (!image.source.pixels.empty()) {
        check_available(image.source.pixels.bytes());
        lane_image.source = Image(image.source.pixels.shape(), &memory);
        copy_pixels(image.source.pixels, lane_image.source.untyped_view());
      }
      if (!one.reader) return;
      if (may_stage) lane_image.coded.jpeg = stage_jpeg(*one.reader, memory);
      if (lane_image.coded.jpeg) return;
      check_available(one.reader->working_bytes(true) + lane_image.plan->input.bytes());
      lane_image.source = Image(lane_image.plan->input, &memory);
      one.reader->read_rows(lane_image.source.untyped_view());
      image.warnings = one.reader->warnings();
      one.reader.reset();
      close(i);
    });
    if (!image.error) staged.push_back(std::move(one));
  }

  void send(std::span<StagedImage> staged) {
    if (staged.empty()) return;
    std::unique_ptr<Lane> lane = batches_.take_lane();
    bool fits = false;
    try {
      fits = try_send(*lane, staged);
    } catch (...) {
      lane.reset();
      batches_.give_back(nullptr);
      throw;
    }
    batches_.give_back(std::move(lane));
    if (fits) {
      end(staged);
    } else if (staged.size() > 1) {
      send(staged.first(staged.size() / 2));
      send(staged.subspan(staged.size() / 2));
    } else {
      send_alone(staged);
    }
  }

  void send_alone(std::span<StagedImage> one) {
    bool fits = false;
    batches_.use_alone([&](Lane& lane) { fits = try_send(lane, one); });
    if (fits) {
      end(one);
    } else {
      images_[one.front().index].error = one.front().image.error;
    }
  }

  // Returns false if memory does not suffice; the first image then has the error. Throws Error(device).
  static bool try_send(Lane& lane, std::span<StagedImage> staged) {
    std::vector<LaneImage*> images;
    for (StagedImage& one : staged) {
      one.image.error.reset();
      images.push_back(&one.image);
    }
    try {
      lane.launch(0, images);
      lane.finish(0, images);
      return true;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      images.front()->error = error;
      return false;
    }
  }

  // Takes over the results. Images in which the device found damage are decoded again on the host.
  void end(std::span<StagedImage> staged) {
    std::vector<StagedImage> again;
    for (StagedImage& one : staged) {
      LaneBatchImage& image = images_[one.index];
      if (one.image.error) {
        image.error = one.image.error;
      } else if (one.image.coded.is_intact) {
        if (one.reader) image.warnings = one.reader->warnings();
      } else {
        readers_[one.index] = std::move(one.reader);
        prepare(one.index, false, again);
      }
    }
    send(again);
  }

  LaneBatches& batches_;
  std::span<LaneBatchImage> images_;
  const LaneBatchRequest& request_;
  std::vector<std::unique_ptr<Reader>> readers_;
  std::atomic<int> open_images_ = 0;
  std::vector<std::vector<std::size_t>> groups_;
};

LaneBatches::LaneBatches(LaneBatchSettings settings) : settings_(std::move(settings)) {
  idle_.reserve(settings_.lanes);  // give_back() must not allocate
}

LaneBatches::~LaneBatches() = default;

void LaneBatches::run(std::span<LaneBatchImage> images, const LaneBatchRequest& request) {
  Run run(*this, images, request);
  const Threads threads = take_threads(request.threads);
  const auto for_each = [&](std::size_t count, const auto& work) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    threads->run(static_cast<int>(std::min<std::size_t>(count, kMaxThreads)), [&](int) {
      try {
        for (std::size_t i = next++; i < count; i = next++) work(i);
      } catch (...) {
        next = count;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  };
  for_each(images.size(), [&](std::size_t i) { run.open(i); });
  request.allocate();
  for_each(run.divide(threads->count()), [&](std::size_t group) { run.process(group); });
}

LaneBatches::Threads LaneBatches::take_threads(int count) {
  std::unique_ptr<HostThreads> threads;
  {
    const std::lock_guard lock(mutex_);
    if (auto found = idle_threads_.extract(count)) threads = std::move(found.mapped());
  }
  if (!threads) threads = std::make_unique<HostThreads>(count);
  return {threads.release(), [this, count](HostThreads* idle) {
            const std::lock_guard lock(mutex_);
            idle_threads_.emplace(count, idle);
          }};
}

std::unique_ptr<Lane> LaneBatches::take_lane() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !alone_ && (!idle_.empty() || lanes_ < settings_.lanes); });
  if (!idle_.empty()) {
    auto lane = std::move(idle_.back());
    idle_.pop_back();
    lane->limit_memory(share());
    return lane;
  }
  ++lanes_;
  const std::int64_t most = share();
  lock.unlock();
  try {
    auto lane = settings_.make_lane();
    lane->keep_times(false);
    lane->start();
    lane->limit_memory(most);
    return lane;
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

void LaneBatches::give_back(std::unique_ptr<Lane> lane) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (lane) {
      idle_.push_back(std::move(lane));
    } else {
      --lanes_;
    }
  }
  changed_.notify_all();
}

void LaneBatches::use_alone(const std::function<void(Lane&)>& work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !alone_; });
  alone_ = true;
  changed_.wait(lock, [&] { return idle_.size() == lanes_; });
  const std::int64_t all = settings_.memory_bytes;
  lock.unlock();
  // No other thread takes a lane or gives one back.
  const auto failure = [&]() -> std::exception_ptr {
    try {
      for (const auto& lane : idle_) lane->release_memory();
      if (idle_.empty()) return std::make_exception_ptr(Error(ErrorKind::device, "the device has failed"));
      idle_.back()->limit_memory(all);
      work(*idle_.back());
      idle_.back()->release_memory();
      return nullptr;
    } catch (...) {
      idle_.pop_back();
      --lanes_;
      return std::current_exception();
    }
  }();
  lock.lock();
  alone_ = false;
  lock.unlock();
  changed_.notify_all();
  if (failure) std::rethrow_exception(failure);
}

void LaneBatches::limit_memory(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes < settings_.memory_bytes) release_idle_lanes();
  settings_.memory_bytes = bytes;
}

void LaneBatches::trim() {
  std::multimap<int, std::unique_ptr<HostThreads>> ended;  // joined without the lock
  const std::lock_guard lock(mutex_);
  ended.swap(idle_threads_);
  release_idle_lanes();
  release_idle(*settings_.memory);
}

void LaneBatches::release_idle_lanes() {
  if (alone_) return;
  for (const auto& lane : idle_) lane->release_memory();
}

}  // namespace imgpipe
