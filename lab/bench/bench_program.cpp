#include "lab/bench/bench_program.h"

#include <string_view>
#include <variant>

#include "app/bench/bench_call.h"
#include "app/build_id.h"
#include "app/exit_code.h"
#include "app/print.h"
#include "app/process.h"
#include "images/error.h"
#include "images/text.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_options.h"

namespace imgpipe {
namespace {

// Removes --for-version. Throws Error(usage) where it names another version.
void take_version(std::vector<std::string>& arguments) {
  if (arguments.empty() || !arguments.front().starts_with(kForVersion)) return;
  const std::string version = arguments.front().substr(std::string_view(kForVersion).size());
  if (version != kVersion)
    throw Error(ErrorKind::usage, "bench: imgpipe is version " + printable(version) +
                                      ", imgpipe-bench is version " + kVersion +
                                      ": install the same version of both packages");
  arguments.erase(arguments.begin());
}

}  // namespace

int run_bench_program(std::vector<std::string> arguments) {
  begin_log(find_logging(arguments));
  return run_guarded([&]() -> int {
    take_version(arguments);
    const std::variant<BenchOptions, PrintText> command = parse_bench_options(arguments);
    if (const auto* answer = std::get_if<PrintText>(&command)) {
      print_text(answer->text);
      return kExitDone;
    }
    use_simd_of_environment();
    const auto& options = std::get<BenchOptions>(command);
    begin_log(options.logging);
    return run_bench(options);
  });
}

}  // namespace imgpipe
