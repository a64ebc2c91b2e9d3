#include "app/command_table.h"

#include "app/bench/bench_call.h"
#include "app/contract/contract_command.h"
#include "app/devices/devices_command.h"
#include "app/diff/diff_command.h"
#include "app/info/info_command.h"
#include "app/manual/manual_options.h"
#include "app/process_command.h"
#include "app/shard_summary/report_command.h"
#include "app/stats/stats_options.h"
#include "app/synth_command.h"
#include "app/verify/verify_command.h"

namespace imgpipe {
namespace {

std::vector<CommandRow> make_commands() {
  std::vector<CommandRow> commands{process_command(), bench_command(),    synth_command(),  stats_command(),
                                   info_command(),    report_command(),   verify_command(), diff_command(),
                                   devices_command(), contract_command(), help_command(),   docs_command()};
  std::vector<HelpLine>& main_usage = commands.front().usage;
  for (const CommandRow& command : commands) {
    if (command.name.empty()) continue;
    main_usage.push_back({command.call.empty() ? command.usage.front().name : command.call, command.summary});
  }
  return commands;
}

}  // namespace

Commands command_table() {
  static const std::vector<CommandRow> commands = make_commands();
  return commands;
}

}  // namespace imgpipe
