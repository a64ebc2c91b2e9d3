// Any text as a command line, arguments separated by line breaks.
#include <string>
#include <variant>
#include <vector>

#include "app/options/command_line.h"
#include "images/error.h"
#include "images/text.h"
#include "lab/bench/bench_options.h"
#include "tests/fuzz/fuzz_target.h"

IMGPIPE_FUZZ_TARGET(fuzz_options) {
  using namespace imgpipe;
  std::vector<std::string> arguments(1);
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] == '\n') {
      arguments.emplace_back();
    } else if (data[i] != 0) {  // no argument holds one
      arguments.back() += static_cast<char>(data[i]);
    }
  }
  try {
    const Command command = parse_command(arguments);
    if (const auto* bench = std::get_if<BenchCall>(&command)) (void)parse_bench_options(bench->arguments);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage || printable(error.what()) != error.what()) __builtin_trap();
  }
  return 0;
}
