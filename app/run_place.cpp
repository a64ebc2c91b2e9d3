#include "app/run_place.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace imgpipe {
namespace {

std::string shell_quoted(const std::string& argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) return argument;
  std::string out = "'";
  for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

RunPlace run_place() {
  RunPlace place;
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  std::array<char, 32> text{};
  if (::gmtime_r(&now, &utc) != nullptr &&
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
    place.date = text.data();
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) place.host = name.data();
  return place;
}

std::string command_text() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  if (!std::getline(file, argument, '\0')) return "";
  std::string text = "imgpipe";
  while (std::getline(file, argument, '\0')) text += " " + shell_quoted(argument);
  return text;
}

std::int64_t peak_memory_bytes() {
  // getrusage(2) would count what the process was before exec(2) too.
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    std::int64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %" SCNd64 " kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace imgpipe
