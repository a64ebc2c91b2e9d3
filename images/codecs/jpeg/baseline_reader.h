// Our own decoder of baseline JPEG, on as many threads as ask it for bands: the same pixels as libjpeg-turbo.
//
//   scan in pieces -> blocks of coefficients -> samples, a row of MCUs at a time -> rows of pixels
//   (scan_pieces.h)                            (reconstruct.h)
//
// Whoever waits for rows decodes the next piece meanwhile. Only what the begun bands need is held.
//
// libjpeg-turbo alone judges. It has read the header; where anything is not in order, it decodes the file
// from the first byte and gives the rows that are not given yet. Those that were given before are the same:
// they depend on nothing behind the first thing that is not in order.
#pragma once

#include <cstddef>
#include <memory>

#include "images/codecs/jpeg/library_jpeg.h"
#include "images/codecs/jpeg/scan_pieces.h"

namespace imgpipe {

// A reader of the image that `library` has opened: itself where our decoder does not take the image.
// `piece_bytes`: of the scan, for each thread at a time; other than kPieceBytes for tests. Does not ask
// whether the library agrees (images/codecs/jpeg/library_check.h), as open_jpeg() does.
[[nodiscard]] std::unique_ptr<Reader> make_baseline_reader(std::unique_ptr<LibraryJpeg> library,
                                                           std::size_t piece_bytes);

}  // namespace imgpipe
