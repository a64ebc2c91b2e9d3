// The pages of an input, each as a standalone input; an input of a format without pages is one page.
// Alternatively the images of a stream, whose number is known only at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "images/codecs/pages.h"
#include "images/formats/image_stream.h"
#include "images/formats/pending_input.h"

namespace imgpipe {

class PageList {
 public:
  // Opens a regular file of a format with pages on disk; it may be larger than memory. Standard input or a
  // FIFO becomes a stream if it begins with an image whose end can be found. Reads all else like
  // PendingInput. Throws Error(input), Error(memory).
  PageList(std::string path, const DecodeOptions& options, InputKind kind);

  // The stream or nullptr. With a stream, only size_bytes() of the functions below may be used.
  [[nodiscard]] ImageStream* stream() const { return stream_.get(); }

  [[nodiscard]] std::int64_t size() const { return pages_ ? pages_->size() : 1; }
  // Returns a complete file of one page, 0 being the first; may be called repeatedly. Throws the
  // constructor's errors, without the file name.
  [[nodiscard]] InputFile page(std::int64_t index, Pages::Part part = Pages::Part::all) const;
  // The size of the whole input; for a stream, the bytes read so far.
  [[nodiscard]] std::int64_t size_bytes() const { return stream_ ? stream_->read_bytes() : size_bytes_; }
  // Returns content_hash() of the whole input; 0 for streams. Throws Error(input).
  [[nodiscard]] std::uint64_t content_hash() const;
  // Whether the input has images that are not among the pages (Pages::more_images()).
  [[nodiscard]] bool more_images() const { return pages_ && pages_->more_images(); }
  // The same functions as those of InputFile; streams have no hash (""). The bytes are those of the whole
  // input.
  void hash_passing_bytes();
  [[nodiscard]] std::string sha256() const;
  // Returns Pages::warning() and its consequence; empty: none.
  [[nodiscard]] std::string warning() const;

 private:
  std::string path_;
  DecodeOptions options_;
  InputKind kind_;
  std::unique_ptr<ImageStream> stream_;
  std::unique_ptr<InputFile> file_;  // the file of pages_, or an input that can be read only once
  std::unique_ptr<Pages> pages_;
  std::int64_t size_bytes_ = 0;
};

}  // namespace imgpipe
