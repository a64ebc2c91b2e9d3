// A file that an image job writes besides its output: another result of the same decoded image.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "images/codecs/codec.h"
#include "images/codecs/pages.h"
#include "images/files/output_file.h"
#include "images/pixel_digest.h"
#include "pipeline/jobs/file_hashes.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// A file written page by page (images/codecs/pages.h). InputJob makes its pages' jobs and puts it in place.
struct PageStack {
  PageStack(const std::string& path, OutputSync* sync) : file(path, sync) {}
  OutputFile file;
  StackPosition next;  // position of the next page
};

struct AlsoFile {
  std::string output;                     // a path
  std::uint64_t options = 0;              // Provenance::options of its mark
  PageStack* stack = nullptr;             // receives the page instead
  std::shared_ptr<PixelDigest> pixels{};  // as ImageFiles::output_pixels
};

class AlsoOutput {
 public:
  // `mark`: that of the image's output.
  AlsoOutput(AlsoFile file, Mark mark);

  // Makes the writer, and unless the file stays in memory its output; hashes the file if AlsoFile::pixels is
  // set. Throws Error(usage) if the format cannot hold the image.
  void make(Format format, const Shape& image, EncodeOptions encode, OutputSync* sync, bool stays_in_memory);
  void encode(ConstHostView pixels, HostThreads& threads, Timeline& timeline);
  // Returns the encoded file if it stays in memory.
  [[nodiscard]] EncodedFile take_file() { return std::exchange(encoded_, {}); }
  // Writes the encoded file. The functions are those of ImageSettings.
  void write(const std::function<void(const std::string&)>& before_first_byte,
             const std::function<void(const std::string&, const Mark&)>& before_write, Timeline& timeline);

  [[nodiscard]] const std::string& path() const { return file_.output; }
  [[nodiscard]] const Mark& mark() const { return mark_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] bool drops_alpha() const { return drops_alpha_; }
  [[nodiscard]] std::int64_t encoding_bytes() const { return writer_->working_bytes(); }  // after make()
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }                             // of the file
  [[nodiscard]] const FileHashes& hashes() const { return hashes_; }                      // after write()

 private:
  template <class Action>
  void named(const Action& action) const;

  AlsoFile file_;
  Mark mark_;
  Shape shape_{0, 0, 1};
  bool drops_alpha_ = false;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<OutputFile> output_;
  EncodedFile encoded_;
  std::int64_t bytes_ = 0;
  FileHashes hashes_;
};

}  // namespace imgpipe
