#include "app/files/text_file.h"

#include <span>

#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"

namespace imgpipe {

void write_text(const std::string& path, std::string_view text, OutputSync* sync) {
  naming(output_name(path), [&] { write_file(path, std::as_bytes(std::span(text)), sync); });
}

void print_text(std::string_view text) {
  write_file(kStandardStream, std::as_bytes(std::span(text)));
}

}  // namespace imgpipe
