// What ran when, for chrome://tracing and ui.perfetto.dev: the Trace Event Format's JSON array, one complete
// event ("X") a span, one thread a track. The array has its end at every moment, so that a run that is ended
// early leaves a trace too.
#pragma once

#include <map>
#include <span>
#include <string>

#include "app/files/complete_file.h"
#include "pipeline/timeline.h"

namespace imgpipe {

class TraceFile {
 public:
  // `shard`: "2/4" of the process whose it is; empty where there is but one.
  TraceFile(const std::string& path, OutputSync* sync, const std::string& shard = "");
  // The spans of one image; its name goes with each. Throws Error(output).
  void add(std::span<const Span> spans, const std::string& image);
  void close();

 private:
  [[nodiscard]] int thread_of(const std::string& track);

  CompleteFile file_;
  std::map<std::string, int> threads_;  // by track
};

[[nodiscard]] std::string trace_schema();

}  // namespace imgpipe
