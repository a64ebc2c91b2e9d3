// A strip of a PNG as the program's writer makes it at level 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/plane.h"

namespace imgpipe {

struct RightStrip {
  std::vector<std::byte> bytes;     // the block of deflate
  std::vector<std::byte> filtered;  // the filtered rows, where the rule has ISA-L tried on them; else empty
  std::uint32_t adler = 1;          // of the filtered rows
};

// `last`: of its image.
[[nodiscard]] RightStrip right_strip(ConstHostPlane rows, bool last);

// Packs strips as a host's thread does, one after the other.
class StripPacker {
 public:
  StripPacker();
  ~StripPacker();
  StripPacker(const StripPacker&) = delete;
  StripPacker& operator=(const StripPacker&) = delete;
  // `strip.filtered` stays empty.
  void pack(ConstHostPlane rows, bool last, RightStrip& strip);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpipe
