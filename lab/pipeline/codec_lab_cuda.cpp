// Rungs of the codecs' ladders on a CUDA device, timed by events; what begins on the host by its clock.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "images/error.h"
#include "lab/kernels/delay.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/codec_sets.h"
#include "lab/pipeline/crew.h"
#include "lab/pipeline/nvjpeg_runs.h"
#include "lab/pipeline/toolkit_library.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/pinned_memory.h"

namespace imgpipe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kCudaCodecBudgetUs = 200'000;  // of a rung's timed runs
constexpr int kCodecBatch = 16;  // runs that are queued at a time: well below what a stream takes
constexpr std::size_t kMostCodecSets = 16;
constexpr double kSlowUs = 20'000;  // one such run warms up enough
constexpr int kWarmUps = 3;
constexpr std::int64_t kMostQueuedNs = 1'000'000;  // the first run also loads its kernels

std::size_t rounded_codec_bytes(std::size_t bytes) {
  constexpr std::size_t kBoundary = 256;
  return (bytes + kBoundary - 1) / kBoundary * kBoundary;
}

double codec_us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

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
    sets_.emplace(group(), rung, work, *stream_);
    sets_->add();
    if (rung.nvjpeg != Nvjpeg::none) {
      std::string refusal;
      nvjpeg_run_ = make_nvjpeg_run(rung, group(), (*sets_)[0].tasks, crew_, device_.index,
                                    *nvjpeg_->functions(), refusal);
      if (!nvjpeg_run_) return "nvJPEG: " + refusal;
      return nvjpeg_says(nvjpeg_run_->run());  // once, so that a refusal is none of the rung's
    }
    if (rung.from_host) return "";
    const std::size_t set_bytes = std::max<std::size_t>(1, sets_->bytes());
    const std::size_t count = std::clamp<std::size_t>(rotating_bytes_ / set_bytes + 1, 2, kMostCodecSets);
    while (sets_->count() < count) sets_->add();
    return "";
  }

  void run_once() override {
    CodecSet& set = (*sets_)[0];
    sets_->spoil(set);
    wait();
    if (nvjpeg_run_) {
      (void)nvjpeg_run_->run();
    } else if (rung_->from_host) {
      run_from_host();
    } else {
      start(set);
    }
    wait();
    results_.clear();
    for (const CodecSet::Part* part : {&set.first, &set.second}) {
      if (!part->run) continue;
      const GroupMemory& memory = part->run->memory();
      results_.emplace_back(memory.results_bytes);
      copy_down(results_.back().data(), part->data() + memory.results_offset, memory.results_bytes);
    }
    wait();
  }

  CodecAnswer answer(std::size_t image) override {
    CodecAnswer answer;
    const CodecSet& set = (*sets_)[0];
    const CodecTask& task = set.tasks[image];
    if (set.first.run) answer.in_order = set.first.run->in_order(image, results_.front().data());
    if (work_ == CodecWork::entropy) {
      answer.coefficients.resize(group().subject->coefficients.size());
      copy_down(answer.coefficients.data(), task.entropy.coefficients,
                answer.coefficients.size() * sizeof(std::int16_t));
    } else if (sets_->gives_pixels()) {
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
    const Clock::time_point start = Clock::now();
    queue_runs(1, 0);
    const std::int64_t queued_ns = (Clock::now() - start) / std::chrono::nanoseconds(1);
    std::vector<double> warm_ups;
    take_times(1, warm_ups);
    if (warm_ups.front() < kSlowUs) {
      queue_runs(kWarmUps, 0);
      take_times(kWarmUps, warm_ups);
    }
    const double run_us = *std::ranges::min_element(warm_ups);
    const int runs = options.repeat > 0 ? options.repeat : runs_within(kCudaCodecBudgetUs, run_us, 3, 100);
    std::vector<double> times;
    for (int done = 0; done < runs; done += kCodecBatch) {
      const int batch = std::min(kCodecBatch, runs - done);
      queue_runs(batch, std::min(queued_ns, kMostQueuedNs) * batch + 20'000);
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
    sets_.reset();
    results_.clear();
  }

 private:
  [[nodiscard]] std::size_t images() const { return group().images; }
  [[nodiscard]] const Image& picture() const { return group().subject->picture(rung_->pixels); }
  void wait() const { IMGPIPE_CUDA(cudaStreamSynchronize(stream_->get())); }
  void copy_up(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0) IMGPIPE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_->get()));
  }
  void copy_down(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0) IMGPIPE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_->get()));
  }
  [[nodiscard]] CudaLaunch launch() const { return {stream_->get(), device_.multiprocessors}; }
  static std::string nvjpeg_says(const std::string& text) { return text.empty() ? "" : "nvJPEG: " + text; }

  // ---- runs ----------------------------------------------------------------------------------------------

  void start(const CodecSet& set) const {
    for (const CodecSet::Part* part : {&set.first, &set.second}) {
      if (part->run) IMGPIPE_CUDA(static_cast<cudaError_t>(part->run->launch(part->data(), launch())));
    }
  }

  // Queues so many runs, each between two events, behind a delay that lasts until they are queued.
  void queue_runs(int runs, std::int64_t delay_ns) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(delay_cuda(launch(), delay_ns)));
    while (events_.size() < 2 * static_cast<std::size_t>(runs)) events_.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
      const CodecSet& set = (*sets_)[next_set_++ % sets_->count()];
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
      return codec_us_since(start);
    };
    (void)timed();
    const double warm_up = timed();
    const int runs = options.repeat > 0 ? options.repeat : runs_within(kCudaCodecBudgetUs, warm_up, 5, 100);
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) times.push_back(timed());
    return times;
  }

  // Staged by all threads into pinned memory, sent up and decoded.
  void run_from_host() {
    const CodecSubject& subject = *group().subject;
    CodecSet& set = (*sets_)[0];
    const std::size_t room = rounded_codec_bytes(staged_capacity(subject.jpeg.scan) + kStreamMargin);
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
    for (CodecTask& task : set.tasks) task.entropy.staged = &sets_->staged();
  }

  CudaDevice device_;
  Crew crew_;
  std::unique_ptr<Stream> stream_;
  std::size_t rotating_bytes_ = 0;
  std::optional<NvjpegLibrary> nvjpeg_;

  const CodecRung* rung_ = nullptr;
  CodecWork work_ = CodecWork::entropy;
  std::optional<CodecSets> sets_;
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
