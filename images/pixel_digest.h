// Digests of pixels: SHA-256 of the rows from top to bottom, without padding and header. Samples of more than
// one byte are little-endian, on every machine.
#pragma once

#include <string>

#include "images/plane.h"
#include "images/sha256.h"

namespace imgpipe {

// Takes the rows of an image in order, in any number of calls.
class PixelDigest {
 public:
  void add(ConstHostView rows);
  // Returns the digest of all rows so far, as Sha256::hex() does.
  [[nodiscard]] std::string hex() const { return digest_.hex(); }

 private:
  Sha256 digest_;
};

[[nodiscard]] std::string pixel_sha256(ConstHostView image);

}  // namespace imgpipe
