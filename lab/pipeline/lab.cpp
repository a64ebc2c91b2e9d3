#include "lab/pipeline/lab.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "images/error.h"
#include "kernels/stage.h"
#include "lab/pipeline/first_difference.h"
#include "pipeline/compare.h"

namespace imgpipe {
namespace {

std::vector<std::uint64_t> counts_of(const ConstHostView& plane) {
  const FrameType shape{plane.width, plane.height, 1, false, Layout::planar, plane.sample};
  std::vector<std::uint64_t> counts(counters(shape));
  run_reference(*find_stage("hist"), {.in = {shape, {plane, {}, {}, {}}},
                                      .histogram = histogram_view<Host>(counts.data(), shape)});
  return counts;
}

// Returns the counts of each channel of an interleaved image.
std::vector<std::uint64_t> channel_counts(const Image& image) {
  const Shape& shape = image.shape();
  const FrameType mixed = frame_type_of(shape);
  const Stage& split = *find_stage("split");
  std::vector<Image> planes;
  Frame<std::byte, Host> out{output_type(split, mixed, {}), {}};
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.channels); ++c) {
    planes.emplace_back(Shape{shape.width, shape.height, 1, shape.sample});
    out.planes[c] = planes.back().untyped_view();
  }
  run_reference(split, {.in = {mixed, {image.untyped_view(), {}, {}, {}}}, .out = out});
  std::vector<std::uint64_t> all;
  for (const Image& plane : planes) {
    const std::vector<std::uint64_t> counts = counts_of(plane.untyped_view());
    all.insert(all.end(), counts.begin(), counts.end());
  }
  return all;
}

// Returns how many rows above its own an output row needs, inside a large image.
std::int64_t margin_of(const LabSubject& subject) {
  constexpr std::int64_t kInside = 1000;
  FrameType large = subject.in_type();
  large.height = 2 * kInside;
  const Stage& stage = *subject.stage;
  return kInside - rows_needed(stage, large, subject.parameters, {kInside, kInside + 1}).first;
}

// Describes a variant's result; valid only if it matched the reference.
std::string verdict(const StageVariant& variant, const LabSubject& subject) {
  if (variant.claim != Claim::near) return "exact";
  const std::int64_t border = 2 * margin_of(subject);
  const Shape& shape = subject.in.shape();
  const bool all_border = border > 0 && (shape.width <= border || shape.height <= border);
  return all_border ? "all border, not compared" : "within 1";
}

// Compares the pixels inside a border of `margin`; those that differ by at most `allowed` count as equal.
template <class T>
Difference difference_of(const Plane<const T, Host>& expected, const Plane<const T, Host>& out,
                         std::int64_t margin, int allowed) {
  Difference found;
  for (std::int64_t y = margin; y < expected.height - margin; ++y) {
    for (std::int64_t x = margin; x < expected.width - margin; ++x) {
      const int difference = std::abs(int{expected.row(y)[x]} - int{out.row(y)[x]});
      if (difference <= allowed) continue;
      ++found.count;
      found.largest = std::max(found.largest, static_cast<std::uint64_t>(difference));
    }
  }
  return found;
}

}  // namespace

FrameType LabSubject::in_type() const {
  return frame_type_of(in.shape());
}

FrameType LabSubject::out_type() const {
  return output_type(*stage, in_type(), parameters);
}

FrameType LabSubject::counted_type() const {
  return makes_pixels(*stage) ? out_type() : in_type();
}

std::int64_t LabSubject::bytes() const {
  return bytes_moved(*stage, in_type(), out_type());
}

LabSubject make_subject(const Ladder& ladder, Image in) {
  const Stage& stage = *find_stage(ladder.stage);
  const Shape shape = in.shape();
  const bool mixed = stage.ports.in.front().layout == Layout::interleaved;
  const bool fits = shape.channels == 3 ? mixed || !makes_pixels(stage) : shape.channels == 1 && !mixed;
  if (!fits)
    throw Error(ErrorKind::usage, "the ladder of " + std::string(ladder.name) + " needs " +
                                      (mixed ? "RGB" : "grey") + " images");
  if (shape.pixels() >> 32 != 0) throw Error(ErrorKind::usage, "the lab needs less than 2^32 pixels");
  if (shape.sample != ladder.sample)
    throw Error(ErrorKind::usage, "the ladder of " + std::string(ladder.name) + " needs " +
                                      std::to_string(8 * bytes_per_sample(ladder.sample)) + "-bit samples");
  LabSubject subject{&stage, ladder.parameters, std::move(in), {}, {}};
  const ConstHostView pixels = std::as_const(subject.in).untyped_view();
  if (shape.channels == 1) subject.counts = counts_of(pixels);
  if (!makes_pixels(stage)) {
    if (shape.channels == 3) subject.counts = channel_counts(subject.in);
    return subject;
  }
  subject.expected = Image({shape.width, shape.height, 1, subject.out_type().sample});
  run_reference(stage, {.in = {subject.in_type(), {pixels, {}, {}, {}}},
                        .out = {subject.out_type(), {subject.expected.untyped_view(), {}, {}, {}}},
                        .histogram = histogram_view<Host>(subject.counts.data(), subject.counted_type()),
                        .parameters = subject.parameters});
  if (shape.channels == 3) subject.counts = counts_of(std::as_const(subject.expected).untyped_view());
  return subject;
}

