// Takes one image from its input to its output file: a single image, a page, or an image of a batch.
//
//   read --> open --> make_plan --> make_output --> run (engine)             --> write
//                                               --> decode, a lane, encode   --> write
//                                               --> stage, a lane             --> write
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/codec.h"
#include "images/files/output_file.h"
#include "images/formats/pending_input.h"
#include "pipeline/engine.h"
#include "pipeline/file_encoding.h"
#include "pipeline/jobs/also_output.h"
#include "pipeline/lane.h"
#include "pipeline/memory_need.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

struct PageOfInput {
  bool whole_stack = false;    // all pages go, in order, into one file
  PageStack* stack = nullptr;  // receives the page instead of a file of its own
};

struct ImageFiles {
  std::string input, output;            // paths, "-" for standard input and output
  std::string input_name, output_name;  // for messages: printable
  Format format = Format::png;          // of the output
  std::size_t number = 0;               // index in a batch
  // The bytes of the input, already read. `input` is only its name then.
  std::shared_ptr<const std::vector<std::byte>> content{};
  bool stays_in_memory = false;  // the outputs are taken by take_file(); `output` is only a name then
  std::optional<PageOfInput> page{};
  // The provenance for the output's mark; if its content hash is unknown, reading the input computes it.
  // nullopt: the input has no name.
  std::optional<Provenance> made_of{};
  std::vector<AlsoFile> also{};  // the outputs of ImageSettings::also, in order; of the same format
  // With ImageSettings::hash: the rows' digests, which pages share; by default, of this image alone.
  std::shared_ptr<PixelDigest> input_pixels{}, output_pixels{};
  bool is_part =
      false;  // the input that is read is a page or image of the file, whose bytes it does not hash
};

// Consumes an image's rows instead of an output file.
struct RowConsumer {
  std::unique_ptr<Writer> writer;  // its file is empty
  // Called once, when the image is known to be valid to its last byte; an exception fails the image.
  std::function<void()> accept;
  std::int64_t output_bytes = 0;  // bytes that the consumer writes to a file
};

[[nodiscard]] Mark mark_for(const EncodeOptions& encode, const ImageFiles& files);

// Settings that all images of a run share.
struct ImageSettings {
  std::vector<StageRequest> stages;
  std::vector<StageBranch> also;  // further results of the decoded image; nothing is fused then
  bool fuse = false;
  bool counts_planes = false;  // as make_plan()
  bool hash = false;           // the bytes and pixels of inputs and outputs
  bool keep_metadata = false;  // ICC profile, EXIF, ... (images/codecs/metadata/metadata.h)
  DecodeOptions decode;
  EncodeOptions encode;
  // Called before an output's first byte, and before it is put in place. An exception fails the image.
  std::function<void(const std::string& output)> before_first_byte = [](const std::string&) {};
  std::function<void(const std::string& output, const Mark& mark)> before_write = [](const std::string&,
                                                                                     const Mark&) {};
  OutputSync* sync =
      nullptr;  // shared by all outputs; the caller syncs their names (images/files/output_sync.h)
  // If set, there are no output files. Called with each image's plan; returns the consumer of its rows.
  std::function<RowConsumer(const ImageFiles& files, const Plan& plan)> make_row_consumer;
};

// Returns how to decode an image for `stages` and the lists of settings.also, which may need its profile.
[[nodiscard]] DecodeOptions decoding_for(const ImageSettings& settings, std::span<const StageRequest> stages);

// Plans `stages`, and the lists of settings.also before them, for an image. Throws as with_profile(),
// make_plan() and make_branched_plan() do.
[[nodiscard]] Plan plan_for(const ImageSettings& settings, std::span<const StageRequest> stages,
                            const ImageHeader& header, Format format);

// A remark for the user about an image that is written nevertheless.
struct ImageNote {
  enum class About {
    damage,       // tolerated by the reader
    depth,        // samples of more than 8 bits that are reduced to 8 without a request
    scale,        // a JPEG decoded at a smaller scale
    integers,     // signed or 32-bit integers, converted by the requested rule
    more_images,  // the file contains images other than the one used
    range,        // contrast without a range to stretch, trim of an image that is all background
    profile,      // a colour profile that is not preserved
    metadata,     // other metadata that is not preserved
    alpha,        // alpha that the output format cannot hold
  };
  About about = About::damage;
  std::string text;  // including the name of the file
};

