// Images that come one after another, as from `ffmpeg -f image2pipe -`: each is found by its own end
// (images/codecs/end_finder.h), whatever the others are. No more is held than one image and what was read
// behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "images/codecs/codec.h"
#include "images/files/file.h"
#include "images/formats/codec_table.h"

namespace imgpipe {

class ImageStream {
 public:
  ImageStream(ByteSource source, const DecodeOptions& options);

  // Of what has not been taken: whether it begins like an image whose end can be found, or is empty. Waits
  // for its first bytes. Throws as the source does.
  [[nodiscard]] bool begins_with_image();
  // All of it, read to its end. Throws as read_file() does.
  [[nodiscard]] std::vector<std::byte> rest();

  // Whether there are no more images; waits until that is known. Throws as the source does.
  [[nodiscard]] bool at_end();
  // Behind at_end(): the next image by itself, which there is, as it stands in the stream; what is wrong with
  // its pixels its reader says. Lenient also one that is cut off, the last. Throws Error(input) for what is
  // no image whose end can be found, or is longer than longest_file() lets it be, Error(memory).
  [[nodiscard]] std::vector<std::byte> next();

  // Images that next() gave.
  [[nodiscard]] std::int64_t images() const noexcept { return images_; }
  // Where the next image begins, behind at_end(); else where that which next() was asked for last ended.
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }
  // Behind JPEGs of cameras, whose makers put what they like there: what is no image, up to what begins like
  // a JPEG or PNG.
  [[nodiscard]] std::int64_t passed_over_bytes() const noexcept { return passed_over_bytes_; }
  // That came from the source.
  [[nodiscard]] std::int64_t read_bytes() const noexcept { return read_bytes_; }

 private:
  [[nodiscard]] std::span<const std::byte> ahead() const {
    return std::span(buffer_).subspan(begin_, end_ - begin_);
  }
  [[nodiscard]] std::span<const std::byte> signature() const;
  bool skip_padding();
  void skip_appendix();
  bool read_more();
  bool read_ahead(std::size_t bytes);
  void skip(std::size_t bytes);
  [[nodiscard]] std::vector<std::byte> take(std::size_t image_bytes, std::size_t taken_bytes);
  [[nodiscard]] const Codec& codec_of_next() const;
  bool find_end(EndFinder& finder);

  ByteSource source_;
  DecodeOptions options_;
  std::vector<std::byte> buffer_;    // of which a part holds what was read and not taken
  std::size_t begin_ = 0, end_ = 0;  // that part
  std::size_t last_bytes_ = 0;       // of the image before: the next one may be as long
  bool all_read_ = false;
  std::unique_ptr<EndFinder> before_;  // of the image before
  std::int64_t images_ = 0, offset_ = 0, read_bytes_ = 0, passed_over_bytes_ = 0;
};

}  // namespace imgpipe
