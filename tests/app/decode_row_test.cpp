// The report row that names the decoder, what counts as decoding, and --codec.
#include "pipeline/decode_row.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/error.h"
#include "pipeline/jobs/batch_entry.h"
#include "tests/support/banded_reader.h"
#include "tests/support/files.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/process.h"
#include "tests/support/read_options.h"

namespace imgpipe::test::decode_row_test {
namespace {

using Json = nlohmann::json;

Image make_image(const Shape& shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "ramp", 5);
  return image;
}

TEST(DecodeRow, IsNamedAfterTheDecoder) {
  const Image image = make_image({3, 4, 1});
  BandedLog log;
  EXPECT_EQ(decode_row(BandedReader(image.untyped_view(), {}, log)), "decode (parallel)");
  EXPECT_EQ(decode_row(*make_memory_reader(image.untyped_view())), "decode");
  EXPECT_EQ(decode_row(BandedReader(image.untyped_view(), {}, log), "gray#2"), "decode+gray#2 (parallel)");
  EXPECT_EQ(decode_row(*make_memory_reader(image.untyped_view()), "gray"), "decode+gray");
  for (const char* name : {"decode", "decode (parallel)", "decode (x)", "decode+gray", "decode+gray (x)"})
    EXPECT_TRUE(is_decode_row(name));
  for (const char* name : {"", "encode", "decoded", "decode parallel", "read"})
    EXPECT_FALSE(is_decode_row(name)) << name;
}

// The reference engine reads row by row and names the decoder, too.
TEST(DecodeRow, ReferenceEngineAndLanesNameTheDecoder) {
  const Image image = make_image({30, 40, 3});
  BandedLog log;
  Job job;
  job.reader = std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour(), log);
  job.plan = make_plan(parse_stages("gray"), image.shape());
  const Outcome outcome = make_reference_engine()->run(std::move(job));
  ASSERT_FALSE(outcome.error);
  EXPECT_TRUE(log.by_rows);
  EXPECT_EQ(outcome.timeline.spans().front().name, "decode (parallel)");
}

TEST(DecodeRow, BatchCountsEveryDecoderAsDecoding) {
  const ImageSettings settings;
  Timeline timeline;
  const auto add = [&](const std::string& name, SpanKind kind, std::int64_t start, std::int64_t end) {
    timeline.add({name, "host", kind, start, end});
  };
  add("read", SpanKind::host, 0, 7);
  add("decode", SpanKind::host, 7, 10);
  add("decode (parallel)", SpanKind::host, 10, 110);
  add("gray", SpanKind::kernel, 110, 120);
  BatchEntry entry;
  entry.job.emplace(ImageFiles{}, settings, std::move(timeline));
  entry.to_lane = true;
  add_up_times(entry);
  const auto decode = static_cast<std::size_t>(Part::decode);
  EXPECT_EQ(entry.result.busy[decode], 103);
  EXPECT_EQ(entry.result.on_lane[decode].end_ns, 0) << "the workers' part";
  EXPECT_EQ(entry.result.busy[static_cast<std::size_t>(Part::read)], 7);
  EXPECT_EQ(entry.result.busy[static_cast<std::size_t>(Part::kernels)], 10);
}

CodecChoice codec_of(const std::string& name) {
  return process_options({"a.jpg", "b.png", "--codec", name}).decode.codec;
}

TEST(CodecOption, NamesRoundTrip) {
  for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::turbo, CodecChoice::stb})
    EXPECT_EQ(codec_of(std::string(choice_name(codec, kCodecs))), codec) << choice_name(codec, kCodecs);
  EXPECT_EQ(codec_of("turbo"), CodecChoice::turbo);
  for (const char* name : {"", "Turbo", "turbo ", "automatic"}) {
    try {
      (void)codec_of(name);
      ADD_FAILURE() << "accepted '" << name << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find("auto, turbo, stb"), std::string::npos) << error.what();
    }
  }
}

// --codec turbo, for one image and for a batch. Files that are not JPEG are read and written as usual.
TEST(CodecOption, TurboProducesTheSameFilesAndIsNamed) {
  const TemporaryDirectory directory;
  const Image image = make_image({640, 480, 3});
  std::filesystem::create_directory(directory.file("in"));
  save(directory.file("in/a.jpg"), make_jpeg({JCS_RGB, JCS_YCbCr, 2, 2}, image.view()));
  ASSERT_EQ(run_imgpipe({"synth", directory.file("in/b.png"), "--pattern", "photo", "--size", "40x30", "-q"})
                .exit_code,
            0);
  for (const char* input : {"a.jpg", "b.png"}) {
    const std::string report = directory.file("r.json");
    for (const char* codec : {"auto", "turbo"}) {
      const RunResult run = run_imgpipe(
          {directory.file(std::string("in/") + input), directory.file(std::string(codec) + ".png"), "--codec",
           codec, "--device", "cpu", "--threads", "3", "-q", "--report", report, "--overwrite"});
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_EQ(Json::parse(load_text(report))["options"]["codec"], codec);
    }
    EXPECT_TRUE(load(directory.file("auto.png")) == load(directory.file("turbo.png"))) << input;
    const Json rows = Json::parse(load_text(report))["rows"];
    EXPECT_EQ(std::ranges::count_if(rows, [](const Json& row) { return row["name"] == "decode"; }), 1);
    EXPECT_EQ(load_text(report).find("decode ("), std::string::npos) << "only the library decodes";
  }
  const RunResult batch = run_imgpipe({directory.file("in"), directory.file("out"), "--codec", "turbo", "-q",
                                       "--report", directory.file("batch.json")});
  ASSERT_EQ(batch.exit_code, 0) << batch.err;
  EXPECT_EQ(Json::parse(load_text(directory.file("batch.json")))["options"]["codec"], "turbo");
  EXPECT_TRUE(load(directory.file("out/b.png")) == load(directory.file("turbo.png")));
}

}  // namespace
}  // namespace imgpipe::test::decode_row_test
