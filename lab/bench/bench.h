// The lab's command: which rungs run over which images on which devices.
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
#include "lab/bench/own_kernels.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab.h"
#include "pipeline/device.h"

namespace imgpipe {

// An image that is made when it is first needed, grey or RGB.
class BenchInput {
 public:
  // A pattern of that size.
  BenchInput(const Pattern& pattern, Shape size);
  // A file. Throws Error(input) that names it. Alpha is left out.
  BenchInput(const std::string& path, const DecodeOptions& options);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Shape size() const { return size_; }
  // A grey file has no RGB.
  [[nodiscard]] bool has_rgb() const { return !file_ || file_->shape().channels == 3; }
  // A new image of 1 or 3 channels: of an RGB file grey is what `gray` makes of it, and samples of another
  // type are what `depth` makes of its own. Throws Error(memory) unless there is room for it and for what the
  // lab makes of it.
  [[nodiscard]] Image make(int channels, Sample sample = Sample::u8) const;
  // Of the ladders of jpeg: of a file that they take its own bytes, else the image encoded at kLabQuality.
  // `images`: that there must be room for.
  [[nodiscard]] std::shared_ptr<const CodecSubject> jpeg(std::size_t images) const;
  [[nodiscard]] std::shared_ptr<const CodecSubject> png(std::size_t images) const;

 private:
  void check_group(std::size_t images) const;

  std::string name_;
  Shape size_;
  Pattern pattern_;
  std::shared_ptr<const Image> file_;
  std::shared_ptr<const std::vector<std::byte>> jpeg_;  // of a file that is a JPEG
};

struct BenchRow {
  // What is known before the variant runs.
  BenchRow(std::string_view ladder, const Variant& rung, RungKind on, const BenchInput& over)
      : stage(ladder),
        variant(rung.name),
        input(over.name()),
        idea(rung.idea),
        origin(rung.origin),
        size(over.size()),
        kind(on),
        foreign(rung.foreign),
        production(rung.production) {}

  std::string stage, variant, input;
  std::string_view idea, origin;  // of its ladder's table
  Shape size;
  RungKind kind;
  bool foreign, production;
  std::int64_t bytes = 0;
  double copy_bandwidth = 0;  // of the device that ran it, bytes a second
  LabResult result;
  std::size_t images = 0;  // of a codec's ladder: in the group; `bytes` are of their entropy-coded data
  std::shared_ptr<const OwnFacts> own{};  // of a variant of --with

  // Bytes a second.
  [[nodiscard]] double rate() const { return 1e6 * static_cast<double>(bytes) / result.median_us(); }
  // Pixels a second.
  [[nodiscard]] double pixel_rate() const {
    return 1e6 * static_cast<double>(size.pixels()) * (images > 0 ? static_cast<double>(images) : 1) /
           result.median_us();
  }
};

// Runs rungs on the devices that were asked for. Once LabOptions::stop returns true, it runs no further ones.
class Bench {
 public:
  // Both outlive it. Throws Error(device) when a device asked for by name cannot be used, or when there is
  // none for the variants of --with; what OwnKernels::check() throws.
  Bench(const BenchOptions& options, OwnKernels& own);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // The devices, a line each, and why there is none where one could be.
  [[nodiscard]] std::vector<std::string> device_lines();
  [[nodiscard]] bool has_cuda() const { return cuda_ != nullptr; }
  [[nodiscard]] const std::string& why_no_cuda() const { return why_no_cuda_; }
  [[nodiscard]] int cuda_index() const { return cuda_index_; }
  [[nodiscard]] int threads() const { return threads_; }

  // Shows `what` as the work in progress. False: the bench is stopped, and the caller must not do that work.
  [[nodiscard]] bool begin(const std::string& what);
  [[nodiscard]] bool is_stopped() const { return options_.lab.is_stopped(); }
  // Removes what begin() has shown.
  void clear_progress() { progress_.clear(); }

