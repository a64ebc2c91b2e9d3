#include "app/bench/bench_call.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "app/bench/bench_rows.h"
#include "app/build_id.h"
#include "app/options/option_parser.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "imgpipe-bench";

}  // namespace

std::string find_bench_program() {
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error);
  if (error) usage("/proc/self/exe: cannot read: " + error.message());
  const fs::path directory = own.parent_path();
  const fs::path libexec = (directory / IMGPIPE_LIBEXEC_FROM_BIN).lexically_normal();
  for (const fs::path& candidate : {directory / kProgram, libexec / kProgram}) {
    if (fs::is_regular_file(candidate, error)) return candidate.string();
  }
  usage(std::string(kProgram) + ": not found in " + printable(directory.string()) + " or " +
        printable(libexec.string()) + "; install the package imgpipe-bench");
}

void start_bench(const std::vector<std::string>& arguments) {
  const std::string program = find_bench_program();
  std::vector<std::string> words{kProgram, kForVersion + std::string(kVersion)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(program.c_str(), pointers.data());
  usage(printable(program) + ": cannot run: " + std::system_category().message(errno));
}

CommandRow bench_command() {
  return {
      .name = "bench",
      .summary = "the kernel lab: every variant checked, then timed",
      .description = "The kernel lab: every variant of every stage, compared with the reference, then timed.",
      .usage = {{"imgpipe bench [options]", "the ladders: imgpipe bench --stage hist"},
                {"imgpipe bench --study NAME [options]", "a study, such as crossover"},
                {"imgpipe bench --list", "a list of all variants"}},
      .rows = bench_rows,
      .exits = all_exits(),
      .read = [](const Parser& parser) -> ReadyCommand {
        return {[arguments = parser.arguments()](const EngineFactory&) -> int { start_bench(arguments); }};
      }};
}

}  // namespace imgpipe
