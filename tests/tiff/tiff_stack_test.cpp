// Pages written one after the other form a TIFF.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/pages.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/error.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/input_job.h"
#include "tests/support/files.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_stack_test {
namespace {

TEST(TiffStack, ConsecutivePagesFormATiff) {
  const std::vector<Shape> shapes{{7, 5, 1}, {64, 33, 3}, {1, 1, 4}, {5, 9, 1, Sample::u16}, {3, 3, 2}};
  for (const bool big : {false, true}) {
    for (const TiffPacking packing : {TiffPacking::none, TiffPacking::deflate, TiffPacking::packbits}) {
      FileBytes file;
      std::vector<Values> wanted;
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        EncodeOptions options{.tiff_packing = packing, .tiff_tile = i == 1 ? 16 : 0, .mark = Mark::result};
        auto metadata = std::make_shared<Metadata>();
        const std::string text = "page " + std::to_string(i);
        TiffMetadataField field{.tag = 270, .type = 2, .count = text.size() + 1, .data = {}};
        for (const char c : text + '\0') field.data.push_back(static_cast<std::byte>(c));
        metadata->fields.push_back(field);
        options.metadata = metadata;
        options.in_stack = std::make_shared<const StackPosition>(
            StackPosition{static_cast<std::int64_t>(file.size()), big, i + 1 == shapes.size()});
        Image image(shapes[i]);
        for (std::int64_t b = 0; b < image.shape().bytes(); ++b)
          image.untyped_view().data[b] = static_cast<std::byte>(b * 31 + static_cast<std::int64_t>(i));
        const auto writer = make_writer(Format::tiff, shapes[i], options);
        writer->write_rows(std::as_const(image).untyped_view());
        const EncodedFile page = writer->finish();
        EXPECT_LE(static_cast<std::int64_t>(page.size_bytes()),
                  max_page_bytes(Format::tiff, shapes[i], options));
        const FileBytes bytes = page.joined();
        file.insert(file.end(), bytes.begin(), bytes.end());
        wanted.push_back(samples(image));
      }
      ASSERT_EQ(pages_by_libtiff(file), static_cast<int>(shapes.size()));
      EXPECT_EQ(find_tiff_mark(file), Mark::result);
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        EXPECT_EQ(samples_by_libtiff(file, static_cast<int>(i)), wanted[i]) << i;
        EXPECT_EQ(description_by_libtiff(file, static_cast<int>(i)), "page " + std::to_string(i));
      }
    }
  }
}

// A 1.2 MB file whose pages share one description. Written with every page, the output might exceed 4 GB,
// because the estimate counts the description twice per page.
TEST(InputJobTest, SharedMetadataMayRequireBigTiff) {
  constexpr std::uint32_t kPages = 2200, kTextBytes = 1 << 20;
  for (const bool kept : {false, true}) {
    const TemporaryDirectory directory;
    FileBytes file;
    const auto put = [&](std::uint64_t value, std::size_t bytes) {
      for (std::size_t i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
    };
    put(0x002A4949, 4);
    put(8 + kTextBytes, 4);
    file.resize(8 + kTextBytes, std::byte{'a'});
    file.back() = std::byte{0};
    for (std::uint32_t page = 0; page < kPages; ++page) {
      const std::vector<std::array<std::uint32_t, 4>> fields{
          {256, 3, 1, 1},          {257, 3, 1, 1}, {258, 3, 1, 8}, {262, 3, 1, 1},
          {270, 2, kTextBytes, 8}, {273, 4, 1, 8}, {279, 4, 1, 1}};
      put(fields.size(), 2);
      for (const auto& [tag, type, count, value] : fields)
        put(tag, 2), put(type, 2), put(count, 4), put(value, 4);
      put(page + 1 < kPages ? file.size() + 4 : 0, 4);
    }
    save(directory.file("in.tif"), file);
    ImageSettings settings;
    settings.keep_metadata = kept;
    InputJob run({.input = directory.file("in.tif"),
                  .output = directory.file("out.tif"),
                  .input_name = "in.tif",
                  .output_name = "out.tif",
                  .format = Format::tiff},
                 settings, PageRequest{}, InputKind::any, Timeline());
    run.open([](const Plan&, const ImageHeader&) {}, [](const std::string&) {});
    EXPECT_EQ(run.range().count(), kPages);
    // One page is enough: the temporary file already contains the version.
    const std::unique_ptr<Engine> engine = make_cpu_engine(1);
    std::byte version{};
    const auto stop = [&](FinishedItem&) {
      for (const std::string& name : directory.names())
        if (name.starts_with(".out.tif.imgpipe-")) version = load(directory.file(name)).at(2);
      throw Error(ErrorKind::usage, "one page is enough");
    };
    EXPECT_THROW(run.run(*engine, {.done = stop}), Error);
    EXPECT_EQ(version, kept ? std::byte{43} : std::byte{42});
  }
}

}  // namespace
}  // namespace imgpipe::test::tiff_stack_test
