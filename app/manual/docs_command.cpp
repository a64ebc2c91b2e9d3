#include <algorithm>
#include <array>
#include <string_view>

#include "app/batch/batch_report.h"
#include "app/batch/ndjson_report.h"
#include "app/contract/contract_file.h"
#include "app/devices/devices_report.h"
#include "app/diff/diff_report.h"
#include "app/info/info_report.h"
#include "app/log_line.h"
#include "app/manual/completions.h"
#include "app/manual/man_page.h"
#include "app/manual/manual_options.h"
#include "app/options/option_parser.h"
#include "app/pages/pages_report.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/result_table.h"
#include "app/report/trace_file.h"
#include "app/shard_summary/summary_report.h"
#include "app/stats/stats_report.h"
#include "app/update/stamp.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::string man_file(const CommandRow& command) {
  return "man1/" + man_name(command) + ".1";
}

// Returns lines "FILE ARGUMENTS...": imgpipe ARGUMENTS generates FILE.
std::string package_files(const Parser& parser) {
  std::string text;
  for (const CommandRow& command : parser.commands())
    text += man_file(command) + " docs man" + (command.name.empty() ? "" : " ") + std::string(command.name) +
            "\n";
  return text +
         "completions/imgpipe docs bash\n"
         "completions/_imgpipe docs zsh\n"
         "completions/imgpipe.fish docs fish\n";
}

std::string man_page_of(const Parser& parser) {
  const std::string name = parser.more().empty() ? "" : parser.more().front();
  const CommandRow* command = find_command(parser.commands(), name);
  if (command == nullptr) usage("docs man: " + none_of(name, command_names(parser.commands())));
  return man_page(*command, parser.commands());
}

struct SchemaRow {
  std::string_view name;  // docs/schemas/NAME.schema.json
  std::string (*text)();
};
constexpr std::array<SchemaRow, 17> kSchemas{{{kImageSchema, image_schema},
                                              {kPagesSchema, pages_schema},
                                              {kBatchSchema, batch_schema},
                                              {kBatchLineSchema, batch_line_schema},
                                              {kHistogramSchema, histogram_schema},
                                              {kTraceSchema, trace_schema},
                                              {kUpdateLineSchema, update_line_schema},
                                              {kReportSchema, summary_schema},
                                              {kStatsSchema, stats_schema},
                                              {kStatsImagesSchema, stats_images_schema},
                                              {kStatsLineSchema, stats_line_schema},
                                              {kBenchSchema, tables_schema},
                                              {kDevicesSchema, devices_schema},
                                              {kInfoSchema, info_schema},
                                              {kContractSchema, contract_schema},
                                              {kDiffSchema, diff_schema},
                                              {kLogSchema, log_schema}}};

std::vector<std::string_view> schema_names() {
  std::vector<std::string_view> names(kSchemas.size());
  std::ranges::transform(kSchemas, names.begin(), &SchemaRow::name);
  return names;
}

std::string schema_of(const Parser& parser) {
  const std::vector<std::string_view> names = schema_names();
  if (parser.more().empty()) usage("docs schema: missing NAME; must be one of " + joined(names));
  const auto schema = std::ranges::find(kSchemas, parser.more().front(), &SchemaRow::name);
  if (schema == kSchemas.end()) usage("docs schema: " + none_of(parser.more().front(), names));
  return schema->text();
}

struct DocsKind {
  std::string_view name;
  std::string (*text)(const Parser&);
  bool takes_word = false;
};
constexpr std::array<DocsKind, 6> kKinds{
    {{"man", man_page_of, true},
     {"bash", [](const Parser& parser) { return bash_completion(parser.commands()); }},
     {"zsh", [](const Parser& parser) { return zsh_completion(parser.commands()); }},
     {"fish", [](const Parser& parser) { return fish_completion(parser.commands()); }},
     {"files", package_files},
     {"schema", schema_of, true}}};

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names(kKinds.size());
  std::ranges::transform(kKinds, names.begin(), &DocsKind::name);
  return names;
}

ReadyCommand read_docs(const Parser& parser) {
  const std::vector<std::string_view> kinds = kind_names();
  if (!parser.has("kind"))
    usage("docs: missing KIND; must be one of " + joined(kinds) + "; see imgpipe docs --help");
  const std::string name = parser.text("kind");
  const auto kind = std::ranges::find(kKinds, name, &DocsKind::name);
  if (parser.more().size() > (kind != kKinds.end() && kind->takes_word ? 1U : 0U))
    usage("unexpected argument '" + printable(parser.more().back()) + "'");
  if (kind == kKinds.end()) usage("docs: " + none_of(name, kinds));
  return ready(kind->text(parser));
}

}  // namespace

CommandRow docs_command() {
  return {.name = "docs",
          .summary = "man pages, and completions for shells",
          .description =
              "Prints the man page of a command, shell completions, the list of packaged files, or the JSON "
              "Schema of a report.",
          .usage = {{"imgpipe docs man [COMMAND]", "the man page of a command, in roff"},
                    {"imgpipe docs bash|zsh|fish", "completions for a shell"},
                    {"imgpipe docs files",
                     "the man pages and completions to package, and the command that prints each"},
                    {"imgpipe docs schema NAME", "the JSON Schema of a report, such as image or batch-line"}},
          .call = "imgpipe docs man|bash|zsh|fish",
          .positional = {"kind"},
          .accepts_more_arguments = true,
          .requires_arguments = false,
          .rows = manual_rows,
          .topics =
              [](Commands commands) {
                return std::vector<TopicWords>{{"docs", strings(kind_names())},
                                               {"docs man", strings(command_names(commands))},
                                               {"docs schema", strings(schema_names())}};
              },
          .exits = {kExitDone, kExitUsage, kExitOutput},
          .read = read_docs};
}

}  // namespace imgpipe
