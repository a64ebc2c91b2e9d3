#include "app/result_files.h"

#include <unistd.h>

#include "images/error.h"
#include "images/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::optional<FileIdentity> identity(const std::string& path, int standard_stream) {
  return path == kStandardStream ? descriptor_identity(standard_stream) : file_identity(path);
}

std::string shown(const std::string& path, const char* stream) {
  return path == kStandardStream ? stream : printable(path);
}

}  // namespace

void ResultFiles::add_input(const std::string& path) {
  if (const auto file = identity(path, STDIN_FILENO)) known_.emplace(*file, Known{"", path});
}

void ResultFiles::add(const std::string& role, const std::string& path) {
  if (path.empty()) return;
  const auto file = identity(path, STDOUT_FILENO);
  if (!file) return;
  const auto [entry, fresh] = known_.emplace(*file, Known{role, path});
  if (fresh) return;
  const Known& other = entry->second;
  const std::string name = shown(path, "stdout");
  if (other.role.empty()) {
    const std::string input = shown(other.path, "stdin");
    throw Error(ErrorKind::usage, name + ": is the input itself" + (input == name ? "" : ", " + input) +
                                      "; " + role + " needs another name");
  }
  const std::string first = shown(other.path, "stdout");
  throw Error(ErrorKind::usage, name + ": would be written by " + role + " and by " + other.role +
                                    (first == name ? "" : " (" + first + ")") + "; each needs its own name");
}

bool goes_to_stdout(const std::string& output) {
  if (output == kStandardStream || descriptor_of(output) == STDOUT_FILENO) return true;
  const auto file = file_identity(output);
  return file && file == descriptor_identity(STDOUT_FILENO);
}

void check_stream(const std::string& output) {
  const bool standard = output == kStandardStream;
  const std::optional<int> fd = standard ? STDOUT_FILENO : descriptor_of(output);
  if (!fd) return;
  const std::string name = shown(output, "stdout");
  if (::isatty(*fd) == 1)
    throw Error(ErrorKind::usage, name + " is a terminal: send the image to a file or a pipe");
  naming(name, [&] { check_writable(output); });
}

}  // namespace imgpipe
