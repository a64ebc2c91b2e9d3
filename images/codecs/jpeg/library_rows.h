// Provides bands of rows in any order from the library's decoder, which only decodes from top to bottom.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "images/luma.h"

namespace imgpipe {

// Callers must serialise access.
class LibraryRows {
 public:
  // `library` must not have been read from, and must outlive this object.
  explicit LibraryRows(Reader& library) : library_(library) {}

  // Fills `rows`, whose first row is row `first` of the image. Keeps rows from `lowest` on for later calls,
  // which must not request a row above it. `luma`: gives the luma of the library's RGB.
  void give(std::int64_t first, const HostView& rows, std::int64_t lowest, std::optional<Luma> luma);

 private:
  [[nodiscard]] std::int64_t first_buffered_row() const {
    return next_ - static_cast<std::int64_t>(kept_.size());
  }

  Reader& library_;
  std::int64_t next_ = 0;   // the library's next row
  std::deque<Image> kept_;  // the rows before it
};

}  // namespace imgpipe
