#include "app/shard_summary/summary_report.h"

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxShown = 20;

// Lists the first lines and counts the rest.
std::string list_of(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kMaxShown; ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kMaxShown)
    text += "  and " + std::to_string(lines.size() - kMaxShown) + " more (see --json)\n";
  return text;
}

// Lists how many images have no line, and their shards.
std::vector<std::string> lines_about_missing_images(const ShardSummary& summary) {
  const std::size_t images = summary.images_without_line();
  std::vector<std::string> lines{counted(images, "image") + ": their process was killed or never started"};
  for (const ShardSummary::Unfinished& run : summary.unfinished())
    lines.push_back((run.shard.empty() ? "a run" : "shard " + run.shard) + ": " +
                    with_separators(run.images_with_line) + " of " + with_separators(run.images) +
                    " have a line");
  for (const std::string& shard : summary.missing_shards()) lines.push_back("shard " + shard + ": no lines");
  return lines;
}

void add_summary(Fields& fields, const ShardSummary& summary, const std::vector<std::string>& files) {
  add_version(fields);
  add_run_head(fields, kReportSchema, RunHead(1), "cpu");
  fields.fixed("command", "report");
  fields.add("files", files);
  fields.add("images", summary.images());
  fields.add("done", summary.done());
  fields.add("skipped", summary.skipped());
  fields.add("failed", summary.failed());
  fields.add("not_done", summary.not_done());
  fields.add("pixels", summary.pixels());
  fields.add("input_bytes", summary.input_bytes());
  fields.add("output_bytes", summary.output_bytes());
  fields.add("longest_wall_s", summary.longest_wall_s());
  fields.add("all_walls_s", summary.all_walls_s());
  fields.add("shards", summary.shards());
  fields.add("shards_without_a_line", summary.missing_shards());
  fields.add("images_without_a_line", summary.images_without_line())
      .about("of the largest batch that lines tell of");
  fields
      .list("unfinished", summary.unfinished(),
            [](Fields& unfinished, const ShardSummary::Unfinished& run) {
              unfinished.add("shard", given(run.shard)).about("null: a run that was no shard");
              unfinished.add("images", run.images, kFromOne);
              unfinished.add("with_a_line", run.images_with_line);
            })
      .about("where images have no line: shards that have fewer lines than images");
  fields.add("strange_lines", summary.unrecognised_lines());
  fields.list("failures", summary.failures(), [](Fields& each, const ShardSummary::Failure& failure) {
    each.add("input", failure.input);
    each.add("status", failure.not_done ? "not_done" : "failed", one_of("failed|not_done"));
    each.add("error", given(failure.error));
    each.add("reason", given(failure.reason));
  });
}

}  // namespace

std::string summary_table(const ShardSummary& summary, std::size_t files) {
  std::string text = counted(summary.images(), "image") + " in " + std::to_string(files) +
                     (files == 1 ? " report: " : " reports: ") + with_separators(summary.done()) + " done, " +
                     with_separators(summary.skipped()) + " skipped, " + with_separators(summary.failed()) +
                     " failed, " + with_separators(summary.not_done()) + " not done\n";
  text += "done: " + number(static_cast<double>(summary.pixels()) / 1e6, 1) + " MP, read " +
          bytes_text(summary.input_bytes()) + ", wrote " + bytes_text(summary.output_bytes()) + "\n";
  text += "wall time: longest " + number(summary.longest_wall_s(), 2) + " s, total " +
          number(summary.all_walls_s(), 2) + " s\n";
  std::vector<std::string> failed, not_done;
  for (const ShardSummary::Failure& failure : summary.failures())
    (failure.not_done ? not_done : failed).push_back(failure.input + ": " + failure.reason);
  if (!failed.empty()) text += "\nfailed:\n" + list_of(failed);
  if (!not_done.empty()) text += "\nnot done:\n" + list_of(not_done);
  if (summary.images_without_line() > 0)
    text += "\nwithout a report line:\n" + list_of(lines_about_missing_images(summary));
  return text;
}

std::string summary_json(const ShardSummary& summary, const std::vector<std::string>& files) {
  return fields_of([&](Fields& fields) { add_summary(fields, summary, files); }).text();
}

std::string summary_schema() {
  return schema_text(kReportSchema, "Sums of batches' reports: imgpipe report --json",
                     [](Fields& fields) { add_summary(fields, ShardSummary(), {}); });
}

}  // namespace imgpipe
