#include <iterator>
#include <string_view>

#include "app/exit_code.h"
#include "app/manual/manual_options.h"
#include "app/manual/stage_help.h"
#include "app/options/help_text.h"
#include "app/options/option_parser.h"
#include "images/codecs/codec.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/stage.h"

namespace imgpipe {

std::vector<OptionRow> manual_rows() {
  return rows_named(logging_rows(), {"version", "help"});
}

namespace {

std::string stages_text(int width) {
  std::vector<HelpLine> lines;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) lines.push_back({std::string(stage.name), std::string(stage.summary)});
  }
  return wrapped("Stages, for --stages; imgpipe help STAGE has the parameters", width) +
         help_lines(indented(std::move(lines)), width);
}

std::string formats_text(int width) {
  std::vector<HelpLine> lines;
  for (const FormatInfo& format : format_table()) {
    std::string contents;
    if (format.writable && format.written_bits > 0)
      contents = format.written_bits == 16 ? ", 8 and 16 bits" : ", 8 bits";
    if (format.holds_floats) contents += ", floats";
    if (format.holds_tensors) contents += ", tensors of normalize";
    std::string text = (format.readable ? "read" : "not read") +
                       (format.can_be_written() ? ", written" + contents : std::string(", not written")) +
                       ":";
    for (const std::string_view ending : format.endings) text += " ." + std::string(ending);
    lines.push_back({std::string(format.name), text});
  }
  return wrapped("Image formats and their file extensions", width) +
         help_lines(indented(std::move(lines)), width);
}

std::string exit_codes_text(int width) {
  std::vector<HelpLine> lines;
  lines.reserve(std::size(kExitMeanings));
  for (const ExitMeaning& exit : kExitMeanings)
    lines.push_back({std::string(exit.name), std::string(exit.meaning)});
  return wrapped("Exit codes", width) + help_lines(indented(std::move(lines)), width);
}

struct TextRow {
  std::string_view topic;
  std::string (*text)(int width);
};
constexpr TextRow kTexts[] = {
    {"stages", stages_text}, {"formats", formats_text}, {"exit-codes", exit_codes_text}};

std::vector<std::string> topics_of_help(Commands commands) {
  std::vector<std::string> topics;
  for (const std::string_view name : command_names(commands)) topics.emplace_back(name);
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) topics.emplace_back(stage.name);
  }
  for (const TextRow& row : kTexts) topics.emplace_back(row.topic);
  return topics;
}

ReadyCommand read_help(const Parser& parser) {
  const std::string topic = parser.has("topic") ? canonical_spelling(parser.text("topic")) : "";
  for (const TextRow& row : kTexts) {
    if (topic == row.topic) return ready(row.text(help_width()));
  }
  if (const CommandRow* command = find_command(parser.commands(), topic))
    return read_command(*command, {"--help"}, parser.commands());
  const Stage* stage = find_stage(topic);
  if (stage != nullptr && stage->selectable) return ready(stage_help_text(*stage, help_width()));
  const std::vector<std::string> topics = topics_of_help(parser.commands());
  const std::vector<std::string_view> names(topics.begin(), topics.end());
  usage(unknown_name("unknown topic '" + printable(parser.text("topic")) + "'", topic, names,
                     "must be one of " + joined(names)));
}

}  // namespace

CommandRow help_command() {
  return {
      .name = "help",
      .summary = "help of a command or of a stage; stages, formats, exit-codes: lists",
      .description =
          "Describes the options of a command, or a stage and its parameters; lists stages, formats and exit "
          "codes.",
      .usage = {{"imgpipe help [COMMAND|STAGE]", ""}, {"imgpipe help stages|formats|exit-codes", "a list"}},
      .positional = {"topic"},
      .requires_arguments = false,
      .rows = manual_rows,
      .topics =
          [](Commands commands) {
            return std::vector<TopicWords>{{"help", topics_of_help(commands)}};
          },
      .exits = {kExitDone, kExitUsage, kExitOutput},
      .read = read_help};
}

}  // namespace imgpipe
