// Rungs of the codecs' ladders on a CUDA device, timed by events; what begins on the host by its clock.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "images/error.h"
#include "kernels/lab/delay.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/lab/codec_lab.h"
#include "pipeline/lab/crew.h"
#include "pipeline/lab/nvjpeg_library.h"
#include "pipeline/lab/nvjpeg_runs.h"
#include "pipeline/lab/staged_copy.h"

namespace imgpipe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBudgetUs = 200'000;  // of a rung's timed runs
constexpr int kBatch = 16;             // runs that are queued at a time: well below what a stream takes
constexpr std::size_t kMostSets = 16;
constexpr int kRubbish = 0xA5;

std::size_t rounded(std::size_t bytes) {
  constexpr std::size_t kBoundary = 256;
  return (bytes + kBoundary - 1) / kBoundary * kBoundary;
}

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// A group's place in device memory, ready to be launched.
struct Set {
  struct Part {  // a half of decoding, or all of a rung
    std::unique_ptr<CodecRun> run;
    DeviceBuffer memory;

    void make(std::unique_ptr<CodecRun> made) {
      run = std::move(made);
      memory.reserve(run->memory().bytes);
    }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory.data()); }
  };
  DeviceBuffer places;
  std::vector<CodecTask> tasks;
  Part first, second;

  [[nodiscard]] std::size_t bytes(std::size_t places_bytes) const {
    std::size_t sum = places_bytes;
    for (const Part* part : {&first, &second}) sum += part->run ? part->run->memory().bytes : 0;
    return sum;
  }
};