// A note that does not concern the pixels, or reports a request, is a notice; others are warnings.
[[nodiscard]] constexpr bool is_notice(ImageNote::About about) {
  using enum ImageNote::About;
  return about == profile || about == metadata || about == integers || about == scale;
}

// "(1/4 of 4000x3000)" for a header with a scale above 1.
[[nodiscard]] std::string scale_text(const ImageHeader& header);

// Whether and where samples of more than 8 bits are reduced to 8 without a request.
enum class DepthLoss {
  none,
  at_reading,   // the reader returns only 8 bits
  at_encoding,  // the output format holds only 8 bits: Plan::reduced
};
// The corresponding warning, for an input of `bits_per_sample`.
[[nodiscard]] std::string depth_warning(DepthLoss loss, int bits_per_sample, Format output);

// Functions must be called in the order of their declarations, each once. All throw Error with the name of
// the file concerned. Output files are complete or absent (images/files/output_file.h).
class ImageJob {
 public:
  // `settings` must outlive this.
  ImageJob(ImageFiles files, const ImageSettings& settings, Timeline timeline);
  ImageJob(const ImageJob&) = delete;  // sink_ points to this object
  ImageJob& operator=(const ImageJob&) = delete;

  // Reads the file, or as much of it as its reader needs in memory. The caller measures the spans of this and
  // of open(): for a single image both are `decode`.
  void read(PendingInput& input);
  // The same for a page that was read already.
  void read(InputFile input);
  // Marks the image as a page. Must be called before open().
  void set_page(const PageOfInput& page) { files_.page = page; }
  // Sets the content_hash() of the input that the image is part of. Must be called before read().
  void set_input_content(std::uint64_t hash);
  // Bytes that open() may need in addition to the file (images/codecs/codec.h).
  [[nodiscard]] std::int64_t opening_bytes() const;
  void open();
  // Instead: a reader of an image that was made of many, and the plan of the first of these, whose file was
  // read; the plan must outlive this.
  void open(std::unique_ptr<Reader> reader, const Plan& first);
  void make_plan();
  // Makes the writer; rejects images that the format cannot hold. A large file is written while it is
  // encoded, if it is invisible until put in place. Calls ImageSettings::make_row_consumer if set.
  void make_output();

  // Decodes the file again with the format's library; returns an empty image if the library decoded it
  // before. For comparisons, after a run() with Job::keep_source, which keeps the input.
  [[nodiscard]] Image decode_by_library(Timeline& timeline) const;

  // Returns the request for a memory estimate by an engine that produces only the file.
  [[nodiscard]] MemoryEstimateRequest memory_estimate_request() const;
  // Runs the image through an engine, to the last byte of the encoded file. `job` specifies what else to
  // keep; its reader, plan, timeline and writer are set here. Keeps the timeline and the file; releases the
  // input.
  Outcome run(Engine& engine, Job job);

  // For a lane. decode() decodes the image into `memory`. stage() stores the file's scan there for the lane
  // to decode, or returns false and changes nothing. Both release the input. The lane then produces
  // lane_image().pixels, which encode() encodes and releases, or lane_image().coded.made.
  void decode(std::pmr::memory_resource* memory);
  [[nodiscard]] bool stage(std::pmr::memory_resource& memory);
  [[nodiscard]] LaneImage& lane_image() { return image_; }
  void encode(HostThreads& threads);

  // Writes the rest of the file and puts it in place, or calls RowConsumer::accept.
  void write();
  // After write(): the file of an output that stays in memory.
  [[nodiscard]] EncodedFile take_file() { return std::exchange(encoded_, {}); }
  [[nodiscard]] EncodedFile take_also_file(std::size_t i) { return also_[i].take_file(); }

  void release() noexcept;

