// Consecutive images in one stream, such as from `ffmpeg -f image2pipe -`; formats may vary. The headers of
// each image determine its end (images/codecs/end_finder.h). Holds one image plus the bytes read after it.
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

  // Whether the stream is empty or begins with an image whose end can be found. Waits for its first bytes.
  [[nodiscard]] bool begins_with_image();
  // Reads the stream to its end and returns all of it. Throws the errors of read_file().
  [[nodiscard]] std::vector<std::byte> rest();

  // Whether there are no more images; waits until that is known. Throws the source's errors.
  [[nodiscard]] bool at_end();
  // Returns the next image, unmodified; unless strict, also a truncated last one. Call at_end() first, which
  // must return false. Throws Error(input) if the bytes are not an image whose end can be found, or exceed
  // longest_file(); Error(memory). Damaged pixels are left to the reader.
  [[nodiscard]] std::vector<std::byte> next();

  // The number of images returned by next().
  [[nodiscard]] std::int64_t images() const noexcept { return images_; }
  // The offset of the next image, after at_end(); before that, the end of the last one.
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }
  // Bytes skipped after camera JPEGs: vendor data up to the next JPEG or PNG signature.
  [[nodiscard]] std::int64_t skipped_bytes() const noexcept { return skipped_bytes_; }
  // Bytes read from the source.
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
  std::vector<std::byte> buffer_;    // the bytes read but not yet returned are at
  std::size_t begin_ = 0, end_ = 0;  // [begin_, end_)
  std::size_t last_bytes_ = 0;       // of the previous image: the next one may be as long
  bool all_read_ = false;
  std::unique_ptr<EndFinder> before_;  // of the previous image
  std::int64_t images_ = 0, offset_ = 0, read_bytes_ = 0, skipped_bytes_ = 0;
};

}  // namespace imgpipe
