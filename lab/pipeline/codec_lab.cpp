#include "lab/pipeline/codec_lab.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "lab/pipeline/thread_team.h"
#include "pipeline/compare.h"

namespace imgpipe {
namespace {

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string pixel_difference(const ConstHostPlane& right, const ConstHostPlane& got, Claim claim,
                             std::string& said) {
  std::int64_t samples = 0;
  Difference found;
  for (std::int64_t y = 0; y < right.height; ++y) {
    for (std::int64_t x = 0; x < right.width; ++x) {
      bool differs = false;
      for (int c = 0; c < right.channels; ++c) {
        const std::int64_t at = x * right.channels + c;
        const int difference = std::abs(int{right.row(y)[at]} - int{got.row(y)[at]});
        if (difference == 0) continue;
        differs = true;
        ++samples;
        found.largest = std::max(found.largest, static_cast<std::uint64_t>(difference));
      }
      found.count += differs ? 1 : 0;
    }
  }
  if (claim != Claim::near || found.identical()) return found.identical() ? "" : found.text();
  said = std::to_string(samples) + " of " + std::to_string(right.shape().samples()) +
         " samples differ, by up to " + std::to_string(found.largest);
  return "";
}

std::string scan_difference(const std::vector<std::byte>& right, const CodecOutput& answer) {
  if (answer.parts.size() != 1) return "no scan";
  const std::vector<std::byte>& got = answer.parts.front().bytes;
  if (got == right) return "";
  if (got.empty()) return "the scan exceeds its capacity";
  const auto [at, other] = std::ranges::mismatch(right, got);
  return "differs from byte " + std::to_string(at - right.begin()) + " (got " + std::to_string(got.size()) +
         " bytes, expected " + std::to_string(right.size()) + ")";
}

std::string strip_difference(const std::vector<ExpectedStrip>& right, const CodecOutput& answer,
                             std::string& said) {
  if (answer.parts.size() != right.size())
    return std::to_string(answer.parts.size()) + " strips, expected " + std::to_string(right.size());
  std::size_t wrong = 0;
  std::size_t filtered = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const CodecOutput::Part& part = answer.parts[i];
    const std::vector<std::byte>& bytes = part.filtered ? right[i].filtered : right[i].bytes;
    if (part.adler != right[i].adler || part.bytes != bytes) ++wrong;
    if (part.filtered) ++filtered;
  }
  if (wrong > 0) return counted(wrong, "strip") + (wrong == 1 ? " differs" : " differ");
  if (filtered > 0) said = "exact; " + counted(filtered, "strip") + " left to ISA-L";
  return "";
}

std::string file_difference(const CodecSubject& subject, const CodecOutput& answer, std::string& said) {
  if (answer.parts.empty()) return "no file";
  const std::vector<std::byte>& file = answer.parts.front().bytes;
  try {
    if (open_reader(file)->header().shape.pixels() != subject.pixels.shape().pixels())
      return "the file has another image size";
  } catch (const Error& error) {
    return std::string("not a JPEG: ") + error.what();
  }
  said = "different encoding: " + std::to_string(file.size()) + " bytes per file, libjpeg-turbo " +
         std::to_string(subject.grey_file_bytes);
  return "";
}

}  // namespace

bool is_codec_stage(std::string_view stage) {
  return std::ranges::find(codec_ladder_table(), stage, &CodecLadder::stage) != codec_ladder_table().end();
}

std::size_t coded_bytes(const CodecVariant& variant, CodecWork work, const CodecSubject& subject) {
  if (work == CodecWork::jpeg_encoding)
    return (variant.pixels == CodecPixels::grey ? subject.grey_scan : subject.color_scan).size();
  if (work != CodecWork::png_packing) return subject.jpeg.scan.data.size();
  const auto& strips = variant.pixels == CodecPixels::grey ? subject.grey_strips : subject.pixel_strips;
  return std::accumulate(
      strips.begin(), strips.end(), std::size_t{0},
      [](std::size_t sum, const ExpectedStrip& strip) { return sum + strip.bytes.size(); });
}

