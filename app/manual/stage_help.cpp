#include "app/manual/stage_help.h"

#include <cstddef>

#include "app/options/option_values.h"
#include "app/options/range_file.h"
#include "kernels/stage.h"
#include "kernels/table/stage_texts.h"
#include "pipeline/parameter_text.h"

namespace imgpipe {
namespace {

std::string preset_text(const Stage& stage, std::size_t i) {
  const Parameter& row = stage.parameters[i];
  if (row.required) return "required";
  if (row.like_previous) return "default: same as " + std::string(stage.parameters[i - 1].name);
  std::string text = "default: " + value_text(row, presets(stage.parameters)[i]);
  if (!row.option.empty()) text += ", or the value of --" + std::string(row.option);
  return text;
}

}  // namespace

StageHelp stage_help_of(const Stage& stage) {
  StageHelp help{std::string(stage.name) + ": " + std::string(stage.summary), "", {}, {}};
  for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
    const Parameter& row = stage.parameters[i];
    help.parameters.push_back({std::string(row.name), std::string(row.help) + " [" + allowed_values(row) +
                                                          "; " + preset_text(stage, i) + "]"});
  }
  if (stage.name == kRangedStage) help.parameters.push_back({"range", std::string(kRangeHelp)});
  if (const StageText* text = stage_text(stage)) {
    help.rule = text->rule;
    const auto fact = [&](const char* name, const std::string& said) {
      if (!said.empty()) help.facts.push_back({name, said});
    };
    fact("Source", std::string(text->source));
    fact("Equal to", std::string(text->equals));
    const std::string output = stage.tensor == nullptr ? "out.png" : "out.npy";
    fact("Example", "imgpipe in.png " + output + " --stages " + std::string(text->example));
  }
  return help;
}

std::string stage_help_text(const Stage& stage, int width) {
  const StageHelp help = stage_help_of(stage);
  std::string text = wrapped(help.title, width) + "\n" + wrapped(help.rule, width);
  if (help.parameters.empty()) {
    text += "\nParameters: none\n";
  } else {
    const std::string name(stage.name);
    text += "\n" + wrapped("Parameters, as " + name + ":VALUE:... or " + name + ":NAME=VALUE:...", width) +
            help_lines(indented(help.parameters), width);
  }
  return text + "\n" + help_lines(indented(help.facts, ":"), width);
}

std::vector<StageWords> stage_words() {
  std::vector<StageWords> all;
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    StageWords& words = all.emplace_back();
    words.stage = stage.name;
    for (const Parameter& row : stage.parameters) {
      words.parameters.push_back(std::string(row.name) + "=");
      if (!row.words.empty()) words.values.push_back({std::string(row.name), strings(row.words)});
    }
    if (!stage.parameters.empty()) words.first = strings(stage.parameters[0].words);
    if (stage.name != kRangedStage) continue;
    words.parameters.emplace_back(kRangeKey);
    words.values.push_back(
        {std::string(kRangeKey.substr(0, kRangeKey.size() - 1)), {std::string(kRangeOfSeries)}});
  }
  return all;
}

}  // namespace imgpipe
