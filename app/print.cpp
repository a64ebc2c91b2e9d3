#include "app/print.h"

#include <cstddef>
#include <span>

#include <unistd.h>

#include "app/log.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"

namespace imgpipe {

void print_text(const std::string& text) {
  write_file(kStandardStream, std::as_bytes(std::span(text)));
}

void print_table(const std::string& table, bool stdout_is_taken) {
  if (!stdout_is_taken) return naming("stdout", [&] { print_text(table); });
  if (log_format() == LogFormat::json) return;
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, table.data(), table.size());
}

}  // namespace imgpipe
