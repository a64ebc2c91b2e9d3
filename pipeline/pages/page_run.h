// The pages of one input, one after the other, through one engine.
//
//   open      the list of pages, every header judged, names of outputs: nothing is written yet
//   measure   with contrast:range=series: every page as it comes to that step is counted, and the step
//             becomes a levels step of all pages' range. Pages are read again for each such step
//   run       page by page: read, decode, stages, encode, write
//   finish    a stack's file is put in place
//
// At no time is more held than one page with what its stages need. Where a page fails, none is written: a
// stack's file was never in place, and files of pages that this run has written are removed.
//
// Of a stream of images (images/formats/image_stream.h) open() sees the first that is wanted, and run() takes
// one after the other, so that their headers and names are judged one by one; there is nothing to measure.
// What was written of it stays, because it cannot be had again.
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
#include "pipeline/image_job.h"
#include "pipeline/pages/page_selection.h"
#include "pipeline/timeline.h"

namespace imgpipe {

struct PageWish {
  PageSelection selection;
  std::vector<std::size_t> series_steps;  // of ImageSettings::stages, each a contrast
};

// A page that has gone through.
struct PageDone {
  std::int64_t number = 1;
  std::string name;  // "in.tif, page 3", printable
  ImageJob& job;
  Outcome& outcome;
};

// Tells what was said of a page before from what is new.
class PageNotes {
 public:
  // By what it is about and what it says, the name in front aside.
  [[nodiscard]] bool is_new(const ImageNote& note);

 private:
  std::set<std::pair<ImageNote::About, std::string>> said_;
};

class PageRun {
 public:
  // The names of `files` are those of the whole input and output. `settings` stays where it is.
  PageRun(ImageFiles files, const ImageSettings& settings, PageWish wish, InputKind kind,
          Timeline::Clock::time_point start);
  PageRun(const PageRun&) = delete;
  PageRun& operator=(const PageRun&) = delete;

  // Asked for each page, with its header and plan, before anything is written; of a stream before that page
  // is. Pages like the one before are not asked for again.
  using Judge = std::function<void(const Plan&, const ImageHeader&)>;
  // Throws Error(input), Error(usage), Error(memory), with the name of what it is about.
  void open(const Judge& judge);
  // Calls `counted` after each page of each step. Throws as Engine's outcomes do.
  void measure(Engine& engine, const std::function<void(const ImageHeader&)>& counted = {});
  struct Hooks {
    std::function<Job()> wishes = [] {
      Job job;
      job.keep_pixels = false;
      return job;
    };
    std::function<void(PageDone&)> done = [](PageDone&) {};
  };
  void run(Engine& engine, const Hooks& hooks);
  void finish();

  // The most that a page may need; 0: what there is.
  void set_most_bytes(std::int64_t bytes) { most_bytes_ = bytes; }
  // Of the spans of host work.
  void set_track(const std::string& track) { track_ = track; }

  [[nodiscard]] bool is_stream() const { return list_->stream() != nullptr; }
  // Of a stream what was no image and was let pass (images/formats/image_stream.h).
  [[nodiscard]] std::int64_t passed_over_bytes() const {
    return is_stream() ? list_->stream()->passed_over_bytes() : 0;
  }
  // Of a stream as many as were read.
  [[nodiscard]] std::int64_t pages_in_file() const {
    return is_stream() ? list_->stream()->images() : list_->size();
  }
  [[nodiscard]] const PageRange& range() const { return range_; }
  [[nodiscard]] bool makes_stack() const { return stack_ != nullptr; }
  // Whether each page has a file of its own; else they are a stack, or one after another on a stream.
  [[nodiscard]] bool makes_files() const;
  [[nodiscard]] bool makes_big_stack() const { return stack_ && stack_->next.big; }  // BigTIFF
  [[nodiscard]] const ImageHeader& first_header() const { return first_header_; }
  [[nodiscard]] std::int64_t most_pixels() const { return most_pixels_; }              // of a page
  [[nodiscard]] std::int64_t most_needed_bytes() const { return most_needed_bytes_; }  // by a page so far
  [[nodiscard]] std::int64_t input_bytes() const { return list_->size_bytes(); }
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }
  // What was let pass of the list; empty: nothing.
  [[nodiscard]] std::string warning() const;
  // The steps as they run, behind measure().
  [[nodiscard]] const std::vector<StageRequest>& stages() const { return settings_.stages; }
  // Where page `number` goes.
  [[nodiscard]] std::string output_of(std::int64_t number) const;

 private:
  [[nodiscard]] std::string name_of(std::int64_t number) const;
  void open_stream();
  [[nodiscard]] InputFile take_image();
  [[nodiscard]] bool is_last(std::int64_t number);
  void refuse_end() const;
  void judge_pages();
  void judge_page(const ImageHeader& header, const Plan& plan);
  [[nodiscard]] Plan plan_of(const ImageHeader& header) const;
  [[nodiscard]] std::int64_t most_bytes_in_stack(const InputFile& page, const Shape& output) const;
  void judge_outputs();
  void measure_step(Engine& engine, std::size_t step, const std::function<void(const ImageHeader&)>& counted);
  void begin(ImageJob& job, std::int64_t number, const Engine& engine);
  void run_stream(Engine& engine, const Hooks& hooks);
  void do_page(Engine& engine, std::int64_t number, const Hooks& hooks);
  void remove_written() noexcept;

  ImageFiles files_;
  ImageSettings settings_;
  PageWish wish_;
  InputKind kind_;
  Timeline::Clock::time_point start_;
  std::int64_t most_bytes_ = 0, most_needed_bytes_ = 0;
  std::string track_;
  std::unique_ptr<PageList> list_;
  Judge judge_;
  std::vector<StageRequest>
      judged_stages_;               // the steps as they will run, but for a range that is not known yet
  std::optional<Shape> judged_;     // the page before
  std::optional<InputFile> image_;  // of a stream, the one that run() begins with
  std::int64_t image_at_ = 0;       // of a stream, where the image begins that is worked on
  bool to_stream_ = false;          // pages go one after another to a descriptor
  PageRange range_;
  ImageHeader first_header_;
  std::int64_t most_pixels_ = 0;
  std::int64_t output_bytes_ = 0;
  std::unique_ptr<PageStack> stack_;
  std::int64_t written_ = 0;  // the last page that has a file of its own; 0: none
};

}  // namespace imgpipe
