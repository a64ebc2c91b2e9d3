// Writes a trace for chrome://tracing and ui.perfetto.dev: the Trace Event Format's JSON object, with one
// complete event ("X") per span and one thread per track. The file is complete at every moment, so that an
// interrupted run leaves a valid trace.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "app/files/complete_file.h"
#include "pipeline/timeline.h"

namespace imgpipe {

class TraceFile {
 public:
  // `shard` is this process's shard, such as "2/4"; empty if there are no shards.
  TraceFile(const std::string& path, OutputSync* sync, const std::string& shard = "");
  // Adds the spans of one image, each labelled with the image's name. Throws Error(output).
  void add(std::span<const Span> spans, std::string_view image);
  void close();

 private:
  [[nodiscard]] int thread_of(const std::string& track);

  CompleteFile file_;
  std::map<std::string, int> threads_;  // by track
};

[[nodiscard]] std::string trace_schema();

}  // namespace imgpipe
