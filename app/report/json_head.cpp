#include "app/report/json_head.h"

#include "app/version.h"
#include "images/simd.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

// Cached, because a report may have thousands of lines.
const std::string& version() {
  static const std::string kVersion = build_info().version;
  return kVersion;
}

}  // namespace

std::string schema_id(std::string_view name) {
  return "imgpipe/" + std::string(name) + "/1";
}

void add_version(Fields& fields) {
  fields.add("imgpipe", version()).about("the version; the first key, by which imgpipe knows its files");
}

void add_build(Fields& fields) {
  const BuildInfo info = build_info();
  fields.object("imgpipe", [&](Fields& build) {
    build.add("version", info.version);
    build.add("commit", info.commit);
    build.add("compiler", info.compiler);
    build.add("build_type", info.build_type);
    build.add("cuda", info.cuda);
    build.add("libraries", info.libraries);
  });
}

void add_kind(Fields& fields, std::string_view name) {
  fields.fixed("schema", schema_id(name));
  fields.add("version", version());
}

RunHead::RunHead(int given) : context(run_context()), threads(given > 0 ? given : host_threads()) {}

void add_run_head(Fields& fields, std::string_view name, const RunHead& run,
                  const std::optional<std::string>& device) {
  add_kind(fields, name);
  constexpr Rule kDate{.pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"};
  fields.add("date", run.context.date, kDate).about("when it was written, UTC (RFC 3339)");
  fields.add("host", run.context.host).about("the machine's name");
  if (device) fields.add("device", *device);
  fields.add("threads", run.threads, kFromOne).about("as --threads has it, or as many as there were");
  fields.add("simd", simd_target()).about("the instruction set of the CPU's code");
}

}  // namespace imgpipe
