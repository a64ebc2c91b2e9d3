#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "images/error.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/codec_sets.h"
#include "lab/pipeline/nvjpeg_runs.h"
#include "lab/pipeline/thread_team.h"
#include "lab/pipeline/timed_device.h"
#include "lab/pipeline/toolkit_library.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/pinned_memory.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxCodecSets = 16;

class CudaCodecLab final : public CodecLab {
 public:
  CudaCodecLab(int index, int threads) : device_(index), crew_(threads) { pinned_.use_device(index); }

 protected:
  std::string begin(const CodecVariant& variant, CodecWork work) override {
    variant_ = &variant;
    work_ = work;
    if (variant.nvjpeg != Nvjpeg::none && !nvjpeg_) nvjpeg_.emplace();
    if (variant.nvjpeg != Nvjpeg::none && nvjpeg_->functions() == nullptr) return nvjpeg_->missing();
    sets_.emplace(group(), variant, work, device_);
    sets_->add();
    if (variant.nvjpeg != Nvjpeg::none) {
      std::string refusal;
      nvjpeg_run_ = make_nvjpeg_run(variant, group(), (*sets_)[0].tasks, crew_, device_.info().index,
                                    *nvjpeg_->functions(), refusal);
      if (!nvjpeg_run_) return "nvJPEG: " + refusal;
      return nvjpeg_says(nvjpeg_run_->run());  // a trial, so that a refusal is not a wrong result
    }
    if (variant.from_host) return "";
    const std::size_t set_bytes = std::max<std::size_t>(1, sets_->bytes());
    const std::size_t count =
        std::clamp<std::size_t>(device_.rotating_bytes() / set_bytes + 1, 2, kMaxCodecSets);
    while (sets_->count() < count) sets_->add();
    return "";
  }

