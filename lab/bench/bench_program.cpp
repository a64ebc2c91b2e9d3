#include "lab/bench/bench_program.h"

#include <string_view>

#include "app/bench/bench_call.h"
#include "app/build_id.h"
#include "app/log.h"
#include "app/options/option_parser.h"
#include "app/program.h"
#include "images/error.h"
#include "images/text.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_options.h"

namespace imgpipe {
namespace {

// Removes --for-version. Throws Error(usage) if it names another version.
void take_version(std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments.front().starts_with(kForVersion)) return;
  const std::string version = arguments.front().substr(std::string_view(kForVersion).size());
  if (version != kVersion)
    throw Error(ErrorKind::usage, "bench: imgpipe is version " + printable(version) +
                                      ", imgpipe-bench is version " + kVersion +
                                      "; install the same version of both packages");
  arguments.erase(arguments.begin());
}

}  // namespace

int run_bench_program(std::vector<std::string> arguments) {
  set_up_log(find_logging(arguments));
  return run_guarded([&]() -> int {
    take_version(arguments);
    CommandRow row = bench_command();
    row.read = [](const Parser& parser) { return ready(read_bench_options(parser), run_bench); };
    const ReadyCommand command = read_command(row, arguments);
    if (!command.logging) return command.run({});  // prints a text
    use_simd_from_environment();
    set_up_log(*command.logging);
    return command.run({});
  });
}

}  // namespace imgpipe
