// Runs the fuzz targets on their seeds in every build: generated files with seeded mutations, the texts of
// tests/fuzz/seeds, and the corpus if there is one.
#include <random>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/metadata/metadata.h"
#include "images/synth.h"
#include "tests/support/coded_jpegs.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/gif_file.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/profiles.h"
#include "tests/support/psd_file.h"
#include "tests/support/sanitizers.h"
#include "tests/support/tar_file.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiff_seeds.h"
#include "tests/support/webp_file.h"

int fuzz_archive(const std::uint8_t* data, std::size_t size);
int fuzz_decode(const std::uint8_t* data, std::size_t size);
int fuzz_exif(const std::uint8_t* data, std::size_t size);
int fuzz_html(const std::uint8_t* data, std::size_t size);
int fuzz_info(const std::uint8_t* data, std::size_t size);
int fuzz_jpeg_pair(const std::uint8_t* data, std::size_t size);
int fuzz_icc(const std::uint8_t* data, std::size_t size);
int fuzz_metadata(const std::uint8_t* data, std::size_t size);
int fuzz_options(const std::uint8_t* data, std::size_t size);
int fuzz_plan(const std::uint8_t* data, std::size_t size);
int fuzz_png_writer(const std::uint8_t* data, std::size_t size);
int fuzz_stream(const std::uint8_t* data, std::size_t size);
int fuzz_text(const std::uint8_t* data, std::size_t size);
int fuzz_tiff(const std::uint8_t* data, std::size_t size);
int fuzz_webp(const std::uint8_t* data, std::size_t size);

namespace imgpipe::test::fuzz_replay_test {
namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);
using Bytes = std::vector<std::byte>;

// Mutated copies of a seed; tests/checks/fuzz.sh searches for longer.
constexpr int kCopies = kSanitized ? 100 : 500;

