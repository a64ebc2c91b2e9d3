#include "pipeline/image_io.h"

#include <memory>
#include <optional>

#include "images/error.h"
#include "images/files/output_file.h"
#include "images/formats/pending_input.h"
#include "images/memory/available_memory.h"
#include "images/text.h"
#include "pipeline/device.h"
#include "pipeline/file_encoding.h"

namespace imgpipe {

Image read_image(const std::string& path, const DecodeOptions& options) {
  return naming(printable(path), [&] {
    const InputFile file = open_input(path, options, InputKind::any);
    const std::unique_ptr<Reader> reader = open_reader(file, options);
    const Shape& shape = reader->header().shape;
    check_available(shape.bytes() + reader->working_bytes(true));
    Image image(shape);
    reader->read_rows(image.untyped_view());
    return image;
  });
}

void write_image(const std::string& path, ConstHostView pixels, const EncodeOptions& options, int threads,
                 OutputSync* sync) {
  naming(printable(path), [&] {
    if (threads < 0 || threads > kMaxThreads)
      throw Error(ErrorKind::usage, "threads: expected 1 to " + std::to_string(kMaxThreads) +
                                        " (0: one per processor), got " + std::to_string(threads));
    const std::optional<Format> format = format_by_ending(path);
    if (!format || !format_info(*format).writable)
      throw Error(ErrorKind::usage, "cannot write files with this ending");
    const std::unique_ptr<Writer> writer = make_writer(*format, pixels.shape(), options);
    check_available(writer->working_bytes());
    HostThreads workers(threads > 0 ? threads : host_threads());
    Timeline unreported;
    write_file(path, encode_image(pixels, *writer, workers, unreported).parts, sync);
  });
}

}  // namespace imgpipe
