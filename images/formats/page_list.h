// The pages of an input, each as an input of its own; a format without pages has one. Or the images of a
// stream, which come one after the other and are counted when it has ended.
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
  // A regular file of a format with pages is looked at where it lies and may be longer than memory. Standard
  // input and FIFOs are a stream where they begin with an image whose end can be found; all else is read as
  // PendingInput does. Throws Error(input), Error(memory).
  PageList(std::string path, const DecodeOptions& options, InputKind kind);

  // Where there is one, what follows is of no use, but for size_bytes().
  [[nodiscard]] ImageStream* stream() const { return stream_.get(); }

  [[nodiscard]] std::int64_t size() const { return pages_ ? pages_->size() : 1; }
  // A whole file of one page, 0 being the first; may be asked for again. Throws as PageList() does, without
  // the file's name.
  [[nodiscard]] InputFile page(std::int64_t index, Pages::Part part = Pages::Part::all) const;
  // Of the whole input; of a stream what was read of it.
  [[nodiscard]] std::int64_t size_bytes() const { return stream_ ? stream_->read_bytes() : size_bytes_; }
  // Of the whole input, as content_hash() has it; 0 for a stream and for what is read once. Throws
  // Error(input).
  [[nodiscard]] std::uint64_t content_hash() const;
  // What was let pass (Pages::warning()) and what comes of it; empty: nothing.
  [[nodiscard]] std::string warning() const;

 private:
  std::string path_;
  DecodeOptions options_;
  InputKind kind_;
  std::unique_ptr<ImageStream> stream_;
  std::unique_ptr<InputFile> file_;  // what pages_ are of; or an input that can be read once
  std::unique_ptr<Pages> pages_;
  std::int64_t size_bytes_ = 0;
};

}  // namespace imgpipe
