// One image from its input to its output file: a single image, a page, or an image of a batch.
//
//   read --> open --> make_plan --> make_output --> run (engine)             --> write
//                                               --> decode, a lane, encode   --> write
//                                               --> stage, a lane             --> write
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/pages.h"
#include "images/files/output_file.h"
#include "images/formats/pending_input.h"
#include "pipeline/engine.h"
#include "pipeline/file_encoding.h"
#include "pipeline/lane.h"
#include "pipeline/memory_need.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// A file that is written page by page (images/codecs/pages.h). InputJob makes the jobs of its pages and puts
// it in place.
struct PageStack {
  PageStack(const std::string& path, OutputSync* sync) : file(path, sync) {}
  OutputFile file;
  StackPosition next;  // of the page that is written next
};

// For an image that is one page of its input.
struct PageOfInput {
  bool whole_stack = false;    // all pages go, in order, into one file
  PageStack* stack = nullptr;  // that the page is written to, in place of a file of its own
};

struct ImageFiles {
  std::string input, output;            // paths, "-" for standard input and output
  std::string input_name, output_name;  // as messages have them: printable
  Format format = Format::png;          // of the output
  std::size_t number = 0;               // in a batch
  std::optional<PageOfInput> page{};
  // For the output's mark; reading the input derives its content where that is unknown. None: the input has
  // no name.
  std::optional<Provenance> made_of{};
};

// Consumes an image's rows in place of an output file.
struct RowUse {
  std::unique_ptr<Writer> writer;  // its file is empty
  // Called once, when the image is valid to its last byte; an exception fails the image.
  std::function<void()> accept;
};

// The mark of an output of `files`.
[[nodiscard]] Mark mark_for(const EncodeOptions& encode, const ImageFiles& files);

// Settings that all images of a run share.
struct ImageSettings {
  std::vector<StageRequest> stages;
  bool fuse = false;
  bool keep_metadata = false;  // ICC profile, EXIF, ... (images/codecs/metadata/metadata.h)
  DecodeOptions decode;
  EncodeOptions encode;
  // Called before the first byte of an output is written, and just before the output is put in place with its
  // mark; an exception fails the image.
  std::function<void(const std::string& output)> before_first_byte = [](const std::string&) {};
  std::function<void(const std::string& output, const Mark& mark)> before_write = [](const std::string&,
                                                                                     const Mark&) {};
  OutputSync* sync = nullptr;  // of all outputs; the caller syncs their names (images/files/output_sync.h)
  // Set: there are no output files; called for the consumer of each image's rows, with its shape.
  std::function<RowUse(const ImageFiles& files, const Shape& shape)> use_rows;
};

// A remark for the user about an image that is written all the same.
struct ImageNote {
  enum class About {
    damage,       // that the reader tolerated
    depth,        // samples of more than 8 bits that become 8 without a request
    more_images,  // the file has others than the one that is used
    range,        // contrast without a range to stretch
    profile,      // a colour profile that is not preserved
    metadata,     // other metadata that is not preserved
    alpha,        // that the output format cannot hold
  };
  About about = About::damage;
  std::string text;  // with the name of the file
};

// A note that does not concern the pixels is a notice, others are warnings.
[[nodiscard]] constexpr bool is_notice(ImageNote::About about) {
  return about == ImageNote::About::profile || about == ImageNote::About::metadata;
}

// Where samples of more than 8 bits become 8 without a request.
enum class DepthLoss {
  none,
  at_reading,  // the reader returns no more
  at_the_end,  // the output's format holds no more: Plan::reduced
};
// The warning about it, for an input of `bits_per_sample`.
[[nodiscard]] std::string depth_warning(DepthLoss loss, int bits_per_sample, Format output);

// Call the functions in the order of their declarations, each once. All throw Error with the name of the file
// that it is about. Output files are complete or absent (images/files/output_file.h).
class ImageJob {
 public:
  // `settings` stays where it is.
  ImageJob(ImageFiles files, const ImageSettings& settings, Timeline timeline);
  ImageJob(const ImageJob&) = delete;  // the sink points into it
  ImageJob& operator=(const ImageJob&) = delete;

  // Reads the file, or as much of it as its reader needs in memory. The caller measures the spans of this and
  // of open(): for a single image both are `decode`.
  void read(PendingInput& input);
  // The same for a page that was read already.
  void read(InputFile input);
  // Before open(): the image is a page.
  void set_page(const PageOfInput& page) { files_.page = page; }
  // Before read(): the image is part of an input with this content_hash().
  void set_input_content(std::uint64_t hash);
  // Bytes that open() may need in addition to the file (images/codecs/codec.h).
  [[nodiscard]] std::int64_t opening_bytes() const;
  // Reads the header.
  void open();
  void make_plan();
  // Rejects images that the format cannot hold, and makes the writer. A large file is written while it is
  // encoded, if it is invisible until it is put in place. With ImageSettings::use_rows: calls it for the
  // consumer of the rows.
  void make_output();

