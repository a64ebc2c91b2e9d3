// imgpipe help [COMMAND|STAGE]
#include <string_view>

#include "app/manual/manual_options.h"
#include "app/manual/stage_help.h"
#include "app/options/command_table.h"
#include "app/options/help_text.h"
#include "app/options/option_parser.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/stage.h"

namespace imgpipe {

std::vector<OptionRow> manual_rows() {
  std::vector<OptionRow> rows;
  for (OptionRow& row : talk_rows()) {
    const std::string name = option_name(row);
    if (name == "version" || name == "help") rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> help_topics() {
  std::vector<std::string> topics;
  for (const std::string_view name : command_names()) topics.emplace_back(name);
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) topics.emplace_back(stage.name);
  }
  return topics;
}

Command parse_help(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("help"));
  parser.allow_fewer();
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  const std::string topic = parser.has("topic") ? usual_spelling(parser.text("topic")) : "";
  if (const CommandRow* command = find_command(topic)) return command->parse({"--help"});
  const Stage* stage = find_stage(topic);
  if (stage != nullptr && stage->selectable) return PrintText{stage_help_text(*stage, help_width())};
  const std::vector<std::string> topics = help_topics();
  const std::vector<std::string_view> names(topics.begin(), topics.end());
  usage(unknown_name("there is no command and no stage '" + printable(parser.text("topic")) + "'", topic,
                     names, "there is help of " + joined(names)));
}

}  // namespace imgpipe