  void run_once() override {
    CodecSet& set = (*sets_)[0];
    sets_->spoil(set);
    device_.wait();
    if (nvjpeg_run_) {
      (void)nvjpeg_run_->run();
    } else if (variant_->from_host) {
      run_from_host();
    } else {
      start(set);
    }
    device_.wait();
    results_.clear();
    for (const CodecSet::Part* part : {&set.first, &set.second}) {
      if (!part->run) continue;
      const GroupMemory& memory = part->run->memory();
      results_.emplace_back(memory.results_bytes);
      device_.copy_down(results_.back().data(), part->data() + memory.results_offset, memory.results_bytes);
    }
    device_.wait();
  }

  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    const CodecSet& set = (*sets_)[0];
    const CodecTask& task = set.tasks[image];
    if (set.first.run) answer.is_intact = set.first.run->is_intact(image, results_.front().data());
    if (work_ == CodecWork::entropy) {
      answer.coefficients.resize(group().subject->coefficients.size());
      device_.copy_down(answer.coefficients.data(), task.entropy.coefficients,
                        answer.coefficients.size() * sizeof(std::int16_t));
    } else if (sets_->gives_pixels()) {
      answer.pixels = Image(picture().shape());
      const auto& planes = task.reconstruction;
      copy_to_host(answer.pixels.view(), planes.grey.empty() ? planes.pixels : planes.grey, device_.stream());
      if (planes.counts != nullptr) {
        answer.counts.resize(group().subject->counts.size());
        device_.copy_down(answer.counts.data(), planes.counts, answer.counts.size() * sizeof(std::uint64_t));
      }
    } else if (nvjpeg_run_) {
      answer.parts.push_back({.bytes = nvjpeg_run_->file(image)});
    } else {
      for (const CodedPart& part : set.first.run->parts(image, results_.front().data())) {
        CodecOutput::Part& copy = answer.parts.emplace_back();
        copy.adler = part.adler;
        copy.filtered = part.filtered;
        if (part.offset > set.first.run->memory().bytes ||
            part.bytes > set.first.run->memory().bytes - part.offset)
          continue;  // out of bounds: no bytes, so the check fails
        copy.bytes.resize(part.bytes);
        device_.copy_down(copy.bytes.data(), set.first.data() + part.offset, part.bytes);
      }
    }
    device_.wait();
    return answer;
  }

  std::vector<double> time_us(const LabOptions& options) override {
    constexpr RunRule kFromHost{.budget_us = 200'000, .least = 5, .warm_ups = 2};
    if (nvjpeg_run_) return times_by_clock(options, kFromHost, [&] { (void)nvjpeg_run_->run(); });
    if (variant_->from_host) return times_by_clock(options, kFromHost, [&] { run_from_host(); });
    // The first run also loads its kernels.
    constexpr QueueRule kQueued{
        .warm_ups = 1, .more_warm_ups = 3, .least = 3, .most = 100, .batch = 16, .max_queued_ns = 1'000'000};
    return device_.times_of_queued(options, kQueued, [&] { start((*sets_)[next_set_++ % sets_->count()]); });
  }

  [[nodiscard]] std::string grid_text() const override {
    if (!variant_->all_threads && !variant_->from_host) return nvjpeg_run_ ? "1 thread" : "own";
    return threads_text(crew_.count());
  }

  void end() override {
    nvjpeg_run_.reset();
    sets_.reset();
    results_.clear();
  }

 private:
  [[nodiscard]] std::size_t images() const { return group().images; }
  [[nodiscard]] const Image& picture() const { return group().subject->picture(variant_->pixels); }
  static std::string nvjpeg_says(const std::string& text) { return text.empty() ? "" : "nvJPEG: " + text; }

  void start(const CodecSet& set) const {
    for (const CodecSet::Part* part : {&set.first, &set.second}) {
      if (part->run)
        IMGPIPE_CUDA(static_cast<cudaError_t>(part->run->launch(part->data(), device_.launch())));
    }
  }

  // Stages the scans into pinned memory with all threads, uploads and decodes them.
  void run_from_host() {
    const CodecSubject& subject = *group().subject;
    CodecSet& set = (*sets_)[0];
    const std::size_t capacity =
        aligned_bytes(staged_capacity(subject.jpeg.scan) + kStreamMargin, kCodecAlignment);
    if (pinned_streams_.empty() || pinned_streams_.size_bytes() < capacity * images())
      pinned_streams_ =
          Image({static_cast<std::int64_t>(capacity), static_cast<std::int64_t>(images()), 1}, &pinned_);
    const HostPlane streams = pinned_streams_.view();
    std::vector<std::optional<StagedScan>> staged(images());
    std::vector<char> failed(images(), 0);
    crew_.run([&](int thread) {
      for (auto i = static_cast<std::size_t>(thread); i < images();
           i += static_cast<std::size_t>(crew_.count())) {
        auto* to = reinterpret_cast<std::byte*>(streams.row(static_cast<std::int64_t>(i)));
        try {
          staged[i] = stage_scan(subject.jpeg.scan, {to, capacity - kStreamMargin});
        } catch (const std::bad_alloc&) {
          failed[i] = 1;
        }
        if (!staged[i]) failed[i] = 1;
      }
    });
    if (std::ranges::count(failed, 1) > 0) throw Error(ErrorKind::input, "a scan could not be staged");
    for (std::size_t i = 0; i < images(); ++i) {
      set.tasks[i].entropy.staged = &*staged[i];
      device_.copy_up(const_cast<std::byte*>(set.tasks[i].entropy.stream),
                      streams.row(static_cast<std::int64_t>(i)), staged[i]->bytes);
    }
    for (auto [part, make] :
         {std::pair(&set.first, variant_->cuda), std::pair(&set.second, variant_->then)}) {
      part->make(make(set.tasks));
      const std::size_t bytes = part->run->memory().upload_bytes;
      Image& room_for_it = part == &set.first ? pinned_first_ : pinned_second_;
      if (room_for_it.empty() || room_for_it.size_bytes() < bytes)
        room_for_it = Image({std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes)), 1, 1}, &pinned_);
      auto* to = reinterpret_cast<std::byte*>(room_for_it.view().data);
      part->run->write_upload(to);
      device_.copy_up(part->data(), to, bytes);
    }
    start(set);
    device_.wait();
    for (CodecTask& task : set.tasks) task.entropy.staged = &sets_->staged();
  }

  TimedDevice device_;
  ThreadTeam crew_;
  std::optional<NvjpegLibrary> nvjpeg_;

  const CodecVariant* variant_ = nullptr;
  CodecWork work_ = CodecWork::entropy;
  std::optional<CodecSets> sets_;
  std::size_t next_set_ = 0;
  std::unique_ptr<NvjpegRun> nvjpeg_run_;
  std::vector<std::vector<std::byte>> results_;
  PinnedMemory pinned_{PinnedMemory::When::at_once};
  Image pinned_streams_, pinned_first_, pinned_second_;
};

}  // namespace

std::unique_ptr<CodecLab> make_cuda_codec_lab(int index, int threads) {
  return std::make_unique<CudaCodecLab>(index, threads);
}

}  // namespace imgpipe
