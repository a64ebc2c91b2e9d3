#include "app/manual/brief_help.h"

#include "app/manual/completion_rows.h"
#include "app/options/help_text.h"
#include "app/options/parsed_arguments.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

const std::vector<HelpLine> kUsage{{"imgpipe INPUT OUTPUT [options]", "one image; - is stdin or stdout"},
                                   {"imgpipe INPUT... DIR [options]", "files, directories, patterns"},
                                   {"imgpipe info|stats INPUT...", "headers; statistics of samples"},
                                   {"imgpipe bench|devices [options]", "the kernel lab; this machine"},
                                   {"imgpipe help [COMMAND|STAGE|stages|formats|exit-codes]", ""}};

const std::vector<HelpLine> kExamples{{"convert", "imgpipe in.tif out.jpg --stages none"},
                                      {"directory tree", "imgpipe in/ out/ -r --format png"},
                                      {"resume it", "imgpipe in/ out/ -r --format png --skip-existing"},
                                      {"stack", "imgpipe in.tif out.tif --pages all --stages median"},
                                      {"preset", "imgpipe in/ out/ --preset scans.toml"},
                                      {"verify", "imgpipe in.jpg out.png --compare"}};

// In the order in which they are shown.
constexpr std::string_view kMaxUsed[] = {"stages",  "preset",  "device", "recursive", "skip-existing",
                                         "jobs",    "memory",  "pages",  "overwrite", "format",
                                         "quality", "compare", "report", "quiet",     "dry-run"};

std::vector<HelpLine> option_lines(const std::vector<OptionRow>& rows) {
  std::vector<HelpLine> lines;
  for (const std::string_view name : kMaxUsed) {
    const OptionRow* row = find_option(std::string(name), rows);
    HelpLine line = flags_line(*row);
    line.text = short_help(*row);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string stage_names() {
  std::string names;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) names += (names.empty() ? "" : ", ") + std::string(stage.name);
  }
  return names;
}

}  // namespace

std::string brief_help(const CommandRow& command, int width) {
  return wrapped(command.description, width) + "\nUsage:\n" + help_lines(indented(kUsage), width) +
         "\nExamples:\n" + help_lines(indented(kExamples), width) + "\n" +
         wrapped("Stages: " + stage_names(), width) + "\nOptions:\n" +
         help_lines(option_lines(command.rows()), width) + "\n" +
         wrapped("imgpipe help STAGE: a stage and its parameters. imgpipe --help: every option.", width);
}

}  // namespace imgpipe
