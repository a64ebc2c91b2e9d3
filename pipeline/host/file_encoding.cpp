#include "pipeline/file_encoding.h"

#include <utility>
#include <vector>

#include "pipeline/host/bands.h"

namespace imgpipe {

EncodedFile encode_image(ConstHostView pixels, Writer& writer, HostThreads& threads, Timeline& timeline,
                         const ByteSink& sink) {
  const Plan plan{.input = pixels.shape(), .output = pixels.shape()};
  const ChainedPlan chained(plan, true, {});
  std::vector<std::vector<std::uint64_t>> no_counts;
  WholeBuffers whole(chained.program, no_counts);
  whole.set_view(0, pixels);
  run_chain({.plan = chained,
             .chain = chained.chains.front(),
             .reader = nullptr,
             .writer = &writer,
             .sink = sink,
             .whole = whole,
             .timeline = timeline},
            threads);
  return finish_file(writer, timeline, sink);
}

EncodedFile finish_file(Writer& writer, Timeline& timeline, const ByteSink& sink) {
  EncodedFile file;
  {
    const auto span = timeline.span("encode", SpanKind::host);
    file = writer.finish();
  }
  if (!sink) return file;
  const auto span = timeline.span("write", SpanKind::host, static_cast<std::int64_t>(file.size_bytes()));
  for (const std::vector<std::byte>& part : file.parts) sink(part);
  return {.parts = {}, .patches = std::move(file.patches)};
}

bool is_large_file(const Writer& writer) {
  constexpr std::int64_t kHeldBytes = std::int64_t{8} << 20;
  return writer.working_bytes() > kHeldBytes;
}

}  // namespace imgpipe