std::string unmet_requirement(const CodecVariant& variant, CodecWork work, const CodecSubject& subject) {
  if (variant.kind == VariantKind::cuda && variant.cuda == nullptr && variant.nvjpeg == Nvjpeg::none)
    return "this build has no CUDA";
  const bool grey_file = subject.pixels.shape().channels == 1;
  const bool encodes = work == CodecWork::jpeg_encoding || work == CodecWork::png_packing;
  if (grey_file && encodes && variant.pixels != CodecPixels::grey) return "the image is grey";
  return "";
}

std::string codec_difference(const CodecVariant& variant, CodecWork work, const CodecSubject& subject,
                             const CodecOutput& answer, std::string& said) {
  said = "exact";
  if (!answer.is_intact) return "rejects a valid file";
  switch (work) {
    case CodecWork::entropy: {
      if (answer.coefficients.size() != subject.coefficients.size()) return "wrong number of coefficients";
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < answer.coefficients.size(); ++i)
        wrong += answer.coefficients[i] != subject.coefficients[i] ? 1 : 0;
      return wrong == 0 ? "" : counted(wrong, "coefficient") + (wrong == 1 ? " differs" : " differ");
    }
    case CodecWork::reconstruction:
    case CodecWork::decoding: {
      if (answer.pixels.shape() != subject.picture(variant.pixels).shape()) return "wrong shape";
      std::string difference =
          pixel_difference(subject.picture(variant.pixels).view(), answer.pixels.view(), variant.claim, said);
      if (difference.empty() && !answer.counts.empty()) {
        const Difference found = compare_counts(answer.counts, subject.counts);
        if (!found.identical()) difference = found.text();
      }
      return difference;
    }
    case CodecWork::jpeg_encoding:
      if (variant.claim == Claim::near) return file_difference(subject, answer, said);
      return scan_difference(variant.pixels == CodecPixels::grey ? subject.grey_scan : subject.color_scan,
                             answer);
    case CodecWork::png_packing:
      break;
  }
  return strip_difference(variant.pixels == CodecPixels::grey ? subject.grey_strips : subject.pixel_strips,
                          answer, said);
}

Verification CodecLab::check(const CodecVariant& variant, CodecWork work) {
  run_once();
  Verification verification;
  for (std::size_t image = 0; image < group_.images; ++image) {
    verification.wrong = codec_difference(variant, work, *group_.subject, answer(image), verification.right);
    if (verification.wrong.empty()) continue;
    if (group_.images > 1) verification.wrong += " (image " + std::to_string(image) + ")";
    break;
  }
  return verification;
}

LabResult CodecLab::run(const CodecVariant& variant, CodecWork work, const LabOptions& options) {
  std::string why = unmet_requirement(variant, work, *group_.subject);
  if (why.empty()) why = begin(variant, work);
  LabResult result = why.empty()
                         ? measured(grid_text(), check(variant, work), [&] { return time_us(options); })
                         : not_run(std::move(why));
  end();
  return result;
}

namespace {

class HostCodecLab final : public CodecLab {
 public:
  explicit HostCodecLab(int threads) : crew_(threads) {}

 protected:
  std::string begin(const CodecVariant& variant, CodecWork) override {
    run_ = variant.host(group());
    threads_ = variant.kind == VariantKind::reference ? 1 : crew_.count();
    return "";
  }
  void run_once() override {
    run_->begin();
    if (threads_ == 1) return run_->run({0, 1});
    crew_.run([&](int index) { run_->run({index, threads_}); });
  }
  CodecOutput answer(std::size_t image) override { return run_->answer(image); }
  std::vector<double> time_us(const LabOptions& options) override {
    return times_by_clock(options, {}, [&] { run_once(); });
  }
  [[nodiscard]] std::string grid_text() const override { return threads_text(threads_); }
  void end() override { run_.reset(); }

 private:
  ThreadTeam crew_;
  int threads_ = 1;
  HostCodec run_;
};

}  // namespace

std::unique_ptr<CodecLab> make_host_codec_lab(int threads) {
  return std::make_unique<HostCodecLab>(threads);
}

}  // namespace imgpipe