  [[nodiscard]] const ImageFiles& files() const { return files_; }
  [[nodiscard]] Mark mark() const;  // of the output, after read()
  [[nodiscard]] Timeline& timeline() { return image_.timeline; }
  [[nodiscard]] const Plan& plan() const { return *image_.plan; }  // after make_plan()
  [[nodiscard]] const ImageHeader& header() const { return header_; }
  [[nodiscard]] Shape output_shape() const { return output_shape_; }
  // After make_output(): the name of a profile, and the other metadata, that is not preserved; empty if none.
  [[nodiscard]] const std::string& unpreserved_profile() const { return lost_profile_; }
  [[nodiscard]] const std::string& unpreserved_metadata() const { return lost_metadata_; }
  [[nodiscard]] DepthLoss depth_loss() const { return depth_loss_; }       // after make_plan()
  [[nodiscard]] std::int64_t input_bytes() const { return input_bytes_; }  // of the file
  [[nodiscard]] std::int64_t held_input_bytes() const {
    return held_input_bytes_;
  }                                                                          // the part of it in memory
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }  // written so far
  [[nodiscard]] std::span<const AlsoOutput> also() const { return also_; }
  // After write(). Without the bytes of a part (ImageFiles::is_part), of a page in a stack, or of a tensor's
  // pixels.
  [[nodiscard]] FileHashes input_hashes() const;
  [[nodiscard]] FileHashes output_hashes() const;
  // The bytes of the files of ImageFiles::also, which are held until they are written; after make_output().
  [[nodiscard]] std::int64_t also_bytes() const;
  // Calls Reader::use_less_memory(). Must be called after open() and before the first row is read.
  bool use_less_memory() { return reader_->use_less_memory(); }
  [[nodiscard]] const Reader& reader() const { return *reader_; }  // valid until run() or decode()
  [[nodiscard]] const Writer& writer() const { return *writer_; }
  [[nodiscard]] bool in_bands() const { return in_bands_; }  // after run(): Outcome::in_bands
  // The notes known so far, the reader's first.
  [[nodiscard]] std::vector<ImageNote> notes() const;

 private:
  struct PreservedOfResult {
    std::shared_ptr<const Metadata> metadata;
    std::string lost_profile, lost_metadata;
  };
  [[nodiscard]] std::vector<const Operation*> all_operations_of(std::size_t result) const;
  [[nodiscard]] std::string unapplied_profile(std::size_t result) const;
  [[nodiscard]] PreservedOfResult preserved_metadata(std::size_t result, const Shape& shape) const;
  void make_also();
  void encode_also(const std::vector<ConstHostView>& results, int threads);
  [[nodiscard]] bool drops_alpha() const { return has_alpha_ && !output_shape_.has_alpha(); }
  void make_digests();
  void hash_input();
  void begin_output();
  [[nodiscard]] OutputFile& output() { return stack_ != nullptr ? stack_->file : *output_; }
  void append(std::span<const std::byte> bytes);

  ImageFiles files_;
  const ImageSettings& settings_;
  InputFile input_;  // reader_ reads from it
  std::unique_ptr<Reader> reader_;
  ImageHeader header_;
  std::int64_t input_bytes_ = 0, held_input_bytes_ = 0, output_bytes_ = 0;
  const Plan* first_plan_ = nullptr;  // of the first of many images
  LaneImage image_;                   // its timeline is the job's
  Shape output_shape_{0, 0, 1};
  std::vector<AlsoOutput> also_;
  std::string input_hash_, output_hash_;
  std::string lost_profile_, lost_metadata_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<OutputFile> output_;
  PageStack* stack_ = nullptr;  // replaces output_
  RowConsumer consumer_;        // if the input has no output file; without its writer
  ByteSink sink_;               // to the output, if it is written while it is encoded
  EncodedFile encoded_;
  std::vector<std::string> damage_;
  std::vector<std::string> unchanging_;  // notes on trim steps, and after run() on contrast steps
  DepthLoss depth_loss_ = DepthLoss::none;
  bool decoded_by_library_ = true;
  bool has_alpha_ = false;  // of the finished image
  bool output_begun_ = false;
  bool in_bands_ = false;
};

// Returns the error for an image that alone needs more than `budget_bytes`.
[[nodiscard]] Error over_budget(const ImageJob& image, std::int64_t bytes, std::int64_t budget_bytes);

}  // namespace imgpipe
