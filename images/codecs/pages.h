// The pages of a file: each directory of a TIFF's chain, each image of an ImageJ stack, each frame of an
// animation (images/codecs/animation.h), or each band of a TIFF (DecodeOptions::bands_of_page).
//
// The path of a stack (--pages); only one page is in memory at a time:
//
//   file on disk --> Pages::page(i): a complete small file of that page, in memory; or the page's metadata
//                                    and a reader of its pixels
//                --> ImageJob, as for any image, on any engine
//                --> a separate file, or after the previous page in one file (PageStack)
//
// A page keeps everything that belongs to it (fields, EXIF, profile) and nothing else, so readers and
// metadata code are unaware of pages. Offsets are collected once, by the constructor.
// pipeline/jobs/input_job.h iterates over pages; app/pages/ reports to the user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/files/input_file.h"

namespace imgpipe {

class Pages {
 public:
  virtual ~Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // The number of pages, at least 1.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  // The number of pages that the file declares to be smaller versions of others (pyramids, thumbnails).
  [[nodiscard]] virtual std::int64_t reduced() const { return 0; }
  // The number of transparency masks, which do not count as pages.
  [[nodiscard]] virtual std::int64_t masks() const { return 0; }
  // Whether the file has images that are not among the pages.
  [[nodiscard]] virtual bool more_images() const { return false; }
  // The part of a page to return.
  enum class Part {
    all,
    front,  // the parts that open_reader() needs; pixels are zeros
  };
  // Returns the file of one page, 0 being the first; it may outlive the pages. Throws Error(input) if its
  // directory is damaged, Error(memory) if memory runs out; the reader of that file reports damaged pixels.
  // Thread-safe.
  [[nodiscard]] virtual InputFile page(std::int64_t index, Part part) const = 0;

  // Tolerated damage (lenient): pages after a damaged part of the list are missing. Empty: none.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

 protected:
  Pages() = default;
  std::string warning_;
};

// The planes of one image, written one after another by separate writers (PLANARCONFIG_SEPARATE). All have
// the same shape and metadata.
struct WrittenPlanes {
  std::int64_t count = 1;
  std::size_t front_bytes = 0;  // of the front, which the first plane reserves and the last one fills
  std::vector<std::uint64_t> chunk_bytes;  // sizes of the chunks so far
};

// The position of a page in a multi-page file being written: 0, or the next even offset.
struct StackPosition {
  std::int64_t at = 0;
  bool big = false;  // BigTIFF: every offset has 64 bits
  bool last = false;
  std::shared_ptr<WrittenPlanes> planes{};  // if set, the page is a plane of the only image of the file

  void advance(std::int64_t bytes) { at += planes ? 0 : bytes; }
};

}  // namespace imgpipe