  // The rungs of a ladder, of those that are `wanted`, that the devices run; rungs that cannot run say why.
  // Empty where the input has not what the stage takes. `done` hears of every row.
  [[nodiscard]] std::vector<BenchRow> run(const Ladder& ladder, const BenchInput& input,
                                          const std::function<bool(const Rung&)>& wanted,
                                          const std::function<void(const BenchRow&)>& done = {});
  // The ladder of transfers; empty without CUDA.
  [[nodiscard]] std::vector<BenchRow> run_transfers(const BenchInput& input,
                                                    const std::function<void(const BenchRow&)>& done = {});
  // A codec's ladder over a group of --group times the subject.
  [[nodiscard]] std::vector<BenchRow> run_codec(const CodecLadder& ladder, const BenchInput& input,
                                                const std::shared_ptr<const CodecSubject>& subject,
                                                const std::function<void(const BenchRow&)>& done = {});
  // Whether it would run any rung of it.
  [[nodiscard]] bool runs_any(const CodecLadder& ladder);
  // True when --variant names it, or names nothing.
  [[nodiscard]] bool wants(std::string_view variant) const;
  [[nodiscard]] bool wants(const Rung& rung) const;
  // The lab's, with the variants of --with.
  [[nodiscard]] const std::vector<Ladder>& ladders() const { return own_.ladders(); }

 private:
  void find_cuda();
  [[nodiscard]] bool begin(const BenchRow& row, std::size_t index, std::size_t count);
  // Has `run` measure row after row, by index, and returns those that were before the bench was stopped.
  [[nodiscard]] std::vector<BenchRow> measure(std::vector<BenchRow> rows,
                                              const std::function<void(const BenchRow&)>& done,
                                              const std::function<void(std::size_t, BenchRow&)>& run);
  [[nodiscard]] LabDevice* device_for(RungKind kind);
  [[nodiscard]] CodecLab* codec_lab_for(RungKind kind);

  const BenchOptions& options_;
  OwnKernels& own_;
  int threads_ = 1;
  int cuda_index_ = 0;
  RungKind slowest_ = RungKind::cpu;  // of the processor's rungs: reference alone, or threads too
  std::unique_ptr<LabDevice> cpu_, cuda_;
  std::unique_ptr<CodecLab> host_codecs_, cuda_codecs_;  // made when they are first needed
  std::string why_no_cuda_;
  Progress progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The inputs that the options name, or the pattern and size given here.
[[nodiscard]] std::vector<BenchInput> bench_inputs(const BenchOptions& options,
                                                   const std::vector<Shape>& usual_sizes,
                                                   const std::vector<std::string>& usual_patterns);

// Why this build's times would mean nothing; "" for optimised builds.
[[nodiscard]] std::string untimeable(const std::string& build_type);

// What a study or the ladders found, and how it looks.
struct BenchOutcome {
  std::vector<ResultTable> tables;
  std::string plot;                              // SVG; empty where there is nothing to draw
  bool all_right = true;                         // no rung broke its claim
  std::vector<std::vector<BenchRow>> ladders{};  // of the ladders: the rows of each table
};
using ShowTable = std::function<void(const ResultTable&)>;  // hears of each table as it is done

// The command. Throws Error or returns an exit code.
[[nodiscard]] int run_bench(const BenchOptions& options);

[[nodiscard]] BenchOutcome run_ladders(Bench& bench, const BenchOptions& options, const ShowTable& show);
// The ladders of codecs that were asked for: a table each.
void run_codec_ladders(Bench& bench, const BenchOptions& options,
                       const std::function<void(const std::vector<BenchRow>&)>& take,
                       const std::function<void(const BenchRow&)>& say);
[[nodiscard]] BenchOutcome study_colors(Bench& bench, const BenchOptions& options, const ShowTable& show);
[[nodiscard]] BenchOutcome study_contention(Bench& bench, const BenchOptions& options, const ShowTable& show);
[[nodiscard]] BenchOutcome study_crossover(Bench& bench, const BenchOptions& options, const ShowTable& show);
[[nodiscard]] BenchOutcome study_pipeline(Bench& bench, const BenchOptions& options, const ShowTable& show);

// For every group of 32 neighbouring pixels of a grey image the count of its most frequent value: their mean.
// A warp whose lanes want one counter at a time takes so many turns.
[[nodiscard]] double mean_collisions(const Image& grey);

}  // namespace imgpipe
