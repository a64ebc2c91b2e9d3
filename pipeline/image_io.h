// Reads or writes a whole image file in one call, for programs that hold their images in memory.
// pipeline/jobs/image_job.h streams, validates and batches files.
#pragma once

#include <string>

#include "images/codecs/codec.h"
#include "images/files/output_sync.h"
#include "images/image.h"

namespace imgpipe {

// The program's defaults: samples of up to 16 bits or floats, strict decoding, upright.
[[nodiscard]] inline DecodeOptions usual_decoding() {
  DecodeOptions options;
  options.max_bits = 32;
  return options;
}
// The program's defaults, except metadata, which needs the input file. Files get imgpipe's mark, so that the
// program may replace them later without --overwrite.
[[nodiscard]] inline EncodeOptions usual_encoding() {
  EncodeOptions options;
  options.mark = Mark::result;
  return options;
}

// Decodes the first image of a file ("-": standard input). Throws Error(input) or Error(memory), with the
// path. Drops warnings; use Reader::warnings() (images/codecs/codec.h) to get them.
[[nodiscard]] Image read_image(const std::string& path, const DecodeOptions& options = usual_decoding());

// Writes a file atomically, in the format of its extension, and replaces an existing one. `threads` threads
// encode: 1 to kMaxThreads (pipeline/threads/host_threads.h), or 0 for all that this process may use. Throws,
// with the path, Error(usage) for other numbers, for an extension without a writable format and for pixels
// that the format cannot hold (16-bit samples in a JPEG); Error(memory); Error(output). The file survives a
// power failure once this returns; with `sync`, which many files can share, once sync->sync_names() returns.
void write_image(const std::string& path, ConstHostView pixels,
                 const EncodeOptions& options = usual_encoding(), int threads = 0,
                 OutputSync* sync = nullptr);

}  // namespace imgpipe
