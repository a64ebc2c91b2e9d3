#include <algorithm>
#include <map>
#include <utility>

#include "images/error.h"
#include "images/memory/available_memory.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_rows.h"

namespace imgpipe {
namespace {

constexpr Shape kDefaultCodecSize{3264, 2448, 3};

}  // namespace

void BenchInput::check_group(std::size_t images) const {
  // Counts the expected results and, per image, coefficients or pixels and a decoder's memory.
  const std::int64_t bytes_per_pixel = 24 + 10 * static_cast<std::int64_t>(images);
  check_available(size_.pixels() * bytes_per_pixel);
}

std::shared_ptr<const CodecSubject> BenchInput::jpeg(std::size_t images) const {
  check_group(images);
  if (jpeg_) {
    try {
      return make_jpeg_subject(*jpeg_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;  // not accepted by our own decoder
    }
  }
  return make_jpeg_subject(jpeg_of(make(has_rgb() ? 3 : 1)));
}

std::shared_ptr<const CodecSubject> BenchInput::png(std::size_t images) const {
  check_group(images);
  return make_png_subject(make(has_rgb() ? 3 : 1));
}

CodecLab* Bench::codec_lab_for(VariantKind kind) {
  if (device_for(kind) == nullptr) return nullptr;
  std::unique_ptr<CodecLab>& lab = kind == VariantKind::cuda ? cuda_codecs_ : host_codecs_;
  if (!lab)
    lab = kind == VariantKind::cuda ? make_cuda_codec_lab(cuda_index_, threads_)
                                    : make_host_codec_lab(threads_);
  return lab.get();
}

bool Bench::runs_any(const CodecLadder& ladder) {
  return std::ranges::any_of(ladder.variants, [&](const CodecVariant& variant) {
    return wants(variant.name) && device_for(variant.kind) != nullptr;
  });
}

std::vector<BenchRow> Bench::run_codec(const CodecLadder& ladder, const BenchInput& input,
                                       const std::shared_ptr<const CodecSubject>& subject,
                                       const std::function<void(const BenchRow&)>& done) {
  const auto images = static_cast<std::size_t>(options_.group);
  std::vector<const CodecVariant*> variants;
  std::vector<BenchRow> rows;
  for (const CodecVariant& variant : ladder.variants) {
    if (!wants(variant.name) || device_for(variant.kind) == nullptr) continue;
    variants.push_back(&variant);
    rows.emplace_back(ladder.name, variant, variant.kind, input);
    rows.back().size = subject->pixels.shape();
    rows.back().images = images;
  }
  return measure(std::move(rows), done, [&](std::size_t i, BenchRow& row) {
    const CodecVariant& variant = *variants[i];
    row.bytes = static_cast<std::int64_t>(coded_bytes(variant, ladder.work, *subject) * images);
    CodecLab* lab = codec_lab_for(variant.kind);
    lab->load({subject, images});
    row.result = lab->run(variant, ladder.work, options_.lab);
  });
}

void run_codec_ladders(Bench& bench, const BenchOptions& options,
                       const std::function<void(const std::vector<BenchRow>&)>& take,
                       const std::function<void(const BenchRow&)>& say) {
  const auto images = static_cast<std::size_t>(options.group);
  const auto is_wanted = [&](std::string_view stage) {
    return is_requested(options, stage) &&
           std::ranges::any_of(codec_ladder_table(), [&](const CodecLadder& ladder) {
             return ladder.stage == stage && bench.runs_any(ladder);
           });
  };
  if (!is_wanted(kJpegLadders) && !is_wanted(kPngLadder)) return;
  for (const BenchInput& input : bench_inputs(options, {kDefaultCodecSize}, {"photo"})) {
    for (const std::string_view stage : {kJpegLadders, kPngLadder}) {
      if (!is_wanted(stage) || !bench.begin(std::string(stage) + ", " + input.name())) continue;
      const std::shared_ptr<const CodecSubject> subject =
          stage == kJpegLadders ? input.jpeg(images) : input.png(images);
      for (const CodecLadder& ladder : codec_ladder_table()) {
        if (ladder.stage == stage) take(bench.run_codec(ladder, input, subject, say));
      }
    }
  }
}

}  // namespace imgpipe