void replay(Target target, const Bytes& bytes) {
  EXPECT_EQ(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
}

void replay_mutated(Target target, const Bytes& seed, int copies, std::mt19937& random) {
  replay(target, seed);
  for (int i = 0; i < copies && !seed.empty(); ++i) {
    Bytes bent = seed;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
      bent[random() % bent.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bent.resize(random() % bent.size());
    replay(target, bent);
  }
}

TEST(FuzzReplay, Decode) {
  std::mt19937 random(1);
  for (const Format format :
       {Format::png, Format::jpeg, Format::bmp, Format::tga, Format::pgm, Format::ppm, Format::webp}) {
    const Image image = synthesize(parse_pattern("photo"), {19, 13, format == Format::pgm ? 1 : 3}, 2);
    const auto writer = make_writer(format, image.shape());
    writer->write_rows(image.view());
    replay_mutated(fuzz_decode, writer->finish().joined(), kCopies, random);
  }
}

// 16-bit files, which the target reads unchanged and reduced to 8 bits.
TEST(FuzzReplay, DecodeSixteenBits) {
  std::mt19937 random(7);
  for (const Format format : {Format::png, Format::pgm, Format::ppm}) {
    for (const int channels : {1, 3}) {
      if ((format == Format::ppm) != (channels == 3) && format != Format::png) continue;
      const Image image = synthesize(parse_pattern("photo"), {19, 13, channels, Sample::u16}, 2);
      const auto writer = make_writer(format, image.shape());
      writer->write_rows(image.untyped_view());
      replay_mutated(fuzz_decode, writer->finish().joined(), kCopies, random);
    }
  }
  const std::string_view text = "P3 3 2 1000 0 1 2 3 4 5 6 7 8 500 600 700 997 998 999 1000 0 0";
  const auto bytes = std::as_bytes(std::span(text));
  replay_mutated(fuzz_decode, {bytes.begin(), bytes.end()}, 2 * kCopies, random);
}

// Small files of kinds that no writer here produces.
TEST(FuzzReplay, DecodeSeeds) {
  std::mt19937 random(5);
  int files = 0;
  for (const auto& path : files_below(std::filesystem::path(kSourceDirectory) / "tests/fuzz/seeds/decode")) {
    replay_mutated(fuzz_decode, load(path), kCopies / 4, random);
    ++files;
  }
  EXPECT_GE(files, 8);
}

TEST(FuzzReplay, Stream) {
  std::mt19937 random(6);
  Bytes stream;
  for (const Format format : {Format::png, Format::jpeg, Format::bmp, Format::pgm, Format::ppm, Format::webp})
    stream = stream + encoded(format, format == Format::pgm ? 1 : 3);
  stream = stream + bytes_of("P2 2 2 9 1 2 3 4\nP1 3 2 101 010 P4 8 1 x");
  for (const Bytes& front : {number(0, 1), number(1, 1), number(60, 1), number(255, 1)})
    replay_mutated(fuzz_stream, front + stream, kCopies, random);
}

TEST(FuzzReplay, Archive) {
  std::mt19937 random(17);
  const std::string long_name(300, 'n');
  // A pax record begins with its length; "g" is for all following members.
  const std::vector<TarMember> members{
      {.name = "a.jpg", .data = std::string(600, 'a')},
      {.name = "pax", .data = "19 comment=a,bcdef\n", .type = 'g'},
      {.name = "pax", .data = "30 mtime=1350244992.023960108\n", .type = 'x'},
      {.name = "../b.png", .data = "b"},
      {.name = "././@LongLink", .data = long_name, .type = 'L'},
      {.name = long_name, .data = "c"},
      {.name = "pax",
       .data = "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n29 GNU.sparse.realsize=99999\n",
       .type = 'x'},
      {.name = "sparse", .data = "1\n0\n5\n" + std::string(505, '\0') + "hello"},
      {.name = "hard", .type = '1', .link = "a.jpg"},
      {.name = "d/", .type = '5'}};
  for (const std::size_t count : {std::size_t{1}, members.size()})
    replay_mutated(fuzz_archive, bytes_of("a" + tar_file({members.begin(), members.begin() + count})),
                   kSanitized ? 300 : 2000, random);
  // GNU's sparse files without pax.
  std::string sparse =
      tar_header({.name = "s", .type = 'S', .size_field = "00000000000"}, std::string("ustar  \0", 8));
  replay_mutated(fuzz_archive, bytes_of("a" + sparse + std::string(1024, '\0')), kCopies, random);
}

TEST(FuzzReplay, DecodeReadOnlyFormats) {
  std::mt19937 random(5);
  Gif gif{6, 5, 1, 1, 4, 3};
  gif.transparent = 2;
  for (const bool interlaced : {false, true}) {
    gif.interlaced = interlaced;
    replay_mutated(fuzz_decode, make_gif(gif, {0, 1, 2, 3, 3, 2, 1, 0, 0, 0, 0, 0}, {}), kCopies, random);
  }
  for (const int compression : {0, 1}) {
    for (const int depth : {8, 16}) {
      Psd psd{4, 2, kRgb, depth, 1 + compression, compression};
      psd.layers = layer_count(-1, psd.version);
      psd.channels.assign(4, {200, 200, 200, 250, 255, 1, 254, 255});
      replay_mutated(fuzz_decode, make_psd(psd), kCopies, random);
    }
  }
}

TEST(FuzzReplay, Webp) {
  std::mt19937 random(7);
  for (const int channels : {3, 4}) {
    const Image image = synthesize(parse_pattern("photo"), {19, 13, channels}, 2);
    for (const WebpKind& kind : {WebpKind{true, 0}, {true, 6}, {false, 4, 60}, {false, 4, 60, true}}) {
      const Bytes file = make_webp(kind, image.view());
      replay_mutated(fuzz_webp, file, kCopies, random);
      replay_mutated(
          fuzz_webp,
          riff_file(vp8x(kWebpAnimated, 24, 15) + anim() + anmf(4, 2, 19, 13, picture_chunks(file))), 300,
          random);
    }
  }
  int seeds = 0;
  for (const auto& path : files_below(std::filesystem::path(kSourceDirectory) / "tests/fuzz/seeds/webp")) {
    replay_mutated(fuzz_webp, load(path), kCopies, random);
    ++seeds;
  }
  EXPECT_GE(seeds, 5);
}

TEST(FuzzReplay, DecodeCorpus) {
  IMGPIPE_NEED_CORPUS();
  std::mt19937 random(2);
  for (const auto& path : files_below(*corpus())) {
    const Bytes bytes = load(path);
    if (bytes.size() > 20'000) continue;
    replay_mutated(fuzz_decode, bytes, 3, random);
    replay_mutated(fuzz_info, bytes, 3, random);
  }
}

TEST(FuzzReplay, Exif) {
  std::mt19937 random(3);
  for (const std::string& text :
       {std::string("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0", 26),
        std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0\0\0\0\0", 26)}) {
    const auto bytes = std::as_bytes(std::span(text));
    replay_mutated(fuzz_exif, {bytes.begin(), bytes.end()}, 40 * kCopies, random);
  }
}

TEST(FuzzReplay, Metadata) {
  std::mt19937 random(11);
  Metadata metadata;
  metadata.exif = camera_exif(6).build();
  metadata.xmp = bytes_of("<x:xmpmeta><rdf:RDF><a tiff:Orientation='6'/></rdf:RDF></x:xmpmeta>");
  metadata.icc = adobe_profile();
  metadata.iptc =
      bytes_of(std::string_view("\x1C\x02\x19\0\x03"
                                "foo",
                                8));
  metadata.texts = {{.text = "hello"}, {.keyword = "Author", .text = "a", .international = true}};
  for (const Bytes& seed : {camera_exif(6).build(), camera_exif(6, true).build(), metadata.xmp})
    replay_mutated(fuzz_metadata, seed, kSanitized ? 1000 : 5000, random);
  for (const Format format : {Format::jpeg, Format::png, Format::webp, Format::tiff}) {
    EncodeOptions options;
    options.metadata = std::make_shared<const Metadata>(metadata);
    const auto writer = make_writer(format, {3, 2, 3}, options);
    const Image image({3, 2, 3});
    writer->write_rows(image.untyped_view());
    replay_mutated(fuzz_metadata, writer->finish().joined(), kSanitized ? 500 : 2000, random);
  }
}

TEST(FuzzReplay, Icc) {
  std::mt19937 random(12);
  for (const auto& path : files_below(std::filesystem::path(kSourceDirectory) / "tests/fuzz/seeds/icc"))
    replay_mutated(fuzz_icc, load(path), kSanitized ? 30 : 200, random);
}

TEST(FuzzReplay, Info) {
  std::mt19937 random(13);
  const int copies = kSanitized ? 100 : 1000;
  for (const Format format :
       {Format::png, Format::jpeg, Format::bmp, Format::tga, Format::ppm, Format::webp}) {
    const Image image = synthesize(parse_pattern("photo"), {19, 13, 3}, 2);
    const auto writer = make_writer(format, image.shape());
    writer->write_rows(image.view());
    replay_mutated(fuzz_info, writer->finish().joined(), copies, random);
  }
  Psd psd{4, 2, kRgb};
  psd.channels.assign(3, {200, 200, 200, 250, 255, 1, 254, 255});
  replay_mutated(fuzz_info, make_psd(psd), copies, random);
  replay_mutated(fuzz_info, make_gif({6, 5, 1, 1, 4, 3}, {0, 1, 2, 3, 3, 2, 1, 0, 0, 0, 0, 0}, {}), copies,
                 random);
  for (const Bytes& seed : tiff_seeds()) replay_mutated(fuzz_info, seed, copies / 4, random);
  int seeds = 0;
  for (const auto& path : files_below(std::filesystem::path(kSourceDirectory) / "tests/fuzz/seeds/info")) {
    replay_mutated(fuzz_info, load(path), copies, random);
    ++seeds;
  }
  EXPECT_GE(seeds, 2);
}

TEST(FuzzReplay, JpegPair) {
  std::mt19937 random(6);
  for (std::uint64_t seed = 0; seed < (kSanitized ? 10 : 60); ++seed) {
    Bytes file = seed % 2 == 0 ? make_jpeg(random_jpeg(seed)) : random_coded_jpeg(seed).file;
    for (const int choice : {0, 5, 6, 13, 255}) {
      file.push_back(static_cast<std::byte>(choice));  // selects how the file is read
      replay_mutated(fuzz_jpeg_pair, file, 20, random);
      file.pop_back();
    }
  }
}

TEST(FuzzReplay, Tiff) {
  std::mt19937 random(7);
  for (const Bytes& seed : tiff_seeds()) replay_mutated(fuzz_tiff, seed, kSanitized ? 40 : 400, random);
}

TEST(FuzzReplay, Texts) {
  struct Seeds {
    const char* directory;
    Target target;
    int copies;
  };
  std::mt19937 random(4);
  for (const Seeds& seeds : {Seeds{"plan", fuzz_plan, 4 * kCopies},
                             {"options", fuzz_options, kCopies},
                             {"text", fuzz_text, kCopies / 4},
                             {"html", fuzz_html, kCopies}}) {
    int files = 0;
    for (const auto& path :
         files_below(std::filesystem::path(kSourceDirectory) / "tests/fuzz/seeds" / seeds.directory)) {
      replay_mutated(seeds.target, load(path), seeds.copies, random);
      ++files;
    }
    EXPECT_GE(files, 1) << seeds.directory;
  }
}

TEST(FuzzReplay, PngWriter) {
  std::mt19937 random(18);
  for (int i = 0; i < (kSanitized ? 20 : 100); ++i) {
    Bytes bytes(9 + random() % 200);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    replay_mutated(fuzz_png_writer, bytes, 3, random);
  }
}

}  // namespace
}  // namespace imgpipe::test::fuzz_replay_test
