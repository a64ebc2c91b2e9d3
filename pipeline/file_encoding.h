// A finished image to a file.
#pragma once

#include "images/codecs/codec.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// Encodes an image, strip by strip where the writer has strips. Its time goes to the row "encode". With a
// sink the file goes there, in the row "write", and no parts are returned: patches of what went there may be.
[[nodiscard]] EncodedFile encode_image(ConstHostView pixels, Writer& writer, HostThreads& threads,
                                       Timeline& timeline, const ByteSink& sink = {});
// The end of a file whose rows are all written; part of encode_image().
[[nodiscard]] EncodedFile finish_file(Writer& writer, Timeline& timeline, const ByteSink& sink);

// Whether a file is worth handing on as it is made. One that is smaller is held until it is whole: nothing is
// then begun for an image that fails.
[[nodiscard]] bool is_large_file(const Writer& writer);

}  // namespace imgpipe
