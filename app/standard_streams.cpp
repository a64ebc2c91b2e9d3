#include "app/standard_streams.h"

#include <cerrno>
#include <initializer_list>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {

void open_standard_streams() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is fd.
    const int opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != fd) ::_exit(127);  // no /dev/null, and no stream for a message
  }
}

std::string input_name(const std::string& path) {
  return path == kStandardStream ? "stdin" : printable(path);
}

std::string output_name(const std::string& path) {
  return path == kStandardStream ? "stdout" : printable(path);
}

bool is_stdout(const std::string& output) {
  if (output == kStandardStream || descriptor_of(output) == STDOUT_FILENO) return true;
  const auto file = file_identity(output);
  return file && file == descriptor_identity(STDOUT_FILENO);
}

void check_stream(const std::string& output) {
  const bool standard = output == kStandardStream;
  const std::optional<int> fd = standard ? STDOUT_FILENO : descriptor_of(output);
  if (!fd) return;
  const std::string name = output_name(output);
  if (::isatty(*fd) == 1)
    throw Error(ErrorKind::usage, name + ": is a terminal; send the image to a file or a pipe");
  naming(name, [&] { check_writable(output); });
}

}  // namespace imgpipe
