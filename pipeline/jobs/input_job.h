// Processes the items of one input in order, through one engine, in the calling thread. Items are the whole
// file, one or several of its pages, the bands of a TIFF, or the images of a stream
// (images/formats/image_stream.h).
//
//   open      a single item: reads it, its header, its plan. Several: lists the pages, checks every header
//             and the names of outputs. Writes nothing
//   measure   for contrast:range=series: counts every page as it reaches that step, which becomes a levels
//             step with the range of all pages. Reads pages again for each such step
//   run       per item: reads, decodes, runs stages, encodes, writes
//   finish    puts a stack's file in place
//
// Only one item and the memory of its stages are held at a time. If a page fails, no output remains: a
// stack's file is not put in place, and files of pages written by this run are removed.
//
// With DecodeOptions::bands_of_page the pages are bands, which become the planes of one TIFF.
//
// For a stream, open() sees the first requested image; run() checks headers and names one by one, and there
// is nothing to measure. Images written before a failure stay, as the stream cannot be read again.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "images/formats/page_list.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/combine_job.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/jobs/page_selection.h"
#include "pipeline/timeline.h"

namespace imgpipe {

struct PageRequest {
  PageSelection selection;
  std::vector<std::size_t> series_steps;  // indices into ImageSettings::stages, each a contrast
};

// A written item. Its name is that of the job's input: "in.tif, page 3".
struct FinishedItem {
  std::int64_t number = 1;
  ImageJob& job;
  Outcome& outcome;
};

// Detects notes that an earlier page had already.
class PageNotes {
 public:
  // Compares the subject and the text after the name.
  [[nodiscard]] bool is_new(const ImageNote& note);

 private:
  std::set<std::pair<ImageNote::About, std::string>> said_;
};

class InputJob {
 public:
  // `files` names the whole input and output. `settings` must outlive this. Without `request` the item is the
  // whole file. Each item has a copy of `timeline`.
  InputJob(ImageFiles files, const ImageSettings& settings, std::optional<PageRequest> request,
           InputKind kind, Timeline timeline);
  InputJob(const InputJob&) = delete;
  InputJob& operator=(const InputJob&) = delete;

  // Called before open(): the single item is the projection of `projection`, which must outlive this. Its
  // combine() must be called before run() reads it, at the latest in Hooks::begin.
  void set_combined(CombineJob& projection) { combined_ = &projection; }

  // Whether there is a single item, which open() opens: a whole file, or one page selected by number, outside
  // a batch and without contrast:range=series.
  [[nodiscard]] bool is_single() const;
  // Called for each of several items with its plan and header, before anything is written; for a stream,
  // before that image is written. Skipped for an item with the same shape as the previous one.
  using Check = std::function<void(const Plan&, const ImageHeader&)>;
  // Called with a warning about the whole file, which begins with the input's name: damage tolerated in its
  // list of pages, or further images.
  using Warn = std::function<void(const std::string&)>;
  // Throws Error(input), Error(usage) or Error(memory), with the name of the file or page concerned.
  void open(const Check& check, const Warn& warn);
  // After open(): the single item, with its plan.
  [[nodiscard]] ImageJob& single() { return *single_; }
  // Calls `counted` after each page of each step. Throws the errors of Engine's outcomes.
  void measure(Engine& engine, const std::function<void(const ImageHeader&)>& counted = {});
  struct Hooks {
    // Called when the output of a single item is known, before its memory is checked.
    std::function<void(ImageJob&)> has_output = [](ImageJob&) {};
    // Called just before the item runs; returns what else the engine must keep.
    std::function<Job(ImageJob&)> begin = without_pixels;
    // Called before the last byte of the item's output is written.
    std::function<void(ImageJob&)> ran = [](ImageJob&) {};
    std::function<void(FinishedItem&)> done = [](FinishedItem&) {};
  };
  void run(Engine& engine, const Hooks& hooks);
  void finish();

  // The most bytes that an item may need; 0: no limit.
  void set_max_bytes(std::int64_t bytes) { max_bytes_ = bytes; }

