// Reads memory for libpng, in tests that compare our own reader and writer with it. Warnings are errors.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include <png.h>

namespace imgpipe::test {

struct PngSource {
  const std::vector<std::byte>* bytes;
  std::size_t position = 0;
};

// For png_set_read_fn(), with a PngSource.
inline void read_png_bytes(png_structp png, png_bytep out, png_size_t count) {
  auto* source = static_cast<PngSource*>(png_get_io_ptr(png));
  if (source->bytes->size() - source->position < count) png_error(png, "truncated");
  std::memcpy(out, source->bytes->data() + source->position, count);
  source->position += count;
}

// Jumps back to setjmp(), silently.
[[noreturn]] inline void give_up_png(png_structp png, png_const_charp) {
  png_longjmp(png, 1);
}

}  // namespace imgpipe::test
