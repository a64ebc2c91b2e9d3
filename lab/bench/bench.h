// The lab's command: runs variants over images on devices.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/progress.h"
#include "app/report/result_table.h"
#include "lab/bench/bench_options.h"
#include "lab/bench/user_kernels.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab.h"
#include "pipeline/device.h"

namespace imgpipe {

// A pattern, generated when needed, or a file; grey or RGB.
class BenchInput {
 public:
  BenchInput(const Pattern& pattern, Shape size);
  // Reads a file without its alpha. Throws Error(input) that names it.
  BenchInput(const std::string& path, const DecodeOptions& options);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Shape size() const { return size_; }
  // False for a grey file.
  [[nodiscard]] bool has_rgb() const { return !file_ || file_->shape().channels == 3; }
  // Returns a new image of 1 or 3 channels. `gray` converts an RGB file to grey; `depth` converts samples.
  // Throws Error(memory) unless the image and the lab's copies of it fit.
  [[nodiscard]] Image make(int channels, Sample sample = Sample::u8) const;
  // Returns, for the jpeg ladders, the file's own bytes if these ladders accept them, else the image encoded
  // at kLabQuality. Throws Error(memory) unless `images` copies fit.
  [[nodiscard]] std::shared_ptr<const CodecSubject> jpeg(std::size_t images) const;
  [[nodiscard]] std::shared_ptr<const CodecSubject> png(std::size_t images) const;

 private:
  void check_group(std::size_t images) const;

  std::string name_;
  Shape size_;
  Pattern pattern_;
  std::shared_ptr<const Image> file_;
  std::shared_ptr<const std::vector<std::byte>> jpeg_;  // the bytes of a JPEG file
};

struct BenchRow {
  BenchRow(std::string_view ladder, const Variant& stage_variant, VariantKind on, const BenchInput& over)
      : stage(ladder),
        variant(stage_variant.name),
        input(over.name()),
        idea(stage_variant.idea),
        origin(stage_variant.origin),
        size(over.size()),
        kind(on),
        foreign(stage_variant.foreign),
        production(stage_variant.production) {}

  std::string stage, variant, input;
  std::string_view idea, origin;  // from its ladder's table
  Shape size;
  VariantKind kind;
  bool foreign, production;
  std::int64_t bytes = 0;
  double copy_bandwidth = 0;  // of the device that ran it, in bytes per second
  LabResult result;
  std::size_t images = 0;  // codecs: in the group; `bytes` then counts their entropy-coded data
  std::shared_ptr<const UserVariantFacts> own{};  // for a variant of --with

  // Bytes per second.
  [[nodiscard]] double rate() const { return 1e6 * static_cast<double>(bytes) / result.median_us(); }
  // Pixels per second.
  [[nodiscard]] double pixel_rate() const {
    return 1e6 * static_cast<double>(size.pixels()) * (images > 0 ? static_cast<double>(images) : 1) /
           result.median_us();
  }
};

// Runs variants on the requested devices, until LabOptions::stop returns true.
class Bench {
 public:
  // The arguments must outlive it. Throws Error(device) if a device requested by name cannot be used, or if
  // the variants of --with have no device; throws what UserKernels::check() throws.
  Bench(const BenchOptions& options, UserKernels& own);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // Returns one line per device, and one that states why no CUDA device is usable.
  [[nodiscard]] std::vector<std::string> device_lines();
  [[nodiscard]] bool has_cuda() const { return cuda_ != nullptr; }
  [[nodiscard]] const std::string& cuda_unavailable_reason() const { return cuda_unavailable_reason_; }
  [[nodiscard]] int cuda_index() const { return cuda_index_; }
  [[nodiscard]] int threads() const { return threads_; }

  // Shows `what` as in progress. Returns false once the bench is stopped; the caller then skips the work.
  [[nodiscard]] bool begin(const std::string& what);
  [[nodiscard]] bool is_stopped() const { return options_.lab.is_stopped(); }
  void clear_progress() { progress_.clear(); }

