// Parses any text as a command line, with one argument per line.
#include <string>
#include <vector>

#include "app/bench/bench_call.h"
#include "app/command.h"
#include "app/options/option_parser.h"
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
    } else if (data[i] != 0) {  // no argument can hold a NUL
      arguments.back() += static_cast<char>(data[i]);
    }
  }
  try {
    (void)read_command_line(arguments);
    if (arguments.front() == "bench") {
      CommandRow bench = bench_command();
      bench.read = [](const Parser& parser) { return ReadyCommand{{}, read_bench_options(parser).logging}; };
      (void)read_command(bench, {arguments.begin() + 1, arguments.end()});
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage || printable(error.what()) != error.what()) __builtin_trap();
  }
  return 0;
}
