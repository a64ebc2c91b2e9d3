#include "app/command.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "app/exit_code.h"
#include "app/files/name_template.h"
#include "app/files/replaceable.h"
#include "app/image/one_input.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/options/command_line.h"
#include "app/options/option_table.h"
#include "app/options/option_values.h"
#include "app/print.h"
#include "app/process.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

const LoggingOptions* talk_of(const Command& command) {
  if (const auto* process = std::get_if<ProcessOptions>(&command)) return &process->logging;
  if (const auto* synth = std::get_if<SynthOptions>(&command)) return &synth->logging;
  if (const auto* stats = std::get_if<StatsOptions>(&command)) return &stats->process.logging;
  if (const auto* info = std::get_if<InfoOptions>(&command)) return &info->process.logging;
  if (const auto* sums = std::get_if<SumsOptions>(&command)) return &sums->logging;
  if (const auto* devices = std::get_if<DevicesOptions>(&command)) return &devices->logging;
  if (const auto* preset = std::get_if<PresetToWrite>(&command)) return &preset->logging;
  return nullptr;
}

// Of an error that ended it.
LogSubject subject_of(const std::optional<Command>& command, const Error& error) {
  if (!command) return {};
  if (const auto* process = std::get_if<ProcessOptions>(&*command); process != nullptr && !is_batch(*process))
    return subject_of(error, input_name(process->input.path), output_name(process->output.path));
  if (const auto* synth = std::get_if<SynthOptions>(&*command))
    return subject_of(error, "", output_name(synth->output));
  return {};
}

void write_preset(const PresetToWrite& preset) {
  check_replaceable(preset.file, why_no_text(preset.file, preset.replace));
  naming(output_name(preset.file), [&] { write_file(preset.file, std::as_bytes(std::span(preset.text))); });
  std::string names;
  for (const std::string& name : preset.left_out) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) log_notice("not written to the preset, because it belongs to one run: " + names);
}

int dispatch(const Command& command, const EngineFactory& factory) {
  if (const auto* process = std::get_if<ProcessOptions>(&command)) {
    if (process->preset) write_preset(*process->preset);
    return is_batch(*process) ? run_batch(*process, factory) : run_image(*process, factory);
  }
  if (const auto* synth = std::get_if<SynthOptions>(&command)) return run_synth(*synth);
  if (const auto* devices = std::get_if<DevicesOptions>(&command)) return run_devices(*devices);
  if (const auto* bench = std::get_if<BenchCall>(&command)) start_bench(*bench);
  if (const auto* stats = std::get_if<StatsOptions>(&command)) return run_stats(*stats);
  if (const auto* info = std::get_if<InfoOptions>(&command)) return run_info(*info);
  if (const auto* sums = std::get_if<SumsOptions>(&command)) return run_sums(*sums);
  if (const auto* preset = std::get_if<PresetToWrite>(&command)) {
    write_preset(*preset);
    return kExitDone;
  }
  print_text(std::get<PrintText>(command).text);
  return kExitDone;
}

}  // namespace

Format output_format(const std::string& output, const std::optional<Format>& option) {
  const std::optional<Format> format = format_by_ending(output);
  if (option) {
    if (format && !is_ending_of(*format, *option))
      throw Error(ErrorKind::usage, "'" + printable(output) + "' ends as " +
                                        std::string(format_info(*format).name) + " does, and --format says " +
                                        std::string(format_info(*option).name) + ": change one of them");
    return *option;
  }
  if (!format) {
    const std::string ending = std::filesystem::path(output).extension().string();
    throw Error(ErrorKind::usage, ending.size() < 2
                                      ? "'" + printable(output) + "' has no ending: add --format png"
                                      : "'" + printable(output) + "': cannot write " + printable(ending) +
                                            "; use the ending of " + joined(writable_formats()) +
                                            ", or add --format png");
  }
  return *format;
}

int run_command(const std::vector<std::string>& arguments, const EngineFactory& factory) {
  begin_log(find_logging(arguments));
  std::optional<Command> command;
  return run_guarded(
      [&] {
        command.emplace(parse_command(arguments));
        use_simd_of_environment();
        if (const LoggingOptions* talk = talk_of(*command)) begin_log(*talk);
        if (auto* process = std::get_if<ProcessOptions>(&*command); process != nullptr && !is_batch(*process))
          *process = with_output_file(std::move(*process));
        return dispatch(*command, factory);
      },
      [&](const Error& error) { return subject_of(command, error); });
}

}  // namespace imgpipe