  // Decodes the file again, by the format's library; an empty image where that decoded it already. For
  // comparisons, after a run() with Job::keep_source, which keeps the input.
  [[nodiscard]] Image decode_by_library(Timeline& timeline) const;

  // The memory question for an engine from which only the file is requested.
  [[nodiscard]] MemoryQuestion memory_question() const;
  // Runs the image through an engine, from the first row to the last of the encoded file. `job` says what
  // else to keep; the reader, plan, timeline and writer are filled in here. The timeline and the encoded file
  // stay here, and the input is released.
  Outcome run(Engine& engine, Job job);

  // For a lane: decode() puts the decoded image into `memory`; stage() puts the file's scan there, for the
  // lane to decode, or returns false and changes nothing where it cannot. The input is released. The lane
  // makes lane_image().pixels, which encode() encodes and releases, or lane_image().coded.made.
  void decode(std::pmr::memory_resource* memory);
  [[nodiscard]] bool stage(std::pmr::memory_resource& memory);
  [[nodiscard]] LaneImage& lane_image() { return image_; }
  void encode(HostThreads& threads);

  // Writes the rest of the file and puts it in place; or calls RowUse::accept.
  void write();

  // Releases the memory of an image that has failed.
  void release() noexcept;

  [[nodiscard]] const ImageFiles& files() const { return files_; }
  [[nodiscard]] Mark mark() const;  // of the output, after read()
  [[nodiscard]] Timeline& timeline() { return image_.timeline; }
  [[nodiscard]] const Plan& plan() const { return image_.plan; }  // until run()
  [[nodiscard]] const ImageHeader& header() const { return header_; }
  [[nodiscard]] Shape output_shape() const { return output_shape_; }
  // After make_output(): the name of a profile that is not preserved, and the other metadata that is not;
  // empty: none.
  [[nodiscard]] const std::string& lost_profile() const { return lost_profile_; }
  [[nodiscard]] const std::string& lost_metadata() const { return lost_metadata_; }
  [[nodiscard]] DepthLoss depth_loss() const { return depth_loss_; }                 // after make_plan()
  [[nodiscard]] std::int64_t input_bytes() const { return input_bytes_; }            // of the file
  [[nodiscard]] std::int64_t held_input_bytes() const { return held_input_bytes_; }  // of it, in memory
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }          // written so far
  // As Reader::use_less_memory(); between open() and the first row.
  bool use_less_memory() { return reader_->use_less_memory(); }
  [[nodiscard]] const Reader& reader() const { return *reader_; }  // until run() or decode()
  [[nodiscard]] const Writer& writer() const { return *writer_; }
  [[nodiscard]] bool in_bands() const { return in_bands_; }  // after run(): Outcome::in_bands
  // The notes that are known so far, the reader's first.
  [[nodiscard]] std::vector<ImageNote> notes() const;

 private:
  [[nodiscard]] std::shared_ptr<const Metadata> kept_metadata();
  [[nodiscard]] bool drops_alpha() const { return has_alpha_ && !output_shape_.has_alpha(); }
  void begin_output();
  [[nodiscard]] OutputFile& output() { return stack_ != nullptr ? stack_->file : *output_; }
  void append(std::span<const std::byte> bytes);

  ImageFiles files_;
  const ImageSettings& settings_;
  InputFile input_;  // the reader's
  std::unique_ptr<Reader> reader_;
  ImageHeader header_;
  std::int64_t input_bytes_ = 0, held_input_bytes_ = 0, output_bytes_ = 0;
  LaneImage image_;  // its timeline is the job's
  Shape output_shape_{0, 0, 1};
  std::string lost_profile_, lost_metadata_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<OutputFile> output_;
  PageStack* stack_ = nullptr;    // in its place
  std::function<void()> accept_;  // where there is no output
  ByteSink sink_;                 // to the output, where it is written as it is made
  EncodedFile encoded_;
  std::vector<std::string> damage_;
  std::vector<std::string> unstretched_;  // of contrast steps, after run()
  DepthLoss depth_loss_ = DepthLoss::none;
  bool decoded_by_library_ = true;
  bool has_alpha_ = false;  // the finished image
  bool output_begun_ = false;
  bool in_bands_ = false;
};

// The error of an image that needs more than `budget_bytes` alone.
[[nodiscard]] Error over_budget(const ImageJob& image, std::int64_t bytes, std::int64_t budget_bytes);

}  // namespace imgpipe
