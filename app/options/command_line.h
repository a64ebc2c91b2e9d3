// The command line: one of the commands, with its options.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "app/bench/bench_call.h"
#include "app/info/info_options.h"
#include "app/options/options.h"
#include "app/process_options/process_options.h"
#include "app/stats/stats_options.h"
#include "app/sums/sums_options.h"

namespace imgpipe {

using Command = std::variant<ProcessOptions, SynthOptions, DevicesOptions, BenchCall, StatsOptions,
                             InfoOptions, SumsOptions, PresetToWrite, PrintText>;

// Reads the arguments behind the program's name. Throws Error(usage) that says what to change.
[[nodiscard]] Command parse_command(const std::vector<std::string>& arguments);

// Those of one command, behind its name (app/options/command_table.h).
[[nodiscard]] Command parse_process(const std::vector<std::string>& arguments);
[[nodiscard]] Command parse_synth(const std::vector<std::string>& arguments);
[[nodiscard]] Command parse_devices(const std::vector<std::string>& arguments);
[[nodiscard]] Command parse_bench(const std::vector<std::string>& arguments);  // app/bench/bench_call.cpp
[[nodiscard]] Command parse_stats(const std::vector<std::string>& arguments);  // app/stats/stats_options.cpp
[[nodiscard]] Command parse_info(const std::vector<std::string>& arguments);   // app/info/info_options.cpp
[[nodiscard]] Command parse_sums(const std::vector<std::string>& arguments);   // app/sums/sums_options.cpp
[[nodiscard]] Command parse_help(const std::vector<std::string>& arguments);   // app/manual/help_command.cpp
[[nodiscard]] Command parse_docs(const std::vector<std::string>& arguments);   // app/manual/docs_command.cpp

}  // namespace imgpipe
