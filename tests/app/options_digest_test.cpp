// The digest of a run's options: equal if the output bytes are equal, different if they may differ.
#include "app/process_options/options_digest.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/support/read_options.h"

namespace imgpipe::test::options_digest_test {
namespace {

using Arguments = std::vector<std::string>;

std::string text_of(Arguments arguments, const std::optional<Format>& format = Format::png) {
  arguments.insert(arguments.begin(), {"in.png", "out.png"});
  return options_affecting_output(process_options(arguments), format);
}

TEST(OptionsDigest, HashesThisText) {
  EXPECT_EQ(text_of({"--stages", "grey,smooth:gauss"}),
            "stages=gray:luma=bt601,smooth:window=gauss:border=shrink\n"
            "pages=\n"
            "bands=\n"
            "lenient=false\n"
            "orient=true\n"
            "codec=auto\n"
            "format=png\n"
            "png-level=1\n"
            "metadata=keep\n");
  EXPECT_EQ(text_of({"--stages", "none"}, std::nullopt),
            "stages=\n"
            "pages=\n"
            "bands=\n"
            "lenient=false\n"
            "orient=true\n"
            "codec=auto\n"
            "format=own\n"
            "quality=90\n"
            "png-level=1\n"
            "webp=lossless\n"
            "webp-level=1\n"
            "tiff-compression=deflate\n"
            "tiff-tile=0\n"
            "metadata=keep\n");
  const ProcessOptions options = process_options({"in.png", "out.png"});
  EXPECT_EQ(options_digest(options, Format::png), sha256(options_affecting_output(options, Format::png)));
  EXPECT_NE(options_digest(options, Format::png), options_digest(options, std::nullopt));
  OptionsDigests digests(options);
  EXPECT_EQ(digests.of(Format::jpeg), options_digest(options, Format::jpeg));
}

TEST(OptionsDigest, IsTheSameForTheSameBytes) {
  const std::vector<std::pair<Arguments, Arguments>> rows{
      {{"--stages", "gray,hist,contrast,smooth"}, {}},
      {{"--stages", "grey,smooth"}, {"--stages", "gray,smooth"}},
      {{"--sync", "no"}, {}},
      {{"--stages", "smooth:window=gauss:border=reflect"}, {"--stages", "smooth:gauss:reflect"}},
      {{"--stages", "smooth", "--window", "gauss"}, {"--stages", "smooth:gauss"}},
      {{"--stages", "contrast:clip=0.50"}, {"--stages", "contrast:clip=0.5:clip-high=0.5"}},
      {{"--stages", "contrast", "--clip", "1,2"}, {"--stages", "contrast:clip=1:clip-high=2"}},
      {{"--stages", "crop:30x20+1+2"}, {"--stages", "crop:width=30:height=20:x=1:y=2"}},
      {{"--stages", "threshold"}, {"--stages", "threshold:otsu"}},
      {{"--stages", "gray", "--window", "gauss"}, {"--stages", "gray"}},
      {{"--quality", "90", "--png-level", "1", "--metadata", "keep", "--webp", "lossless"}, {}},
      {{"--pages", "all"}, {"--pages", "1-"}},
      {{"--png-level", "2", "--quality", "7"}, {"--quality", "7", "--png-level", "2"}},
      {{"--threads", "1", "--device", "reference", "-q", "--fuse", "--max-pixels", "10M", "--overwrite",
        "--update", "--report", "x.json", "--trace", "t.json", "--compare", "--repeat", "3",
        "--device-memory", "1G"},
       {}},
      {{"-j", "3", "-r", "--memory", "1G", "--include", "*.png", "--shard", "1/2", "--fail-fast"}, {}}};
  for (const auto& [one, other] : rows)
    EXPECT_EQ(text_of(one), text_of(other)) << testing::PrintToString(one);
}

TEST(OptionsDigest, IncludesOnlyOptionsOfTheFormat) {
  const std::vector<std::pair<Arguments, std::vector<Format>>> rows{
      {{"--quality", "7"}, {Format::jpeg}},
      {{"--png-level", "7"}, {Format::png, Format::tiff}},
      {{"--webp", "lossy"}, {Format::webp}},
      {{"--webp-level", "7"}, {Format::webp}},
      {{"--tiff-compression", "lzw"}, {Format::tiff}},
      {{"--tiff-tile", "64"}, {Format::tiff}}};
  for (const auto& [arguments, shaped] : rows) {
    for (const Format format : {Format::jpeg, Format::png, Format::webp, Format::tiff, Format::bmp}) {
      const bool differs = text_of(arguments, format) != text_of({}, format);
      EXPECT_EQ(differs, std::ranges::find(shaped, format) != shaped.end())
          << arguments.front() << " " << format_info(format).name;
    }
  }
  EXPECT_NE(text_of({"--webp", "lossy", "--quality", "7"}, Format::webp),
            text_of({"--webp", "lossy"}, Format::webp));
  EXPECT_EQ(text_of({"--tiff-compression", "zstd", "--png-level", "7"}, Format::tiff),
            text_of({"--tiff-compression", "zstd"}, Format::tiff));
}

TEST(OptionsDigest, DiffersForDifferentBytes) {
  std::map<std::string, Arguments> seen;
  for (const Arguments& arguments : {Arguments{},
                                     {"--stages", "gray"},
                                     {"--stages", "gray,gray"},
                                     {"--stages", "gray:bt709"},
                                     {"--stages", "hist,gray"},
                                     {"--stages", "contrast:clip=0.5"},
                                     {"--stages", "contrast:clip=0.500001"},
                                     {"--stages", "contrast:range=series", "--pages", "all"},
                                     {"--stages", "contrast", "--pages", "all"},
                                     {"--pages", "2"},
                                     {"--pages", "2-2"},
                                     {"--pages", "2-"},
                                     {"--bands", "4,3,2"},
                                     {"--bands", "2,3,4"},
                                     {"--bands", "color"},
                                     {"--lenient"},
                                     {"--accept", "pillow"},
                                     {"--no-orient"},
                                     {"--codec", "stb"},
                                     {"--quality", "89"},
                                     {"--png-level", "2"},
                                     {"--webp", "lossy"},
                                     {"--webp-level", "2"},
                                     {"--tiff-compression", "lzw"},
                                     {"--tiff-tile", "16"},
                                     {"--metadata", "strip"}}) {
    const auto [other, fresh] = seen.emplace(text_of(arguments, std::nullopt), arguments);
    EXPECT_TRUE(fresh) << testing::PrintToString(arguments) << testing::PrintToString(other->second);
  }
  EXPECT_TRUE(seen.emplace(text_of({}, Format::jpeg), Arguments{}).second);
  EXPECT_TRUE(seen.emplace(text_of({}, Format::png), Arguments{}).second);
}

TEST(OptionsDigest, IncludesFileContents) {
  const TemporaryDirectory directory;
  const auto save_range = [&](const std::string& name, int bin) {
    std::string counts;
    for (int i = 0; i < 256; ++i)
      counts += std::string(i == 0 ? "" : ",") + (i == 10 || i == bin ? "5" : "0");
    save_text(directory.file(name),
              "{\"imgpipe\": 1, \"before\": {\"counts\": {\"gray\": [" + counts + "]}}}");
    return text_of({"--stages", "contrast:range=" + directory.file(name)});
  };
  const std::string first = save_range("a.json", 200);
  EXPECT_EQ(save_range("b.json", 200), first);
  EXPECT_NE(save_range("a.json", 201), first);
}

}  // namespace
}  // namespace imgpipe::test::options_digest_test