LabOutput poisoned_output(const LabSubject& subject) {
  LabOutput answer;
  if (makes_pixels(*subject.stage)) {
    answer.out = Image(subject.expected.shape());
    const HostView out = answer.out.untyped_view();
    for (std::int64_t y = 0; y < out.height; ++y) {
      const std::byte* expected = subject.expected.untyped_view().row(y);
      for (std::int64_t i = 0; i < out.row_bytes(); ++i) out.row(y)[i] = ~expected[i];
    }
  }
  answer.counts = subject.counts;
  if (find_port(subject.stage->ports.in, ValueKind::counts) == nullptr)
    std::ranges::fill(answer.counts, 0xDEADBEEFDEADBEEF);
  return answer;
}

std::vector<std::uint64_t> folded(const std::vector<std::uint64_t>& counts, int bins) {
  std::vector<std::uint64_t> out(counts.size(), 0);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t bin = i % kBins * static_cast<std::size_t>(bins) / kBins;
    out[i / kBins * kBins + bin] += counts[i];
  }
  return out;
}

std::string unmet_requirement(const StageVariant& variant, const LabOptions& options, const Shape& in) {
  const bool on_cuda = variant.kind() == VariantKind::cuda;
  if (on_cuda && variant.cuda == nullptr && variant.launch == nullptr) return "this build has no CUDA";
  constexpr std::int64_t kMaxPadding = 128;  // samples per row and channel
  constexpr std::int64_t kMaxOffset = std::numeric_limits<std::int32_t>::max();
  if (!variant.wide && (in.width + kMaxPadding) * in.channels * in.height > kMaxOffset)
    return "needs images of less than 2 GiB";
  const bool block_is_free = on_cuda && variant.grid != Grid::own;
  if (block_is_free && options.block > variant.max_threads)
    return "needs at most " + std::to_string(variant.max_threads) + " threads per block";
  return "";
}

std::string lab_difference(const StageVariant& variant, const LabSubject& subject, const ConstHostView& out,
                           const std::vector<std::uint64_t>& counts) {
  if (makes_pixels(*subject.stage)) {
    const bool near = variant.claim == Claim::near;
    const int allowed = near ? 1 : 0;
    const std::int64_t margin = near ? margin_of(subject) : 0;
    const ConstHostView expected = subject.expected.untyped_view();
    const Difference found = visit_sample(expected.sample, [&]<class T>(T) {
      return difference_of(expected.as<T>(), out.as<T>(), margin, allowed);
    });
    if (!found.identical()) return found.text();
    if (!variant.counts_too) return "";
  }
  const Difference found =
      compare_counts(counts, variant.bins == kBins ? subject.counts : folded(subject.counts, variant.bins));
  return found.identical() ? "" : found.text();
}

void LabDevice::load(std::shared_ptr<const LabSubject> subject) {
  subject_ = std::move(subject);
  prepare();
}

std::string LabDevice::unmet_requirement(const StageVariant& variant, const LabOptions& options,
                                         const Shape& in) {
  const std::string lacks = missing(variant);
  return lacks.empty() ? imgpipe::unmet_requirement(variant, options, in) : lacks;
}

LabResult LabDevice::run(const StageVariant& variant, const LabOptions& options) {
  if (std::string why = unmet_requirement(variant, options, subject().in.shape()); !why.empty())
    return not_run(std::move(why));
  LabOutput found = poisoned_output(subject());
  answer(variant, options, found);
  const ConstHostView out = std::as_const(found.out).untyped_view();
  Verification verification{.wrong = lab_difference(variant, subject(), out, found.counts),
                            .right = verdict(variant, subject()),
                            .may_be_wrong = variant.claim == Claim::wrong};
  if (!verification.wrong.empty() && variant.own != nullptr)
    verification.wrong += "; " + first_difference(subject(), out, found.counts);
  return measured(grid_text(variant, options), verification, [&] { return time_us(variant, options); });
}

}  // namespace imgpipe