  [[nodiscard]] bool is_stream() const { return list_ && list_->stream() != nullptr; }
  // Bytes of a stream that are not images and were skipped (images/formats/image_stream.h).
  [[nodiscard]] std::int64_t skipped_bytes() const {
    return is_stream() ? list_->stream()->skipped_bytes() : 0;
  }
  // The number of pages in the file; for a stream, the number of images read so far.
  [[nodiscard]] std::int64_t pages_in_file() const {
    return is_stream() ? list_->stream()->images() : list_->size();
  }
  [[nodiscard]] const PageRange& range() const { return range_; }
  [[nodiscard]] const char* page_unit() const { return makes_planes() ? "band" : "page"; }
  [[nodiscard]] bool makes_stack() const { return stack_ != nullptr; }
  // Whether each page has a file of its own; otherwise they form a stack or are concatenated on a stream.
  [[nodiscard]] bool makes_files() const;
  [[nodiscard]] const ImageHeader& first_header() const { return first_header_; }
  [[nodiscard]] std::int64_t max_pixels() const { return max_pixels_; }              // of one item
  [[nodiscard]] std::int64_t max_needed_bytes() const { return max_needed_bytes_; }  // of one page, so far
  // The bytes of the single item, or of the input.
  [[nodiscard]] std::int64_t input_bytes() const {
    return single_ ? single_->input_bytes() : list_->size_bytes();
  }
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }
  // After finish(), with ImageSettings::hash: of the whole input, a stream without its bytes; and of the
  // single output, or of the stack, whose pixels are those of all pages. Files of pages have theirs in the
  // jobs.
  [[nodiscard]] FileHashes input_hashes() const;
  [[nodiscard]] FileHashes output_hashes() const;
  [[nodiscard]] std::vector<FileHashes> also_hashes() const;
  // After measure(): the steps as they run.
  [[nodiscard]] const std::vector<StageRequest>& stages() const { return settings_.stages; }
  [[nodiscard]] std::string output_of(std::int64_t number) const;
  // The same for the outputs of ImageSettings::also.
  [[nodiscard]] std::vector<std::string> also_outputs_of(std::int64_t number) const;

 private:
  [[nodiscard]] static Job without_pixels(ImageJob&);
  [[nodiscard]] std::string name_of(std::int64_t number) const;
  [[nodiscard]] bool makes_planes() const { return settings_.decode.bands_of_page.has_value(); }
  void check_planes();
  void make_list();
  void hash_stacks();
  void open_single(const Warn& warn);
  void open_combined(const Warn& warn);
  [[nodiscard]] InputFile take_page(ImageJob& job, const Warn& warn);
  void open_stream();
  void skip_to(std::int64_t wanted);
  [[nodiscard]] InputFile take_image();
  [[nodiscard]] bool is_last(std::int64_t number);
  void throw_missing_pages() const;
  void check_pages();
  void check_page(const ImageHeader& header, const Plan& plan);
  // A stack has 32-bit offsets unless it may exceed this.
  static constexpr std::int64_t kMaxClassicBytes = std::numeric_limits<std::uint32_t>::max();
  static void check_memory(std::int64_t need, std::int64_t most);
  [[nodiscard]] static std::vector<Shape> result_shapes(const Plan& plan);
  [[nodiscard]] ImageHeader header_of(const InputFile& page) const;
  [[nodiscard]] Plan plan_of(const ImageHeader& header) const;
  [[nodiscard]] std::string path_of(const std::string& output, std::int64_t number) const;
  [[nodiscard]] std::int64_t max_bytes_in_stack(const InputFile& page,
                                                const std::vector<Shape>& outputs) const;
  void check_outputs();
  void measure_step(Engine& engine, std::size_t step, const std::function<void(const ImageHeader&)>& counted);
  void begin(ImageJob& job, std::int64_t number, const Engine& engine);
  void run_single(Engine& engine, const Hooks& hooks);
  void run_stream(Engine& engine, const Hooks& hooks);
  void do_page(Engine& engine, std::int64_t number, const Hooks& hooks);
  void run_item(Engine& engine, ImageJob& job, std::int64_t number, const Hooks& hooks);
  void remove_written() noexcept;

  ImageFiles files_;
  ImageSettings settings_;
  std::optional<PageRequest> request_;
  InputKind kind_;
  Timeline timeline_;
  std::int64_t max_bytes_ = 0, max_needed_bytes_ = 0;
  CombineJob* combined_ = nullptr;
  std::optional<ImageJob> single_;
  std::unique_ptr<PageList> list_;  // none for a whole file
  Check check_;
  std::vector<StageRequest> checked_stages_;  // to run, up to a trim, with placeholders for unknown ranges
  std::optional<Shape> checked_;              // the shape of the previous page
  std::optional<InputFile> image_;            // for a stream: the image that run() begins with
  std::int64_t image_at_ = 0;                 // for a stream: offset of the current image
  bool to_stream_ = false;                    // pages are concatenated on a descriptor
  PageRange range_;
  ImageHeader first_header_;
  std::int64_t max_pixels_ = 0;
  std::int64_t output_bytes_ = 0;
  std::string input_hash_;  // if the items are parts of the input
  std::unique_ptr<PageStack> stack_;
  std::vector<std::unique_ptr<PageStack>> also_stacks_;  // of files_.also, with stack_
  std::int64_t written_ = 0;  // the last page written to a file of its own; 0: none
};

}  // namespace imgpipe
