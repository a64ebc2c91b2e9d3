// A strip of a PNG, as the program's writer makes it at level 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/plane.h"

namespace imgpipe {

struct ExpectedStrip {
  std::vector<std::byte> bytes;     // the deflate block
  std::vector<std::byte> filtered;  // the filtered rows if the rule tries ISA-L on them, else empty
  std::uint32_t adler = 1;          // of the filtered rows
};

// `last`: the strip is the last of its image.
[[nodiscard]] ExpectedStrip expected_strip(ConstHostPlane rows, bool last);

// Packs strips one after the other, as one host thread does.
class StripPacker {
 public:
  StripPacker();
  ~StripPacker();
  StripPacker(const StripPacker&) = delete;
  StripPacker& operator=(const StripPacker&) = delete;
  // Does not set `strip.filtered`.
  void pack(ConstHostPlane rows, bool last, ExpectedStrip& strip);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpipe
