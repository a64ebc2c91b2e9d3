// The pages of a file that may hold several images: of a TIFF each directory of the chain, or each image of
// an ImageJ stack.
//
// How a stack goes through (--pages): nothing is ever held but one page.
//
//   file, where it lies --> Pages::page(i): a whole small file of that page alone, in memory
//                       --> ImageJob, the way of every image, on any engine
//                       --> a file of its own, or behind the page before in one file (PageStack)
//
// A page that is cut out keeps everything that belongs to it (fields, EXIF, profile) and nothing else, so
// that readers and metadata need not know that there are pages. Offsets are found once, when a list is made.
// pipeline/jobs/input_job.h goes from page to page; app/pages/ is what a user sees of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

class Pages {
 public:
  virtual ~Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  // At least 1.
  [[nodiscard]] virtual std::int64_t size() const = 0;
  // How many of them are smaller versions of another one (of a pyramid, or a thumbnail), as the file says.
  [[nodiscard]] virtual std::int64_t reduced() const { return 0; }
  // Transparency masks of pages, which are no pages.
  [[nodiscard]] virtual std::int64_t masks() const { return 0; }
  // What of a page is wanted.
  enum class Part {
    all,
    front,  // what open_reader() looks at: pixels are zeros
  };
  // The file of one page, 0 being the first. Throws Error(input) where its directory is damaged,
  // Error(memory) where there is not enough; what is wrong with the pixels, the reader of that file says.
  // From any thread.
  [[nodiscard]] virtual std::vector<std::byte> page(std::int64_t index, Part part) const = 0;

  // What was let pass, lenient: pages behind which the list is damaged. Empty: nothing.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

 protected:
  Pages() = default;
  std::string warning_;
};

// Where a page stands in a file of several that is written: the first at 0, each further one at the even byte
// behind the one before. All are written so.
struct StackPosition {
  std::int64_t at = 0;
  bool big = false;  // BigTIFF: every offset has 64 bits
  bool last = false;
};

}  // namespace imgpipe
