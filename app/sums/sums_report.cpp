#include "app/sums/sums_report.h"

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMostShown = 20;

// The first of them, and how many more.
std::string list_of(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kMostShown; ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kMostShown)
    text += "  and " + std::to_string(lines.size() - kMostShown) + " more (see --json)\n";
  return text;
}

// How many images, and of which shards.
std::vector<std::string> what_has_no_line(const BatchSums& sums) {
  const std::size_t images = sums.without_a_line();
  std::vector<std::string> lines{counted(images, "image") + ": killed before it came to them, or never run"};
  for (const BatchSums::Unfinished& run : sums.unfinished())
    lines.push_back((run.shard.empty() ? "a run" : "shard " + run.shard) + ": " +
                    with_separators(run.with_a_line) + " of " + with_separators(run.images) + " have one");
  for (const std::string& shard : sums.missing_shards()) lines.push_back("shard " + shard + ": none");
  return lines;
}

void add_sums(Fields& fields, const BatchSums& sums, const std::vector<std::string>& files) {
  add_version(fields);
  add_run_head(fields, kReportSchema, RunHead(1), "cpu");
  fields.fixed("command", "report");
  fields.add("files", files);
  fields.add("images", sums.images());
  fields.add("done", sums.done());
  fields.add("skipped", sums.skipped());
  fields.add("failed", sums.failed());
  fields.add("not_done", sums.not_done());
  fields.add("pixels", sums.pixels());
  fields.add("input_bytes", sums.input_bytes());
  fields.add("output_bytes", sums.output_bytes());
  fields.add("longest_wall_s", sums.longest_wall_s());
  fields.add("all_walls_s", sums.all_walls_s());
  fields.add("shards", sums.shards());
  fields.add("shards_without_a_line", sums.missing_shards());
  fields.add("images_without_a_line", sums.without_a_line()).about("of the largest batch that lines tell of");
  fields
      .list("unfinished", sums.unfinished(),
            [](Fields& unfinished, const BatchSums::Unfinished& run) {
              unfinished.add("shard", given(run.shard)).about("null: a run that was no shard");
              unfinished.add("images", run.images, kFromOne);
              unfinished.add("with_a_line", run.with_a_line);
            })
      .about("where images have no line: shards that have fewer lines than images");
  fields.add("strange_lines", sums.strange_lines());
  fields.list("failures", sums.failures(), [](Fields& each, const BatchSums::Failure& failure) {
    each.add("input", failure.input);
    each.add("status", failure.not_done ? "not_done" : "failed", one_of("failed|not_done"));
    each.add("error", given(failure.error));
    each.add("reason", given(failure.reason));
  });
}

}  // namespace

std::string sums_table(const BatchSums& sums, std::size_t files) {
  std::string text = counted(sums.images(), "image") + " in " + std::to_string(files) +
                     (files == 1 ? " report: " : " reports: ") + with_separators(sums.done()) + " done, " +
                     with_separators(sums.skipped()) + " skipped, " + with_separators(sums.failed()) +
                     " failed, " + with_separators(sums.not_done()) + " not done\n";
  text += "of what is done: " + number(static_cast<double>(sums.pixels()) / 1e6, 1) + " MP, read " +
          bytes_text(sums.input_bytes()) + ", wrote " + bytes_text(sums.output_bytes()) + "\n";
  text += "wall time: " + number(sums.longest_wall_s(), 2) + " s of the longest, " +
          number(sums.all_walls_s(), 2) + " s of all together\n";
  std::vector<std::string> failed, not_done;
  for (const BatchSums::Failure& failure : sums.failures())
    (failure.not_done ? not_done : failed).push_back(failure.input + ": " + failure.reason);
  if (!failed.empty()) text += "\nfailed:\n" + list_of(failed);
  if (!not_done.empty()) text += "\nnot done:\n" + list_of(not_done);
  if (sums.without_a_line() > 0) text += "\nwithout a line:\n" + list_of(what_has_no_line(sums));
  return text;
}

std::string sums_json(const BatchSums& sums, const std::vector<std::string>& files) {
  return fields_of([&](Fields& fields) { add_sums(fields, sums, files); }).text();
}

std::string sums_schema() {
  return schema_text(kReportSchema, "Sums of batches' reports: imgpipe report --json",
                     [](Fields& fields) { add_sums(fields, BatchSums(), {}); });
}

}  // namespace imgpipe
