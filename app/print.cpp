#include "app/print.h"

#include <cstddef>
#include <span>

#include "images/files/file.h"
#include "images/files/output_file.h"

namespace imgpipe {

void print_text(const std::string& text) {
  write_file(kStandardStream, std::as_bytes(std::span(text)));
}

}  // namespace imgpipe
