#include "app/options/command_table.h"

#include <algorithm>

#include "app/bench/bench_rows.h"
#include "app/info/info_options.h"
#include "app/manual/manual_options.h"
#include "app/stats/stats_options.h"
#include "app/sums/sums_options.h"

namespace imgpipe {
namespace {

std::vector<CommandRow> make_commands() {
  const std::vector<ExitCode> of_files{kExitDone, kExitInput, kExitUsage, kExitOutput, kExitSignalBase};
  std::vector<ExitCode> all;
  all.reserve(kExitMeanings.size());
  for (const ExitMeaning& exit : kExitMeanings) all.push_back(exit.code);
  std::vector<CommandRow> commands{
      {.name = "",
       .summary = "images, folders and stacks through a list of stages",
       .description =
           "Grayscale, histogram, contrast, smoothing, threshold, resizing and more, exact to the byte.",
       .usage =
           {{"imgpipe INPUT OUTPUT [options]",
             "one image; \"-\" is stdin or stdout; OUTPUT may be a folder, which is made where it ends with "
             "/"},
            {"imgpipe INPUT... FOLDER [options]",
             "a batch: folders, patterns, files, or a list by --files-from"}},
       .positional = {"input", "output"},
       .rows = process_rows,
       .exits = all,
       .parse = parse_process},
      {.name = "bench",
       .summary = "the kernel lab: every variant checked, then timed",
       .description = "The kernel lab: every variant of every stage, held against the reference, then timed.",
       .usage = {{"imgpipe bench [options]", "the ladders: imgpipe bench --stage hist"},
                 {"imgpipe bench --study NAME [options]", "a question and its answer"},
                 {"imgpipe bench --list", "what there is"}},
       .rows = bench_rows,
       .exits = all,
       .parse = parse_bench},
      {.name = "synth",
       .summary = "test images of known statistics",
       .description = "Writes a test image of known statistics.",
       .usage = {{"imgpipe synth OUTPUT --pattern P --size WxH [options]", ""}},
       .positional = {"output"},
       .rows = synth_rows,
       .exits = of_files,
       .parse = parse_synth},
      {.name = "stats",
       .summary = "counts, mean, deviation and percentiles over images and folders",
       .description =
           "Counts the samples of images and whole folders: exact mean, deviation and percentiles of "
           "each channel, grey and colour images apart.",
       .usage = {{"imgpipe stats INPUT... [options]", "folders, patterns and files"},
                 {"imgpipe stats --files-from FILE [options]", "a list of names"}},
       .positional = {"input"},
       .rows = stats_rows,
       .exits = of_files,
       .parse = parse_stats},
      {.name = "info",
       .summary = "what image files are, by their headers",
       .description =
           "Says what image files are, by their headers alone: format, size, channels, compression, "
           "metadata, pages, and what would decode them.",
       .usage = {{"imgpipe info FILE... [options]", "files, folders and patterns; \"-\" is stdin"},
                 {"imgpipe info --files-from FILE [options]", "a list of names"}},
       .positional = {"input"},
       .rows = info_rows,
       .exits = of_files,
       .parse = parse_info},
      {.name = "report",
       .summary = "adds up the .ndjson reports of shards",
       .description =
           "Adds up the reports of batches (--report FILE.ndjson), those of shards above all: what "
           "is done, what has failed, what is missing.",
       .usage = {{"imgpipe report FILE... [options]", ".ndjson reports, the oldest first; \"-\" is stdin"}},
       .positional = {"file"},
       .rows = sums_rows,
       .exits = of_files,
       .parse = parse_sums},
      {.name = "devices",
       .summary = "what this machine offers",
       .description = "Lists what this machine offers and what --device auto would pick.",
       .usage = {{"imgpipe devices [--json]", ""}},
       .rows = devices_rows,
       .exits = {kExitDone, kExitUsage, kExitDevice, kExitOutput, kExitSignalBase},
       .parse = parse_devices},
      {.name = "help",
       .summary = "help of a command or of a stage; stages, formats, exit-codes: lists",
       .description =
           "Says what a command takes, or what a stage does with which parameters; lists stages, formats "
           "and exit codes.",
       .usage = {{"imgpipe help [COMMAND|STAGE]", ""}, {"imgpipe help stages|formats|exit-codes", "a list"}},
       .positional = {"topic"},
       .rows = manual_rows,
       .topics =
           [](std::string_view before) {
             return before.empty() ? help_topics() : std::vector<std::string>();
           },
       .exits = {kExitDone, kExitUsage, kExitOutput},
       .parse = parse_help},
      {.name = "docs",
       .summary = "man pages, and completions for shells",
       .description = "Prints the man page of a command, what makes a shell complete imgpipe's options, "
                      "stages and names, or the JSON Schema of a report.",
       .usage = {{"imgpipe docs man [COMMAND]", "the man page of a command, in roff"},
                 {"imgpipe docs bash|zsh|fish", "completions for a shell"},
                 {"imgpipe docs files", "what a package holds of both, and how each is made"},
                 {"imgpipe docs schema NAME", "the JSON Schema of a report, such as image or batch-line"}},
       .call = "imgpipe docs man|bash|zsh|fish",
       .positional = {"kind"},
       .rows = manual_rows,
       .topics = docs_topics,
       .exits = {kExitDone, kExitUsage, kExitOutput},
       .parse = parse_docs}};
  std::vector<UsageRow>& main_usage = commands.front().usage;
  for (const CommandRow& command : commands) {
    if (command.name.empty()) continue;
    main_usage.push_back({command.call.empty() ? command.usage.front().call : command.call, command.summary});
  }
  return commands;
}

}  // namespace

std::string full_name(const CommandRow& command) {
  return command.name.empty() ? "imgpipe" : "imgpipe " + std::string(command.name);
}

const std::vector<CommandRow>& command_table() {
  static const std::vector<CommandRow> commands = make_commands();
  return commands;
}

const CommandRow* find_command(std::string_view name) {
  const auto command = std::ranges::find(command_table(), name, &CommandRow::name);
  return command == command_table().end() ? nullptr : &*command;
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const CommandRow& command : command_table()) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  return names;
}

}  // namespace imgpipe
