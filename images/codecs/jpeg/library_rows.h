// Rows of the library's decoder for bands that come in any order: it gives them from the top only.
#pragma once

#include <cstdint>
#include <deque>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

// One thread at a time uses it.
class LibraryRows {
 public:
  // `library`: not read from yet; stays where it is.
  explicit LibraryRows(Reader& library) : library_(library) {}

  // Fills `rows`, of which the first is row `first` of the image. Rows from `lowest` on are kept for others;
  // none above it is asked for again.
  void give(std::int64_t first, const HostView& rows, std::int64_t lowest);

 private:
  [[nodiscard]] std::int64_t kept_from() const { return next_ - static_cast<std::int64_t>(kept_.size()); }

  Reader& library_;
  std::int64_t next_ = 0;   // row of the library
  std::deque<Image> kept_;  // the rows before it
};

}  // namespace imgpipe