  // Runs the variants of a ladder that `wanted` selects and the devices support; a row states why its variant
  // could not run. Returns no rows if the input lacks the stage's channels. Calls `done` with every row.
  [[nodiscard]] std::vector<BenchRow> run(const Ladder& ladder, const BenchInput& input,
                                          const std::function<bool(const StageVariant&)>& wanted,
                                          const std::function<void(const BenchRow&)>& done = {});
  // Runs the ladder of transfers; returns no rows without CUDA or RGB.
  [[nodiscard]] std::vector<BenchRow> run_transfers(const BenchInput& input,
                                                    const std::function<void(const BenchRow&)>& done = {});
  // Runs a codec's ladder over --group copies of the subject.
  [[nodiscard]] std::vector<BenchRow> run_codec(const CodecLadder& ladder, const BenchInput& input,
                                                const std::shared_ptr<const CodecSubject>& subject,
                                                const std::function<void(const BenchRow&)>& done = {});
  // Whether it would run any variant of the ladder.
  [[nodiscard]] bool runs_any(const CodecLadder& ladder);
  // Whether --variant is absent or names the given variant.
  [[nodiscard]] bool wants(std::string_view variant) const;
  [[nodiscard]] bool wants(const StageVariant& stage_variant) const;
  // The lab's ladders, including the variants of --with.
  [[nodiscard]] const std::vector<Ladder>& ladders() const { return own_.ladders(); }

 private:
  void find_cuda();
  [[nodiscard]] bool begin(const BenchRow& row, std::size_t index, std::size_t count);
  // Calls `run` with each index and row; returns the rows completed before the bench was stopped.
  [[nodiscard]] std::vector<BenchRow> measure(std::vector<BenchRow> rows,
                                              const std::function<void(const BenchRow&)>& done,
                                              const std::function<void(std::size_t, BenchRow&)>& run);
  [[nodiscard]] LabDevice* device_for(VariantKind kind);
  [[nodiscard]] CodecLab* codec_lab_for(VariantKind kind);

  const BenchOptions& options_;
  UserKernels& own_;
  int threads_ = 1;
  int cuda_index_ = 0;
  VariantKind slowest_ =
      VariantKind::cpu;  // the slowest kind of host variant to run: only the reference, or threaded ones too
  std::unique_ptr<LabDevice> cpu_, cuda_;
  std::unique_ptr<CodecLab> host_codecs_, cuda_codecs_;  // created when first needed
  std::string cuda_unavailable_reason_;
  Progress progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Returns the inputs that the options name, or the given patterns and sizes.
[[nodiscard]] std::vector<BenchInput> bench_inputs(const BenchOptions& options,
                                                   const std::vector<Shape>& usual_sizes,
                                                   const std::vector<std::string>& usual_patterns);

// Returns why this build's times would be meaningless; "" for optimised builds.
[[nodiscard]] std::string untimeable(const std::string& build_type);

// The result of a study or of the ladders.
struct BenchOutcome {
  std::vector<ResultTable> tables;
  std::string plot;                              // SVG; empty if there is nothing to draw
  bool all_right = true;                         // no variant broke its claim
  std::vector<std::vector<BenchRow>> ladders{};  // the rows of each ladder's table
};
using ShowTable = std::function<void(const ResultTable&)>;  // called with each complete table

// Runs the command. Throws Error or returns an exit code.
[[nodiscard]] int run_bench(const BenchOptions& options);

[[nodiscard]] BenchOutcome run_ladders(Bench& bench, const BenchOptions& options, const ShowTable& show);
// Runs the requested ladders of codecs, with one table each.
void run_codec_ladders(Bench& bench, const BenchOptions& options,
                       const std::function<void(const std::vector<BenchRow>&)>& take,
                       const std::function<void(const BenchRow&)>& say);
[[nodiscard]] BenchOutcome study_colors(Bench& bench, const BenchOptions& options, const ShowTable& show);
[[nodiscard]] BenchOutcome study_contention(Bench& bench, const BenchOptions& options, const ShowTable& show);
[[nodiscard]] BenchOutcome study_crossover(Bench& bench, const BenchOptions& options, const ShowTable& show);
[[nodiscard]] BenchOutcome study_pipeline(Bench& bench, const BenchOptions& options, const ShowTable& show);

// Returns the mean count of the most frequent value in each group of 32 neighbouring pixels. If lanes of a
// warp need the same counter, the warp accesses it once per lane.
[[nodiscard]] double mean_collisions(const Image& grey);

}  // namespace imgpipe
