// The items of one input, one after the other, through one engine, in the calling thread: the file as a
// whole, one of its pages, several, or the images of a stream (images/formats/image_stream.h).
//
//   open      a single item: read, its header, its plan. Of several: the list of pages, every header checked,
//             names of outputs. Nothing is written yet
//   measure   with contrast:range=series: every page as it comes to that step is counted, and the step
//             becomes a levels step of all pages' range. Pages are read again for each such step
//   run       item by item: read, decode, stages, encode, write
//   finish    a stack's file is put in place
//
// At no time is more held than one item with what its stages need. Where a page fails, none is written: a
// stack's file was never in place, and files of pages that this run has written are removed.
//
// Of a stream open() sees the first image that is requested, and run() takes one after the other, so that
// their headers and names are checked one by one; there is nothing to measure. The images written before a
// failure stay, because the stream cannot be read again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "images/formats/page_list.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/jobs/page_selection.h"
#include "pipeline/timeline.h"

namespace imgpipe {

struct PageRequest {
  PageSelection selection;
  std::vector<std::size_t> series_steps;  // of ImageSettings::stages, each a contrast
};

// An item that is written. Its name is that of the job's input: "in.tif, page 3".
struct ItemDone {
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
  // The names of `files` are those of the whole input and output. `settings` stays where it is. Without
  // `request` the item is the whole file. Each item has a copy of `timeline`.
  InputJob(ImageFiles files, const ImageSettings& settings, std::optional<PageRequest> request,
           InputKind kind, Timeline timeline);
  InputJob(const InputJob&) = delete;
  InputJob& operator=(const InputJob&) = delete;

  // One item, which open() opens: a whole file, or one page by its number outside a batch.
  [[nodiscard]] bool is_single() const;
  // Called for each of several items, with its plan and header, before anything is written; of a stream
  // before that image is. Not called again for an item like the one before.
  using Check = std::function<void(const Plan&, const ImageHeader&)>;
  // Called with the damage that the list of pages tolerated, after the input's name.
  using Warn = std::function<void(const std::string&)>;
  // Throws Error(input), Error(usage), Error(memory), with the name of what it is about.
  void open(const Check& check, const Warn& warn);
  // After open(): the single item, with its plan.
  [[nodiscard]] ImageJob& single() { return *single_; }
  // Calls `counted` after each page of each step. Throws as Engine's outcomes do.
  void measure(Engine& engine, const std::function<void(const ImageHeader&)>& counted = {});
  // Called for each item.
  struct Hooks {
    // When the output of a single item is known, before its memory is checked.
    std::function<void(ImageJob&)> has_output = [](ImageJob&) {};
    // Just before it runs, when its output is known: what else the engine is to keep.
    std::function<Job(ImageJob&)> begin = without_pixels;
    // Before the last byte of its output is written.
    std::function<void(ImageJob&)> ran = [](ImageJob&) {};
    std::function<void(ItemDone&)> done = [](ItemDone&) {};
  };
  void run(Engine& engine, const Hooks& hooks);
  void finish();

  // The most bytes that an item may need; 0: no limit.
  void set_most_bytes(std::int64_t bytes) { most_bytes_ = bytes; }

  [[nodiscard]] bool is_stream() const { return list_ && list_->stream() != nullptr; }
  // Bytes of a stream that are not images and were skipped (images/formats/image_stream.h).
  [[nodiscard]] std::int64_t passed_over_bytes() const {
    return is_stream() ? list_->stream()->passed_over_bytes() : 0;
  }
  // Of a stream: as many as were read.
  [[nodiscard]] std::int64_t pages_in_file() const {
    return is_stream() ? list_->stream()->images() : list_->size();
  }
  [[nodiscard]] const PageRange& range() const { return range_; }
  [[nodiscard]] bool makes_stack() const { return stack_ != nullptr; }
  // Whether each page has a file of its own; else they are a stack, or one after another on a stream.
  [[nodiscard]] bool makes_files() const;
  [[nodiscard]] const ImageHeader& first_header() const { return first_header_; }
  [[nodiscard]] std::int64_t most_pixels() const { return most_pixels_; }              // of an item
  [[nodiscard]] std::int64_t most_needed_bytes() const { return most_needed_bytes_; }  // by a page so far
  // Of the single item; else of the input.
  [[nodiscard]] std::int64_t input_bytes() const {
    return single_ ? single_->input_bytes() : list_->size_bytes();
  }
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }
  // The steps as they run, after measure().
  [[nodiscard]] const std::vector<StageRequest>& stages() const { return settings_.stages; }
  // The file of page `number`.
  [[nodiscard]] std::string output_of(std::int64_t number) const;

 private:
  [[nodiscard]] static Job without_pixels(ImageJob&);
  [[nodiscard]] std::string name_of(std::int64_t number) const;
  void make_list();
  void open_single(const Warn& warn);
  [[nodiscard]] InputFile take_page(ImageJob& job, const Warn& warn);
  void open_stream();
  void skip_to(std::int64_t wanted);
  [[nodiscard]] InputFile take_image();
  [[nodiscard]] bool is_last(std::int64_t number);
  void refuse_end() const;
  void check_pages();
  void check_page(const ImageHeader& header, const Plan& plan);
  [[nodiscard]] Plan plan_of(const ImageHeader& header) const;
  [[nodiscard]] std::int64_t most_bytes_in_stack(const InputFile& page, const Shape& output) const;
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
  std::int64_t most_bytes_ = 0, most_needed_bytes_ = 0;
  std::optional<ImageJob> single_;
  std::unique_ptr<PageList> list_;  // without a request: none
  Check check_;
  std::vector<StageRequest>
      checked_stages_;              // the steps as they will run, but for a range that is not known yet
  std::optional<Shape> checked_;    // the page before
  std::optional<InputFile> image_;  // of a stream, the one that run() begins with
  std::int64_t image_at_ = 0;       // of a stream, where the current image begins
  bool to_stream_ = false;          // pages go one after another to a descriptor
  PageRange range_;
  ImageHeader first_header_;
  std::int64_t most_pixels_ = 0;
  std::int64_t output_bytes_ = 0;
  std::unique_ptr<PageStack> stack_;
  std::int64_t written_ = 0;  // the last page that has a file of its own; 0: none
};

}  // namespace imgpipe
