// The codecs' ladders: every variant is right on awkward images, and the lab detects wrong results.
#include "lab/pipeline/codec_lab.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/device.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/sanitizers.h"
#ifdef IMGPIPE_TEST_CUDA
#include "lab/pipeline/toolkit_library.h"
#endif

namespace imgpipe::test::codec_lab_test {
namespace {

using Subject = std::shared_ptr<const CodecSubject>;

Image image_of(const char* pattern, Shape shape) {
  return synthesize(parse_pattern(pattern), shape, 7);
}

struct NamedSubject {
  std::string name;
  Subject subject;
};

MadeJpeg made(std::int64_t width, std::int64_t height, JpegFactors luma, JpegContent content) {
  MadeJpeg jpeg;
  jpeg.width = width;
  jpeg.height = height;
  jpeg.factors = {luma, JpegFactors{}, JpegFactors{}, JpegFactors{}};
  jpeg.content = content;
  return jpeg;
}

// Returns JPEGs of every sampling at sizes around blocks and MCUs, with one row or column, with restarts, and
// with coefficients out of range.
std::vector<NamedSubject> jpeg_subjects() {
  std::vector<MadeJpeg> jpegs;
  for (const JpegFactors luma : {JpegFactors{1, 1}, {2, 1}, {2, 2}, {1, 2}}) {
    for (const auto& [width, height] :
         {std::pair(1, 1), std::pair(3, 70), std::pair(67, 1), std::pair(33, 17)})
      jpegs.push_back(made(width, height, luma, JpegContent::photo));
    jpegs.push_back(made(49, 35, luma, JpegContent::extreme));
    jpegs.push_back(made(49, 35, luma, JpegContent::dense));
    jpegs.push_back(made(50, 50, luma, JpegContent::constant));
    MadeJpeg restarts = made(70, 65, luma, JpegContent::noise);
    restarts.restart_mcus = 3;
    jpegs.push_back(restarts);
    MadeJpeg grey = made(31, 66, {1, 1}, JpegContent::photo);
    grey.stored = JCS_GRAYSCALE;
    grey.restart_rows = luma.down;
    grey.optimised = true;
    jpegs.push_back(grey);
  }
  std::vector<NamedSubject> subjects;
  for (const MadeJpeg& jpeg : jpegs)
    subjects.push_back({description(jpeg), make_jpeg_subject(make_jpeg(jpeg))});
  subjects.push_back({"a photo", make_jpeg_subject(jpeg_of(image_of("photo", {531, 277, 3})))});
  return subjects;
}

std::vector<NamedSubject> png_subjects() {
  std::vector<NamedSubject> subjects;
  const auto add = [&](const char* pattern, Shape shape) {
    subjects.push_back({std::string(pattern) + " " + std::to_string(shape.width) + "x" +
                            std::to_string(shape.height) + "x" + std::to_string(shape.channels),
                        make_png_subject(image_of(pattern, shape))});
  };
  for (const char* pattern : {"photo", "noise", "constant:9", "ramp", "checker"}) {
    for (const Shape& shape : {Shape{1, 1, 1}, Shape{1, 777, 3}, Shape{777, 1, 1}, Shape{331, 213, 1},
                               Shape{219, 101, 3}, Shape{20'000, 3, 1}})
      add(pattern, shape);
  }
  add("photo", {1031, 613, 1});  // two strips
  return subjects;
}

// Checks every variant that `lab` runs and `wanted` selects.
template <class Wanted>
void check_variants(CodecLab& lab, const NamedSubject& named, std::size_t images, const Wanted& wanted) {
  const bool png = named.subject->file.empty();
  for (const CodecLadder& ladder : codec_ladder_table()) {
    if ((ladder.stage == kPngLadder) != png) continue;
    for (const CodecVariant& variant : ladder.variants) {
      if (!wanted(variant)) continue;
      lab.load({named.subject, images});
      const LabResult result = lab.run(variant, ladder.work, {3, 0, 0});
      if (result.status == LabStatus::not_run) {
        EXPECT_EQ(result.detail, "the image is grey") << ladder.name << " " << variant.name;
        continue;
      }
      EXPECT_EQ(result.status, LabStatus::right)
          << ladder.name << ", " << variant.name << ", " << named.name << ": " << result.detail;
      EXPECT_EQ(result.detail.substr(0, 5), "exact");
      EXPECT_EQ(result.times_us.size(), 3U);
      EXPECT_TRUE(std::ranges::is_sorted(result.times_us));
    }
  }
}

class HostCodecLabTest : public testing::TestWithParam<int> {
 protected:
  static bool is_of_the_host(const CodecVariant& variant) { return variant.kind != VariantKind::cuda; }
  std::unique_ptr<CodecLab> lab_ = make_host_codec_lab(GetParam());
};

TEST_P(HostCodecLabTest, EveryVariantIsRightOnAwkwardJpegs) {
  for (const NamedSubject& named : jpeg_subjects()) {
    for (const std::size_t images : {std::size_t{1}, std::size_t{3}})
      check_variants(*lab_, named, images, is_of_the_host);
  }
}

TEST_P(HostCodecLabTest, StoppedVariantKeepsItsTimes) {
  const NamedSubject named = png_subjects().front();
  lab_->load({named.subject, 1});
  for (const CodecLadder& ladder : codec_ladder_table()) {
    if (ladder.stage != kPngLadder) continue;
    int asked = 0;
    const auto variant = std::ranges::find_if(ladder.variants, is_of_the_host);
    const LabOptions options{.repeat = 100, .stop = [&] { return ++asked == 4; }};
    EXPECT_EQ(lab_->run(*variant, ladder.work, options).times_us.size(), 2U);
  }
}

TEST_P(HostCodecLabTest, EveryVariantPacksAwkwardImages) {
  for (const NamedSubject& named : png_subjects()) check_variants(*lab_, named, 2, is_of_the_host);
}

INSTANTIATE_TEST_SUITE_P(Threads, HostCodecLabTest,
                         testing::ValuesIn(kSanitized ? std::vector<int>{2} : std::vector<int>{1, 2, 5}));

// ---- detection of wrong results -----------------------------------------------------------------------

// Returns the right results, but the test changes those of the last image.
class Spoiled final : public HostCodecRun {
 public:
  using Change = void (*)(CodecOutput&);
  Spoiled(const CodecGroup& group, Change change) : group_(group), change_(change) {}
  void run(const Share&) override {}
  CodecOutput answer(std::size_t image) override {
    const CodecSubject& subject = *group_.subject;
    CodecOutput answer;
    answer.coefficients = subject.coefficients;
    answer.pixels = Image(subject.pixels.shape());
    copy_pixels(subject.pixels.view(), answer.pixels.view());
    answer.counts = subject.counts;
    if (!subject.grey_scan.empty()) answer.parts.push_back({.bytes = subject.grey_scan});
    for (const ExpectedStrip& strip : subject.grey_strips)
      answer.parts.push_back({.bytes = strip.bytes, .adler = strip.adler});
    if (image + 1 == group_.images) change_(answer);
    return answer;
  }

 private:
  CodecGroup group_;
  Change change_;
};

template <Spoiled::Change kChange>
HostCodec spoiled(const CodecGroup& group) {
  return std::make_unique<Spoiled>(group, kChange);
}

void leave(CodecOutput&) {}
void change_coefficient(CodecOutput& answer) {
  answer.coefficients.back() ^= 1;
}
void drop_coefficients(CodecOutput& answer) {
  answer.coefficients.pop_back();
}
void change_pixel(CodecOutput& answer) {
  const HostPlane view = answer.pixels.view();
  view.row(view.height - 1)[view.row_samples() - 1] ^= 2;
}
void change_count(CodecOutput& answer) {
  ++answer.counts[17];
}
void say_damaged(CodecOutput& answer) {
  answer.is_intact = false;
}
void change_byte(CodecOutput& answer) {
  answer.parts.back().bytes.back() ^= std::byte{1};
}
void cut_byte(CodecOutput& answer) {
  answer.parts.back().bytes.pop_back();
}
void leave_no_bytes(CodecOutput& answer) {
  answer.parts.back().bytes.clear();
}
void drop_part(CodecOutput& answer) {
  answer.parts.pop_back();
}
void change_adler(CodecOutput& answer) {
  ++answer.parts.back().adler;
}
void leave_it_filtered(CodecOutput& answer) {
  answer.parts.back().filtered = true;
}

struct Wrong {
  CodecWork work;
  HostCodec (*host)(const CodecGroup&);
  const char* detail;
};

TEST(CodecLabTest, WrongVariantIsNeverTimed) {
  const std::unique_ptr<CodecLab> lab = make_host_codec_lab(1);
  const Subject jpeg = make_jpeg_subject(jpeg_of(image_of("photo", {67, 41, 3})));
  const Subject png = make_png_subject(image_of("photo", {260, 200, 1}));
  const auto result_of = [&](const Wrong& wrong) {
    CodecVariant variant;
    variant.kind = VariantKind::reference;
    variant.host = wrong.host;
    const bool encodes = wrong.work == CodecWork::jpeg_encoding || wrong.work == CodecWork::png_packing;
    if (encodes) variant.pixels = CodecPixels::grey;
    lab->load({wrong.work == CodecWork::png_packing ? png : jpeg, 2});
    return lab->run(variant, wrong.work, {2, 0, 0});
  };
  for (const Wrong& wrong : {
           Wrong{CodecWork::entropy, spoiled<change_coefficient>, "1 coefficient differs (image 1)"},
           Wrong{CodecWork::entropy, spoiled<drop_coefficients>, "wrong number of coefficients (image 1)"},
           Wrong{CodecWork::entropy, spoiled<say_damaged>, "rejects a valid file (image 1)"},
           Wrong{CodecWork::decoding, spoiled<change_pixel>, "1 pixel differs (max 2) (image 1)"},
           Wrong{CodecWork::reconstruction, spoiled<change_count>, "1 bin differs (max 1) (image 1)"},
           Wrong{CodecWork::jpeg_encoding, spoiled<change_byte>, nullptr},
           Wrong{CodecWork::jpeg_encoding, spoiled<cut_byte>, nullptr},
           Wrong{CodecWork::jpeg_encoding, spoiled<drop_part>, "no scan (image 1)"},
           Wrong{CodecWork::jpeg_encoding, spoiled<leave_no_bytes>,
                 "the scan exceeds its capacity (image 1)"},
           Wrong{CodecWork::png_packing, spoiled<change_byte>, "1 strip differs (image 1)"},
           Wrong{CodecWork::png_packing, spoiled<change_adler>, "1 strip differs (image 1)"},
           Wrong{CodecWork::png_packing, spoiled<leave_it_filtered>, "1 strip differs (image 1)"},
           Wrong{CodecWork::png_packing, spoiled<drop_part>, "0 strips, expected 1 (image 1)"},
       }) {
    const LabResult result = result_of(wrong);
    EXPECT_EQ(result.status, LabStatus::wrong);
    EXPECT_FALSE(result.timed());
    if (wrong.detail != nullptr) {
      EXPECT_EQ(result.detail, wrong.detail);
    }
  }
  for (const CodecWork work : {CodecWork::entropy, CodecWork::reconstruction, CodecWork::decoding,
                               CodecWork::jpeg_encoding, CodecWork::png_packing}) {
    const LabResult result = result_of({work, spoiled<leave>, nullptr});
    EXPECT_EQ(result.status, LabStatus::right) << result.detail;
    EXPECT_EQ(result.times_us.size(), 2U);
  }
}

TEST(CodecLabTest, LibraryPixelDifferencesAreCounted) {
  const std::unique_ptr<CodecLab> lab = make_host_codec_lab(1);
  lab->load({make_jpeg_subject(jpeg_of(image_of("photo", {67, 41, 3}))), 1});
  CodecVariant variant;
  variant.kind = VariantKind::reference;
  variant.claim = Claim::near;
  variant.host = spoiled<change_pixel>;
  const LabResult result = lab->run(variant, CodecWork::decoding, {2, 0, 0});
  EXPECT_EQ(result.status, LabStatus::right);
  EXPECT_EQ(result.detail, "1 of 8241 samples differ, by up to 2");
  variant.host = spoiled<leave>;
  EXPECT_EQ(lab->run(variant, CodecWork::decoding, {2, 0, 0}).detail, "exact");
}

TEST(CodecLabTest, OnlyBaselineFilesAreDecodedUnchanged) {
  MadeJpeg jpeg = made(40, 40, {2, 2}, JpegContent::photo);
  jpeg.coding = JpegCoding::progressive;
  EXPECT_THROW((void)make_jpeg_subject(make_jpeg(jpeg)), Error);
  jpeg.coding = JpegCoding::huffman;
  jpeg.stored = JCS_RGB;
  EXPECT_THROW((void)make_jpeg_subject(make_jpeg(jpeg)), Error);
}

// ---- the tables ---------------------------------------------------------------------------------------

TEST(CodecLadders, DescribeEveryVariant) {
  for (const CodecLadder& ladder : codec_ladder_table()) {
    std::set<std::string_view> names;
    EXPECT_TRUE(is_codec_stage(ladder.stage));
    for (const CodecVariant& variant : ladder.variants) {
      SCOPED_TRACE(std::string(ladder.name) + " " + std::string(variant.name));
      EXPECT_TRUE(names.insert(variant.name).second);
      EXPECT_FALSE(variant.idea.empty());
      EXPECT_FALSE(variant.origin.empty());
      const bool has_cuda = variant.kind == VariantKind::cuda && variant.nvjpeg == Nvjpeg::none;
      EXPECT_EQ(variant.cuda != nullptr, has_cuda && built_with_cuda());
      EXPECT_EQ(variant.then != nullptr, has_cuda && built_with_cuda() && ladder.work == CodecWork::decoding);
      EXPECT_EQ(variant.host != nullptr, variant.kind != VariantKind::cuda);
      EXPECT_EQ(variant.claim == Claim::near, variant.nvjpeg != Nvjpeg::none);
    }
    EXPECT_EQ(ladder.variants.front().kind, VariantKind::reference);
    EXPECT_EQ(ladder.variants.back().name, "production");
    EXPECT_TRUE(ladder.variants.back().production);
    EXPECT_EQ(ladder.variants.back().claim, Claim::exact);
    EXPECT_EQ(std::ranges::count(ladder.variants, true, &CodecVariant::production), 2)
        << "the host's and CUDA's";
  }
  EXPECT_FALSE(is_codec_stage("gray"));
}

#ifdef IMGPIPE_TEST_CUDA

const CodecLadder& ladder_of(CodecWork work) {
  return *std::ranges::find(codec_ladder_table(), work, &CodecLadder::work);
}

TEST(CodecLadders, EndWithTheProductsClasses) {
  const auto last = [](CodecWork work) { return ladder_of(work).variants.back(); };
  EXPECT_EQ(last(CodecWork::entropy).cuda, &codec_run<EntropyDecoding>);
  EXPECT_EQ(last(CodecWork::reconstruction).cuda, &codec_run<JpegReconstruction>);
  EXPECT_EQ(last(CodecWork::decoding).cuda, &codec_run<EntropyDecoding>);
  EXPECT_EQ(last(CodecWork::decoding).then, &codec_run<JpegReconstruction>);
  EXPECT_EQ(last(CodecWork::jpeg_encoding).cuda, &codec_run<JpegEncoding>);
  EXPECT_EQ(last(CodecWork::png_packing).cuda, &codec_run<PngEncoding>);
}

bool is_exact_on_cuda(const CodecVariant& variant) {
  return variant.kind == VariantKind::cuda && variant.nvjpeg == Nvjpeg::none;
}

TEST(CudaCodecLabTest, EveryVariantIsRightOnAwkwardJpegs) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<CodecLab> lab = make_cuda_codec_lab(0, 3);
  for (const NamedSubject& named : jpeg_subjects()) check_variants(*lab, named, 3, is_exact_on_cuda);
}

TEST(CudaCodecLabTest, EveryVariantPacksAwkwardImages) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<CodecLab> lab = make_cuda_codec_lab(0, 3);
  for (const NamedSubject& named : png_subjects()) check_variants(*lab, named, 2, is_exact_on_cuda);
}

TEST(CudaCodecLabTest, NvjpegRunsOrReportsWhyNot) {
  const NvjpegLibrary library;
  EXPECT_EQ(library.functions() == nullptr, !library.missing().empty());
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<CodecLab> lab = make_cuda_codec_lab(0, 2);
  const Subject subject = make_jpeg_subject(jpeg_of(image_of("photo", {640, 480, 3})));
  for (const CodecWork work : {CodecWork::decoding, CodecWork::jpeg_encoding}) {
    for (const CodecVariant& variant : ladder_of(work).variants) {
      if (variant.nvjpeg == Nvjpeg::none) continue;
      lab->load({subject, 3});
      const LabResult result = lab->run(variant, work, {2, 0, 0});
      const bool ran = result.status == LabStatus::right;
      EXPECT_TRUE(ran || result.status == LabStatus::not_run) << variant.name << ": " << result.detail;
      if (library.functions() == nullptr) {
        EXPECT_EQ(result.detail, library.missing());
      } else if (!ran) {
        EXPECT_EQ(result.detail.substr(0, 7), "nvJPEG:");
      }
      EXPECT_EQ(result.times_us.size(), ran ? 2U : 0U);
    }
  }
}

#endif

}  // namespace
}  // namespace imgpipe::test::codec_lab_test
