#include <algorithm>
#include <map>

#include "app/batch/batch_report.h"
#include "app/process_options/options_digest.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/run_context.h"
#include "app/shard/shard.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::vector<std::string> printable_list(const std::vector<std::string>& texts) {
  std::vector<std::string> list(texts.size());
  std::ranges::transform(texts, list.begin(), [](const std::string& text) { return printable(text); });
  return list;
}

void add_shard(Fields& fields, const Shard& shard, const BatchTotals& totals) {
  fields.add("index", shard.index, kFromOne);
  fields.add("count", shard.count, kFromOne);
  fields.add("given", shard.by.empty());
  fields.list("by", shard.by, [](Fields& launcher, const LauncherIndex& index) {
    launcher.add("variable", index.variable);
    launcher.add("value", index.value, kAnyNumber);
    launcher.add("first", index.first, kAnyNumber);
    launcher.add("last", index.last, kAnyNumber);
  });
  fields.add("balance", balance_name(shard.balance));
  fields.add("list", given(totals.shard_list));
  fields.add("files_of_others", totals.other_shards);
}

void add_run(Fields& fields, const BatchTotals& totals, const ProcessOptions& options) {
  const Shard shard = options.shard.value_or(Shard());
  std::string device;
  for (const std::string& one : totals.devices) device += (device.empty() ? "" : "; ") + one;
  add_build(fields);
  add_run_head(fields, kBatchSchema, RunHead(options.execution.threads), device);
  fields.add("command", command_text()).about(kCommandAbout);
  fields.add("input", printable(options.input.path));
  fields.add("more_inputs", printable_list(options.input.more_paths));
  fields.add("output", printable(options.output.path));
  fields.object("options", [&](Fields& all) {
    add_options(all, options);
    all.add("jobs", options.execution.jobs);
    all.add("recursive", options.input.recursive);
    all.add("include", printable_list(options.input.include));
    all.add("exclude", printable_list(options.input.exclude));
    all.add("skip_existing", options.output.skip_existing);
    all.add("update", options.output.update);
    all.add("fail_fast", options.execution.fail_fast);
    all.add("shard", given(options.shard ? shard_name(shard.index, shard.count) : ""));
  });
  fields.add("options_digest", options_digest(options, options.output.format), kDigest).about(kDigestAbout);
  fields.object_if(options.shard.has_value(), "shard", [&](Fields& part) { add_shard(part, shard, totals); });
}

void add_results(Fields& fields, const BatchTotals& totals) {
  fields.add("images", totals.images);
  fields.add("done", totals.done);
  fields.add("skipped", totals.skipped);
  fields.add("failed", totals.failed());
  fields.add("not_done", totals.not_done());
  Named<std::size_t> skipped_inputs;
  for (const auto& [name, kind] : totals.skipped_inputs.kinds) skipped_inputs.emplace_back(name, kind.files);
  fields.add("passed_over", skipped_inputs);
  fields.add("not_selected", totals.skipped_inputs.not_selected);
  fields.add("ended_early", given(totals.stopped));
  fields.add("profiles_dropped", totals.profiles_dropped.images);
  fields.add("metadata_dropped", totals.metadata_dropped.images);
  fields.add("decoded_at_smaller_scale", totals.scaled.images);
  fields.add("reduced_to_8_bits", totals.reduced.images);
  fields
      .object_if(totals.tensor.has_value(), "tensor",
                 [&](Fields& tensor) {
                   const BatchTotals::TensorRows rows = totals.tensor.value_or(BatchTotals::TensorRows());
                   add_tensor(tensor, rows.type, rows.rows);
                   tensor.add("names_file", given(printable(rows.names_file)));
                 })
      .about("the file of --tensor, if it was written");
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
  fields
      .object("images_by_route",
              [&](Fields& routes) {
                for (const ImageRoute route : {ImageRoute::host, ImageRoute::device,
                                               ImageRoute::device_in_bands, ImageRoute::host_for_memory})
                  routes.add(route_name(route), totals.images_by_route(route));
              })
      .about("how many of the images done, by the route of their lines in an .ndjson report");
  const std::vector<double> sorted = totals.image_ms();
  fields.object("image_ms", [&](Fields& times) {
    times.add("p50", percentile(sorted, 0.5));
    times.add("p90", percentile(sorted, 0.9));
    times.add("p99", percentile(sorted, 0.99));
    times.add("max", sorted.empty() ? 0.0 : sorted.back());
  });
  fields.list("parts", totals.parts(), add_part);
  fields.add("bottleneck", bottleneck(totals));
  std::vector<std::pair<std::string, ReportFailure>> failures;  // paired with names
  for (const PathProblem& problem : totals.problems)
    failures.push_back({problem.path, {printable(problem.path), ErrorKind::input, problem.reason}});
  for (const BatchFailure& failure : totals.failures)
    failures.push_back({std::string(failure.file->name()),
                        {printable(failure.file->input), failure.kind, *failure.reason_alone}});
  fields.list("failures", failures, [](Fields& failure, const auto& named) {
    failure.add("name", printable(named.first));
    add_failure(failure, named.second);
  });
}

}  // namespace

std::string batch_json(const BatchTotals& totals, const ProcessOptions& options) {
  return fields_of([&](Fields& fields) {
           add_run(fields, totals, options);
           add_results(fields, totals);
         })
      .text();
}

std::string batch_schema() {
  return schema_text(kBatchSchema, "Totals of a batch: --report FILE.json", [](Fields& fields) {
    const BatchTotals totals;
    add_run(fields, totals, {});
    add_results(fields, totals);
  });
}

}  // namespace imgpipe
