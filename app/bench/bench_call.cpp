#include "app/bench/bench_call.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "app/build_id.h"
#include "app/options/command_line.h"
#include "app/options/command_table.h"
#include "app/options/option_parser.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "imgpipe-bench";

}  // namespace

Command parse_bench(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("bench"));
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  return BenchCall{arguments};
}

std::string find_bench_program() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) usage("bench: /proc/self/exe cannot be read: " + error.message());
  const fs::path directory = own.parent_path();
  const fs::path libexec = (directory / IMGPIPE_LIBEXEC_FROM_BIN).lexically_normal();
  for (const fs::path& candidate : {directory / kProgram, libexec / kProgram}) {
    if (fs::is_regular_file(candidate, error)) return candidate.string();
  }
  usage("bench: " + std::string(kProgram) + " is neither in " + printable(directory.string()) + " nor in " +
        printable(libexec.string()) + ": install the package imgpipe-bench");
}

void start_bench(const BenchCall& call) {
  const std::string program = find_bench_program();
  std::vector<std::string> words{kProgram, kForVersion + std::string(kVersion)};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  usage("bench: " + printable(program) + " cannot be run: " + std::system_category().message(errno));
}

}  // namespace imgpipe
