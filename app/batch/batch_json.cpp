// The report of a batch for programs.
#include <map>

#include "app/batch/batch_report.h"
#include "app/batch/shard.h"
#include "app/options/options_digest.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/run_place.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::vector<std::string> printable_list(const std::vector<std::string>& texts) {
  std::vector<std::string> list;
  for (const std::string& text : texts) list.push_back(printable(text));
  return list;
}

void batch_option_fields(Fields& fields, const ProcessOptions& options) {
  const BatchOptions& batch = options.batch;
  option_fields(fields, options);
  fields.add("jobs", batch.jobs);
  fields.add("recursive", batch.recursive);
  fields.add("include", printable_list(batch.include));
  fields.add("exclude", printable_list(batch.exclude));
  fields.add("skip_existing", batch.skip_existing);
  fields.add("update", options.update);
  fields.add("fail_fast", batch.fail_fast);
  fields.add("shard",
             batch.shard ? std::optional(shard_name(batch.shard->index, batch.shard->count)) : std::nullopt);
}
constexpr Object<ProcessOptions> kOptions{"options", batch_option_fields};

void launcher_fields(Fields& fields, const LauncherIndex& index) {
  fields.add("variable", index.variable);
  fields.add("value", index.value, kAnyNumber);
  fields.add("first", index.first, kAnyNumber);
  fields.add("last", index.last, kAnyNumber);
}
constexpr Object<LauncherIndex> kLauncher{"launcher", launcher_fields};

struct ShardFacts {
  Shard shard;
  std::string list;
  std::size_t files_of_others = 0;
};
void shard_fields(Fields& fields, const ShardFacts& facts) {
  fields.add("index", facts.shard.index, kFromOne);
  fields.add("count", facts.shard.count, kFromOne);
  fields.add("given", facts.shard.by.empty());
  fields.list("by", facts.shard.by, kLauncher);
  fields.add("balance", balance_name(facts.shard.balance));
  fields.add("list", given(facts.list));
  fields.add("files_of_others", facts.files_of_others);
}
constexpr Object<ShardFacts> kShard{"shard", shard_fields};

void route_fields(Fields& fields, const BatchTotals& totals) {
  for (const ImageRoute route :
       {ImageRoute::host, ImageRoute::device, ImageRoute::device_in_bands, ImageRoute::host_for_memory})
    fields.add(route_name(route), totals.images_by_route(route));
}
constexpr Object<BatchTotals> kRoutes{"routes", route_fields};

void time_fields(Fields& fields, const std::vector<double>& sorted) {
  fields.add("p50", percentile(sorted, 0.5));
  fields.add("p90", percentile(sorted, 0.9));
  fields.add("p99", percentile(sorted, 0.99));
  fields.add("max", sorted.empty() ? 0.0 : sorted.back());
}
constexpr Object<std::vector<double>> kTimes{"times", time_fields};

void part_fields(Fields& fields, const BatchTotals::PartBusy& part) {
  fields.add("part", part.part);
  fields.add("by", part.by);
  fields.add("busy_s", part.busy_s);
  fields.add("share", part.share);
}
constexpr Object<BatchTotals::PartBusy> kPart{"part", part_fields};

struct NamedFailure {
  std::string name;
  ReportFailure failure;
};
void named_failure_fields(Fields& fields, const NamedFailure& failure) {
  fields.add("name", printable(failure.name));
  failure_fields(fields, failure.failure);
}
constexpr Object<NamedFailure> kNamedFailure{"failure", named_failure_fields};

std::vector<NamedFailure> all_failures(const BatchTotals& totals) {
  std::vector<NamedFailure> all;
  for (const PathProblem& problem : totals.problems)
    all.push_back({problem.path, {printable(problem.path), ErrorKind::input, problem.reason}});
  for (const BatchFailure& failure : totals.failures)
    all.push_back(
        {failure.file->name, {printable(failure.file->input), failure.kind, *failure.reason_alone}});
  return all;
}

struct BatchResults {
  const BatchTotals& totals;
  const ProcessOptions& options;
};
void batch_fields(Fields& fields, const BatchResults& results) {
  const BatchTotals& totals = results.totals;
  const ProcessOptions& options = results.options;
  std::string device;
  for (const std::string& one : totals.devices) device += (device.empty() ? "" : "; ") + one;
  add_build(fields);
  add_run_head(fields, kBatchSchema, RunHead(options.threads), device);
  fields.add("command", command_text()).about(kCommandAbout);
  fields.add("input", printable(options.input));
  fields.add("more_inputs", printable_list(options.batch.more_inputs));
  fields.add("output", printable(options.output));
  fields.add("options", options, kOptions);
  fields.add("options_digest", options_digest(options, options.format), kDigest).about(kDigestAbout);
  fields.add("shard",
             options.batch.shard
                 ? std::optional(ShardFacts{*options.batch.shard, totals.shard_list, totals.other_shards})
                 : std::nullopt,
             kShard);
  fields.add("images", totals.images);
  fields.add("done", totals.done);
  fields.add("skipped", totals.skipped);
  fields.add("failed", totals.failed());
  fields.add("not_done", totals.not_done());
  Named<std::size_t> passed_over;
  for (const auto& [name, kind] : totals.passed_over.kinds) passed_over.emplace_back(name, kind.files);
  fields.add("passed_over", passed_over);
  fields.add("not_selected", totals.passed_over.not_selected);
  fields.add("ended_early", given(totals.stopped));
  fields.add("profiles_dropped", totals.profiles_dropped.images);
  fields.add("metadata_dropped", totals.metadata_dropped.images);
  fields.add("reduced_to_8_bits", totals.reduced.images);
  fields.add("wall_s", totals.wall_s);
  const double wall_s = totals.wall_s > 0 ? totals.wall_s : 1;
  fields.add("images_per_s", static_cast<double>(totals.done) / wall_s);
  fields.add("megapixels_per_s", static_cast<double>(totals.pixels) / 1e6 / wall_s);
  fields.add("pixels", totals.pixels);
  fields.add("input_bytes", totals.input_bytes);
  fields.add("output_bytes", totals.output_bytes);
  fields.add("jobs", totals.jobs);
  fields.add("memory_bytes", totals.memory_bytes);
  fields.add("peak_admitted_bytes", totals.peak_admitted_bytes);
  fields.add("devices", totals.devices);
  fields.add("device_why", totals.device_why);
  const std::map<std::string, std::size_t> by_device = totals.images_by_device();
  fields.add("images_by_device", Named<std::size_t>(by_device.begin(), by_device.end()));
  fields.add("images_by_route", totals, kRoutes)
      .about("how many of the images done, by the route of their lines in an .ndjson report");
  fields.add("image_ms", totals.image_ms(), kTimes);
  fields.list("parts", totals.parts(), kPart);
  fields.add("bottleneck", bottleneck(totals));
  fields.list("failures", all_failures(totals), kNamedFailure);
}
constexpr Object<BatchResults> kBatch{kBatchSchema, batch_fields};

}  // namespace

std::string batch_json(const BatchTotals& totals, const ProcessOptions& options) {
  return Fields(kBatch, {totals, options}).text();
}

std::string batch_schema() {
  const BatchTotals totals;
  const ProcessOptions options;
  return schema_text(kBatch, "What a batch came to: --report FILE.json", {totals, options});
}

}  // namespace imgpipe
