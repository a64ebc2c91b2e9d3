// Encodes a finished image as a file.
#pragma once

#include "images/codecs/codec.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// Encodes an image, in strips if the writer has strips. The time is recorded as "encode". A sink, if given,
// receives the file, recorded as "write"; the result then has no parts, but may have patches for the sink's
// bytes.
[[nodiscard]] EncodedFile encode_image(ConstHostView pixels, Writer& writer, HostThreads& threads,
                                       Timeline& timeline, const ByteSink& sink = {});
// Finishes a file whose rows are all written. Part of encode_image().
[[nodiscard]] EncodedFile finish_file(Writer& writer, Timeline& timeline, const ByteSink& sink);

// Whether a file should be written while it is encoded. Smaller files are held until complete, so that an
// image that fails leaves no partial file.
[[nodiscard]] bool is_large_file(const Writer& writer);

}  // namespace imgpipe
