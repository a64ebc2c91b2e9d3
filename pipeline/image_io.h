// Image files whole, in one call each: for programs that hold their images in memory. What streams, judges or
// batches files is pipeline/jobs/image_job.h.
#pragma once

#include <string>

#include "images/codecs/codec.h"
#include "images/files/output_sync.h"
#include "images/image.h"

namespace imgpipe {

// As the program reads: samples of up to 16 bits, strictly, upright.
[[nodiscard]] inline DecodeOptions usual_decoding() {
  DecodeOptions options;
  options.max_bits = 16;
  return options;
}
// As the program writes, but for what needs the input file (metadata): with imgpipe's mark, so that it
// replaces the file without a question another time.
[[nodiscard]] inline EncodeOptions usual_encoding() {
  EncodeOptions options;
  options.mark = Mark::result;
  return options;
}

// Decodes the first image of a file ("-": standard input). Throws Error(input) or Error(memory), with the
// path. Warnings of the reader are dropped: those are had of Reader::warnings() (images/codecs/codec.h).
[[nodiscard]] Image read_image(const std::string& path, const DecodeOptions& options = usual_decoding());

// Writes a file whole or not at all, in the format of its ending, encoded by `threads` threads (1 to
// kMaxThreads of pipeline/threads/host_threads.h; 0: as many as this process may use). Throws Error(usage)
// for any other number, for an ending that names no format that can be written and for pixels that the format
// does not hold (16 bits per sample in a JPEG), Error(memory) and Error(output), with the path. Replaces what
// is there. The file survives a power failure once this returns; with `sync`, which many files can share,
// once sync->sync_names() returns.
void write_image(const std::string& path, ConstHostView pixels,
                 const EncodeOptions& options = usual_encoding(), int threads = 0,
                 OutputSync* sync = nullptr);

}  // namespace imgpipe
