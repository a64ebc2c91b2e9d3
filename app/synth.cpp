#include "images/synth.h"

#include <utility>

#include <unistd.h>

#include "app/command.h"
#include "app/exit_code.h"
#include "app/log.h"
#include "images/error.h"
#include "images/file.h"
#include "images/text.h"

namespace imgpipe {

int run_synth(const SynthOptions& options) {
  const Format format = output_format(options.output, options.format);
  const bool standard = options.output == kStandardStream;
  if (standard && ::isatty(STDOUT_FILENO) == 1) {
    throw Error(ErrorKind::usage, "stdout is a terminal: send the image to a file or a pipe");
  }
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 34;
  if (options.shape.pixels() > kMaxPixels) throw Error(ErrorKind::usage, "--size: more than 2^34 pixels");
  // The image, what the writer gathers and the encoded file live at once.
  if (3 * options.shape.samples() > available_memory_bytes()) {
    throw Error(ErrorKind::memory,
                "not enough memory: " + std::to_string(3 * options.shape.samples()) + " bytes needed");
  }
  const std::unique_ptr<Writer> writer = make_writer(format, options.shape, options.encode);
  const Image image = synthesize(options.pattern, options.shape, options.seed);
  writer->write_rows(image.view());
  const EncodedFile file = writer->finish();
  try {
    write_file(options.output, file.parts);
  } catch (const Error& error) {
    throw Error(error.kind(), (standard ? "stdout" : printable(options.output)) + ": " + error.what());
  }
  log_detail("wrote " + std::to_string(file.size_bytes()) + " bytes");
  return kExitDone;
}

}  // namespace imgpipe
