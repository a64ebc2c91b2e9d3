#include "app/run_context.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "images/text.h"

namespace imgpipe {
namespace {

// Quotes as $'...' (POSIX.1-2024; bash, zsh and ksh have long had it). Bytes are escaped as three octal
// digits, so that a following digit is not taken as part of the escape.
std::string escaped(const std::string& argument) {
  std::string out = "$'";
  for (std::string_view rest = argument; !rest.empty();) {
    std::uint32_t code_point = 0;
    const std::size_t length = std::max<std::size_t>(utf8_length(rest, code_point), 1);
    const std::string_view character = rest.substr(0, length);
    if (printable(character) == character) {
      out += character == "'" || character == "\\" ? "\\" : "";
      out += character;
    } else {
      for (const char c : character) {
        const auto byte = static_cast<unsigned char>(c);
        out.append({'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
                    static_cast<char>('0' + (byte & 7))});
      }
    }
    rest.remove_prefix(length);
  }
  return out + "'";
}

}  // namespace

std::string shell_quoted(const std::string& argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string::npos) return argument;
  if (printable(argument) != argument) return escaped(argument);
  std::string out = "'";
  for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

RunContext run_context() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  std::array<char, 256> host{};
  const bool is_named = ::gethostname(host.data(), host.size() - 1) == 0;
  return {date.data(), is_named ? printable(host.data()) : ""};
}

std::string command_text(const std::vector<std::string>& arguments) {
  std::string text = "imgpipe";
  for (const std::string& argument : arguments) text += " " + shell_quoted(argument);
  return text;
}

std::string command_text() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string argument;
  if (!std::getline(file, argument, '\0')) return "";
  std::vector<std::string> arguments;
  while (std::getline(file, argument, '\0')) arguments.push_back(argument);
  return command_text(arguments);
}

std::int64_t peak_memory_bytes() {
  // getrusage(2) would also count the process image before exec(2).
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    std::int64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %" SCNd64 " kB", &kilobytes) == 1) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace imgpipe