class CudaCodecLab final : public CodecLab {
 public:
  CudaCodecLab(int index, int threads) : device_(find_cuda_device(index)), crew_(threads) {
    IMGPIPE_CUDA(cudaSetDevice(index));
    stream_ = std::make_unique<Stream>();
    pinned_.use_device(index);
    int l2_bytes = 0;
    IMGPIPE_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, index));
    // Twice the cache lies between two uses of a set.
    rotating_bytes_ = 3 * static_cast<std::size_t>(std::max(l2_bytes, 1 << 20));
  }

 protected:
  std::string begin(const CodecRung& rung, CodecWork work) override {
    rung_ = &rung;
    work_ = work;
    if (rung.nvjpeg != Nvjpeg::none && !nvjpeg_) nvjpeg_.emplace();
    if (rung.nvjpeg != Nvjpeg::none && nvjpeg_->functions() == nullptr) return nvjpeg_->missing();
    if (takes_stream()) staged_.emplace(group().subject->jpeg.scan);
    add_set();
    if (rung.nvjpeg != Nvjpeg::none) {
      std::string refusal;
      nvjpeg_run_ = make_nvjpeg_run(rung, group(), sets_.front()->tasks, crew_, device_.index,
                                    *nvjpeg_->functions(), refusal);
      if (!nvjpeg_run_) return "nvJPEG: " + refusal;
      return nvjpeg_says(nvjpeg_run_->run());  // once, so that a refusal is none of the rung's
    }
    if (rung.from_host) return "";
    const std::size_t set_bytes = std::max<std::size_t>(1, sets_.front()->bytes(places_.all * images()));
    const std::size_t count = std::clamp<std::size_t>(rotating_bytes_ / set_bytes + 1, 2, kMostSets);
    while (sets_.size() < count) add_set();
    return "";
  }

  void run_once() override {
    Set& set = *sets_.front();
    spoil(set);
    if (nvjpeg_run_) {
      (void)nvjpeg_run_->run();
    } else if (rung_->from_host) {
      run_from_host();
    } else {
      start(set);
    }
    wait();
    results_.clear();
    for (const Set::Part* part : {&set.first, &set.second}) {
      if (!part->run) continue;
      const GroupMemory& memory = part->run->memory();
      results_.emplace_back(memory.results_bytes);
      copy_down(results_.back().data(), part->data() + memory.results_offset, memory.results_bytes);
    }
    wait();
  }

  CodecAnswer answer(std::size_t image) override {
    CodecAnswer answer;
    const Set& set = *sets_.front();
    const CodecTask& task = set.tasks[image];
    if (set.first.run) answer.in_order = set.first.run->in_order(image, results_.front().data());
    if (work_ == CodecWork::entropy) {
      answer.coefficients.resize(group().subject->coefficients.size());
      copy_down(answer.coefficients.data(), task.entropy.coefficients,
                answer.coefficients.size() * sizeof(std::int16_t));
    } else if (gives_pixels()) {
      answer.pixels = Image(picture().shape());
      const auto& planes = task.reconstruction;
      copy_to_host(answer.pixels.view(), planes.grey.empty() ? planes.pixels : planes.grey, *stream_);
      if (planes.counts != nullptr) {
        answer.counts.resize(group().subject->counts.size());
        copy_down(answer.counts.data(), planes.counts, answer.counts.size() * sizeof(std::uint64_t));
      }
    } else if (nvjpeg_run_) {
      answer.parts.push_back({.bytes = nvjpeg_run_->file(image)});
    } else {
      for (const CodedPart& part : set.first.run->parts(image, results_.front().data())) {
        CodecAnswer::Part& copy = answer.parts.emplace_back();
        copy.adler = part.adler;
        copy.filtered = part.filtered;
        if (part.offset > set.first.run->memory().bytes ||
            part.bytes > set.first.run->memory().bytes - part.offset)
          continue;  // beyond its memory: no bytes, which is wrong
        copy.bytes.resize(part.bytes);
        copy_down(copy.bytes.data(), set.first.data() + part.offset, part.bytes);
      }
    }
    wait();
    return answer;
  }

  std::vector<double> time_us(const LabOptions& options) override {
    if (nvjpeg_run_) return timed_by_clock(options, [&] { (void)nvjpeg_run_->run(); });
    if (rung_->from_host) return timed_by_clock(options, [&] { run_from_host(); });
    constexpr int kWarmUps = 3;
    const Clock::time_point start = Clock::now();
    queue_runs(kWarmUps, 0);
    const std::int64_t queued_ns = (Clock::now() - start) / std::chrono::nanoseconds(1);
    std::vector<double> warm_ups;
    take_times(kWarmUps, warm_ups);
    const double run_us = *std::ranges::min_element(warm_ups);
    const int runs = options.repeat > 0 ? options.repeat : runs_within(kBudgetUs, run_us, 5, 100);
    std::vector<double> times;
    for (int done = 0; done < runs; done += kBatch) {
      const int batch = std::min(kBatch, runs - done);
      queue_runs(batch, queued_ns / kWarmUps * batch + 20'000);
      take_times(batch, times);
    }
    return times;
  }

  [[nodiscard]] std::string grid_text() const override {
    if (!rung_->all_threads && !rung_->from_host) return nvjpeg_run_ ? "1 thread" : "own";
    return std::to_string(crew_.count()) + (crew_.count() == 1 ? " thread" : " threads");
  }

  void end() override {
    nvjpeg_run_.reset();
    staged_.reset();
    sets_.clear();
    results_.clear();
  }

 private:
  [[nodiscard]] std::size_t images() const { return group().images; }
  [[nodiscard]] const Image& picture() const { return group().subject->picture(rung_->pixels); }
  [[nodiscard]] bool takes_stream() const {
    return rung_->nvjpeg == Nvjpeg::none && (work_ == CodecWork::entropy || work_ == CodecWork::decoding);
  }
  [[nodiscard]] bool has_coefficients() const {
    return takes_stream() || (work_ == CodecWork::reconstruction && rung_->nvjpeg == Nvjpeg::none);
  }
  [[nodiscard]] bool gives_pixels() const {
    return work_ == CodecWork::reconstruction || work_ == CodecWork::decoding;
  }
  void wait() const { IMGPIPE_CUDA(cudaStreamSynchronize(stream_->get())); }
  void copy_up(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0) IMGPIPE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_->get()));
  }
  void copy_down(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0) IMGPIPE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_->get()));
  }
  [[nodiscard]] CudaLaunch launch() const { return {stream_->get(), device_.multiprocessors}; }
  static std::string nvjpeg_says(const std::string& text) { return text.empty() ? "" : "nvJPEG: " + text; }

  // ---- device memory -------------------------------------------------------------------------------------

  // What an image of a set has, one behind the other; what the rung does not need takes nothing.
  struct Places {
    std::size_t stream = 0, coefficients = 0, plane = 0, counts = 0, all = 0;
  };

  void place() {
    const CodecSubject& subject = *group().subject;
    places_ = {};
    places_.coefficients = takes_stream() ? rounded(staged_->bytes_with_margin()) : 0;
    places_.plane = places_.coefficients;
    if (has_coefficients()) places_.plane += rounded(subject.coefficients.size() * sizeof(std::int16_t) + 1);
    places_.counts = places_.plane;
    if (work_ != CodecWork::entropy)
      places_.counts += rounded(static_cast<std::size_t>(device_bytes(picture().shape())));
    places_.all = places_.counts;
    if (gives_pixels() && rung_->pixels == CodecPixels::grey)
      places_.all += rounded(subject.counts.size() * sizeof(std::uint64_t));
  }

  void add_set() {
    place();
    auto set = std::make_unique<Set>();
    set->places.reserve(std::max<std::size_t>(1, images() * places_.all));
    for (std::size_t i = 0; i < images(); ++i)
      set->tasks.push_back(task_at(static_cast<std::byte*>(set->places.data()) + i * places_.all));
    if (rung_->cuda != nullptr) set->first.make(rung_->cuda(set->tasks));
    if (rung_->then != nullptr) set->second.make(rung_->then(set->tasks));
    sets_.push_back(std::move(set));
    fill(*sets_.back());
  }

  [[nodiscard]] CodecTask task_at(std::byte* base) const {
    const CodecSubject& subject = *group().subject;
    const Shape shape = picture().shape();
    CodecTask task;
    const Plane<Sample, Device> plane =
        work_ == CodecWork::entropy
            ? Plane<Sample, Device>()
            : DeviceView(base + places_.plane, shape, device_stride_bytes(shape)).as<Sample>();
    auto* coefficients =
        has_coefficients() ? reinterpret_cast<std::int16_t*>(base + places_.coefficients) : nullptr;
    if (takes_stream()) {
      task.entropy = {.scan = &subject.jpeg.scan,
                      .tables = &subject.jpeg.tables,
                      .staged = &staged_->scan(),
                      .stream = base + places_.stream,
                      .coefficients = coefficients};
    }
    if (gives_pixels()) {
      task.reconstruction.scan = &subject.jpeg.scan;
      task.reconstruction.coefficients = coefficients;
      const bool grey_of_color = rung_->pixels == CodecPixels::grey && !subject.grey.empty();
      (grey_of_color ? task.reconstruction.grey : task.reconstruction.pixels) = plane;
      if (rung_->pixels == CodecPixels::grey)
        task.reconstruction.counts = reinterpret_cast<std::uint64_t*>(base + places_.counts);
    }
    task.jpeg = {
        .pixels = plane, .quality = kLabQuality, .halved_colors = rung_->pixels == CodecPixels::rgb_420};
    task.png = {.pixels = plane,
                .strip_rows =
                    rung_->pixels == CodecPixels::grey ? subject.grey_strip_rows : subject.pixel_strip_rows};
    return task;
  }

  // What a rung takes, and what it uploads itself.
  void fill(const Set& set) {
    const CodecSubject& subject = *group().subject;
    for (const CodecTask& task : set.tasks) {
      if (takes_stream())
        copy_up(const_cast<std::byte*>(task.entropy.stream), staged_->bytes(), staged_->bytes_with_margin());
      if (work_ == CodecWork::reconstruction)
        copy_up(const_cast<std::int16_t*>(task.reconstruction.coefficients), subject.coefficients.data(),
                subject.coefficients.size() * sizeof(std::int16_t));
      if (!gives_pixels() && work_ != CodecWork::entropy) {
        const Plane<const Sample, Device>& to = task.jpeg.pixels;
        copy_to_device(
            Plane<Sample, Device>{const_cast<Sample*>(to.data), to.width, to.height, to.stride, to.channels},
            picture().view(), *stream_);
      }
    }
    for (const Set::Part* part : {&set.first, &set.second}) {
      if (!part->run) continue;
      std::vector<std::byte> upload(part->run->memory().upload_bytes);
      part->run->write_upload(upload.data());
      copy_up(part->data(), upload.data(), upload.size());
      wait();
    }
    wait();
  }

  // Rubbish in all that a rung is to write.
  void spoil(const Set& set) const {
    const auto clear = [&](void* what, std::size_t bytes) {
      if (bytes > 0) IMGPIPE_CUDA(cudaMemsetAsync(what, kRubbish, bytes, stream_->get()));
    };
    for (const CodecTask& task : set.tasks) {
      if (takes_stream()) clear(task.entropy.coefficients, places_.plane - places_.coefficients);
      if (!gives_pixels()) continue;
      const auto& planes = task.reconstruction;
      clear(planes.grey.empty() ? planes.pixels.data : planes.grey.data, places_.all - places_.plane);
    }
    for (const Set::Part* part : {&set.first, &set.second}) {
      if (!part->run) continue;
      const GroupMemory& memory = part->run->memory();
      clear(part->data() + memory.upload_bytes, memory.bytes - memory.upload_bytes);
    }
    wait();
  }

  // ---- runs ----------------------------------------------------------------------------------------------

  void start(const Set& set) const {
    for (const Set::Part* part : {&set.first, &set.second}) {
      if (part->run) IMGPIPE_CUDA(static_cast<cudaError_t>(part->run->launch(part->data(), launch())));
    }
  }

  // Queues so many runs, each between two events, behind a delay that lasts until they are queued.
  void queue_runs(int runs, std::int64_t delay_ns) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(delay_cuda(launch(), delay_ns)));
    while (events_.size() < 2 * static_cast<std::size_t>(runs)) events_.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
      const Set& set = *sets_[next_set_++ % sets_.size()];
      events_[2 * i].record(*stream_);
      start(set);
      events_[2 * i + 1].record(*stream_);
    }
  }

  void take_times(int runs, std::vector<double>& times) {
    events_[2 * static_cast<std::size_t>(runs) - 1].wait();
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
      float ms = 0;
      IMGPIPE_CUDA(cudaEventElapsedTime(&ms, events_[2 * i].get(), events_[2 * i + 1].get()));
      times.push_back(1e3 * static_cast<double>(ms));
    }
  }

  static std::vector<double> timed_by_clock(const LabOptions& options, const std::function<void()>& run) {
    const auto timed = [&] {
      const Clock::time_point start = Clock::now();
      run();
      return us_since(start);
    };
    (void)timed();
    const double warm_up = timed();
    const int runs = options.repeat > 0 ? options.repeat : runs_within(kBudgetUs, warm_up, 5, 100);
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) times.push_back(timed());
    return times;
  }

  // Staged by all threads into pinned memory, sent up and decoded.
  void run_from_host() {
    const CodecSubject& subject = *group().subject;
    Set& set = *sets_.front();
    const std::size_t room = rounded(staged_capacity(subject.jpeg.scan) + kStreamMargin);
    if (pinned_streams_.empty() || pinned_streams_.size_bytes() < room * images())
      pinned_streams_ =
          Image({static_cast<std::int64_t>(room), static_cast<std::int64_t>(images()), 1}, &pinned_);
    const HostPlane streams = pinned_streams_.view();
    std::vector<std::optional<StagedScan>> staged(images());
    std::vector<char> failed(images(), 0);
    crew_.run([&](int thread) {
      for (auto i = static_cast<std::size_t>(thread); i < images();
           i += static_cast<std::size_t>(crew_.count())) {
        auto* to = reinterpret_cast<std::byte*>(streams.row(static_cast<std::int64_t>(i)));
        try {
          staged[i] = stage_scan(subject.jpeg.scan, {to, room - kStreamMargin});
        } catch (const std::bad_alloc&) {
          failed[i] = 1;
        }
        if (!staged[i]) failed[i] = 1;
      }
    });
    if (std::ranges::count(failed, 1) > 0) throw Error(ErrorKind::input, "a scan could not be staged");
    for (std::size_t i = 0; i < images(); ++i) {
      set.tasks[i].entropy.staged = &*staged[i];
      copy_up(const_cast<std::byte*>(set.tasks[i].entropy.stream), streams.row(static_cast<std::int64_t>(i)),
              staged[i]->bytes);
    }
    for (auto [part, make] : {std::pair(&set.first, rung_->cuda), std::pair(&set.second, rung_->then)}) {
      part->make(make(set.tasks));
      const std::size_t bytes = part->run->memory().upload_bytes;
      Image& room_for_it = part == &set.first ? pinned_first_ : pinned_second_;
      if (room_for_it.empty() || room_for_it.size_bytes() < bytes)
        room_for_it = Image({std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes)), 1, 1}, &pinned_);
      auto* to = reinterpret_cast<std::byte*>(room_for_it.view().data);
      part->run->write_upload(to);
      copy_up(part->data(), to, bytes);
    }
    start(set);
    wait();
    for (CodecTask& task : set.tasks) task.entropy.staged = &staged_->scan();
  }

  CudaDevice device_;
  Crew crew_;
  std::unique_ptr<Stream> stream_;
  std::size_t rotating_bytes_ = 0;
  std::optional<NvjpegLibrary> nvjpeg_;

  const CodecRung* rung_ = nullptr;
  CodecWork work_ = CodecWork::entropy;
  Places places_;
  std::optional<StagedCopy> staged_;
  std::vector<std::unique_ptr<Set>> sets_;
  std::size_t next_set_ = 0;
  std::unique_ptr<NvjpegRun> nvjpeg_run_;
  std::vector<std::vector<std::byte>> results_;
  std::vector<Event> events_;
  PinnedMemory pinned_{PinnedMemory::When::at_once};
  Image pinned_streams_, pinned_first_, pinned_second_;
};

}  // namespace

std::unique_ptr<CodecLab> make_cuda_codec_lab(int index, int threads) {
  return std::make_unique<CudaCodecLab>(index, threads);
}

}  // namespace imgpipe
