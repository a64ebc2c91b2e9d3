// Compares the fast PNG reader with libpng itself, strictly: the same files accepted, the same pixels.
#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <png.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/image.h"
#include "tests/support/images.h"
#include "tests/support/libpng_source.h"

namespace imgpipe::test::plain_png_test {
namespace {

using Bytes = std::vector<std::byte>;

// ---- libpng; a warning is an error ------------------------------------------------------------------

// Fills `image`, which has 8 bits per sample and is not interlaced; false if libpng reports an error.
bool decode_by_libpng(const Bytes& bytes, HostPlane image) {
  PngSource source{&bytes};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, give_up_png, give_up_png);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &source, read_png_bytes);
  png_read_info(png, info);
  if (png_get_image_width(png, info) != static_cast<png_uint_32>(image.width) ||
      png_get_image_height(png, info) != static_cast<png_uint_32>(image.height) ||
      png_get_channels(png, info) != image.channels || png_get_bit_depth(png, info) != 8)
    png_error(png, "another shape");
  for (std::int64_t y = 0; y < image.height; ++y) png_read_row(png, image.row(y), nullptr);
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

std::string last_reason;  // why decode() refused

std::optional<Image> decode(const Bytes& bytes) {
  try {
    const auto reader = open_reader(bytes);
    Image image(reader->header().shape);
    // In bands, so that the row above may come from another call.
    for (std::int64_t y = 0; y < image.shape().height; y += 3)
      reader->read_rows(image.view().rows(y, std::min<std::int64_t>(3, image.shape().height - y)));
    return image;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
    last_reason = error.what();
    return std::nullopt;
  }
}

// ---- files ------------------------------------------------------------------------------------------

void append_number(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

void append_chunk(Bytes& out, const char* type, std::span<const std::byte> data) {
  append_number(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = out.size();
  const auto letters = std::as_bytes(std::span(type, 4));
  out.insert(out.end(), letters.begin(), letters.end());
  out.insert(out.end(), data.begin(), data.end());
  append_number(out, crc32_of(std::span<const std::byte>(out).subspan(start)));
}

struct PngParts {
  Bytes head;    // signature and IHDR
  Bytes stream;  // all IDAT data
};

PngParts parts_of(const Bytes& file) {
  PngParts parts{{file.begin(), file.begin() + 33}, {}};
  for (std::size_t at = 33; at + 12 <= file.size();) {
    const std::size_t length = big_endian(file, at, 4);
    if (std::memcmp(file.data() + at + 4, "IDAT", 4) == 0) {
      const auto data = std::span(file).subspan(at + 8, length);
      parts.stream.insert(parts.stream.end(), data.begin(), data.end());
    }
    at += length + 12;
  }
  return parts;
}

// Returns the file with its stream in chunks of random lengths up to `most`, some of them empty.
Bytes joined(const PngParts& parts, std::mt19937_64& random, std::size_t most) {
  Bytes file = parts.head;
  std::span<const std::byte> left(parts.stream);
  while (!left.empty()) {
    const std::size_t count = std::min<std::size_t>(left.size(), random() % (most + 1));
    append_chunk(file, "IDAT", left.first(count));
    left = left.subspan(count);
  }
  append_chunk(file, "IEND", {});
  return file;
}

Image make_image(Shape shape, const char* content) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i)
      image.view().row(y)[i] =
          static_cast<Sample8>(content_sample(content, i, y, 0, 11) / 16 + (i * 2 + y * 3) % 200);
  }
  return image;
}

Bytes encode(const Image& image, int level) {
  EncodeOptions options;
  options.png_level = level;
  const auto writer = make_writer(Format::png, image.shape(), options);
  writer->write_rows(image.view());
  return writer->finish().joined();
}

// zlib refuses a block with an incomplete distance code; ISA-L accepts it if no missing code occurs.
bool has_incomplete_distances(const Bytes& stream) {
  Bytes raw(1 << 16);
  z_stream zlib{};
  inflateInit(&zlib);
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(raw.data());
  zlib.avail_out = static_cast<uInt>(raw.size());
  (void)inflate(&zlib, Z_FINISH);
  const std::string reason = zlib.msg == nullptr ? "" : zlib.msg;
  inflateEnd(&zlib);
  return reason == "invalid distances set";
}

// Reads a file with both readers; true if both accept it.
bool expect_agreement(const Bytes& file, Shape shape) {
  Image expected(shape);
  const bool good = decode_by_libpng(file, expected.view());
  const std::optional<Image> got = decode(file);
  if (!good && got && has_incomplete_distances(parts_of(file).stream)) return false;
  EXPECT_EQ(good, got.has_value()) << last_reason;
  if (good && got) {
    EXPECT_EQ(first_difference(std::as_const(expected).view(), got->view()), "");
  }
  return good;
}

TEST(PlainPng, AnyDivisionIntoChunks) {
  std::mt19937_64 random(5);
  for (const Size& size : {Size{1, 1}, Size{5, 7}, Size{64, 9}, Size{301, 40}}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (const int level : {0, 1, 3, 9}) {
        const Image image = make_image({size.width, size.height, channels}, "noise");
        const PngParts parts = parts_of(encode(image, level));
        for (const std::size_t most : {1U, 2U, 7U, 100U, 5000U}) {
          EXPECT_TRUE(expect_agreement(joined(parts, random, most), image.shape()))
              << size.width << "x" << size.height << "x" << channels << " level " << level << " most "
              << most;
        }
      }
    }
  }
}

// Damage with valid checksums: changes the stream, then corrects CRCs and, if possible, the Adler-32.
TEST(PlainPng, DamagedStreamsHaveTheSameVerdict) {
  std::mt19937_64 random(6);
  int taken = 0;
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const Image image =
        make_image({1 + static_cast<std::int64_t>(random() % 40),
                    1 + static_cast<std::int64_t>(random() % 20), 1 + static_cast<int>(random() % 4)},
                   i % 3 == 0 ? "noise" : "zeros");
    PngParts parts = parts_of(encode(image, static_cast<int>(random() % 10)));
    const std::size_t bends = 1 + random() % 2;
    for (std::size_t k = 0; k < bends; ++k)
      parts.stream[2 + random() % (parts.stream.size() - 2)] ^= static_cast<std::byte>(1U << random() % 8);
    if (i % 7 == 0)
      parts.stream.resize(parts.stream.size() - random() % std::min<std::size_t>(parts.stream.size() - 2, 9));
    if (i % 11 == 0) parts.stream.resize(parts.stream.size() + 1 + random() % 9);
    const auto raw_bytes =
        static_cast<std::size_t>((image.shape().width * image.shape().channels + 1) * image.shape().height);
    if (i % 2 == 0 && parts.stream.size() > 6) {
      Bytes raw(raw_bytes);
      z_stream zlib{};
      inflateInit2(&zlib, -MAX_WBITS);
      zlib.next_in = reinterpret_cast<Bytef*>(parts.stream.data() + 2);
      zlib.avail_in = static_cast<uInt>(parts.stream.size() - 6);
      zlib.next_out = reinterpret_cast<Bytef*>(raw.data());
      zlib.avail_out = static_cast<uInt>(raw.size());
      const int status = inflate(&zlib, Z_FINISH);
      inflateEnd(&zlib);
      if (status == Z_STREAM_END && zlib.avail_out == 0) {
        const std::size_t end = parts.stream.size() - 4 - zlib.avail_in;
        parts.stream.resize(end);
        append_number(parts.stream, adler32_of(raw));
      }
    }
    (expect_agreement(joined(parts, random, 200), image.shape()) ? taken : refused) += 1;
    if (HasFailure()) {
      ADD_FAILURE() << "number " << i;
      return;
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 1000);
}

// Damage anywhere in the file, with checksums unchanged.
TEST(PlainPng, DamagedFilesHaveTheSameVerdict) {
  std::mt19937_64 random(7);
  const Image image = make_image({37, 21, 3}, "noise");
  const PngParts parts = parts_of(encode(image, 1));
  for (int i = 0; i < 3000; ++i) {
    Bytes file = joined(parts, random, 300);
    if (i % 3 == 0) {
      file.resize(random() % file.size());
    } else if (i % 3 == 1) {
      file[33 + random() % (file.size() - 33)] ^= static_cast<std::byte>(1U << random() % 8);
    } else {
      file.insert(file.begin() + 33 + static_cast<std::ptrdiff_t>(random() % (file.size() - 33)),
                  std::byte{0});
    }
    (void)expect_agreement(file, image.shape());
    if (HasFailure()) {
      ADD_FAILURE() << "number " << i;
      return;
    }
  }
}

TEST(PlainPng, ChunksAroundThePixels) {
  std::mt19937_64 random(8);
  const Image image = make_image({9, 8, 3}, "noise");
  const PngParts parts = parts_of(encode(image, 1));
  const auto with = [&](const char* before, const char* after, bool split) {
    Bytes file = parts.head;
    const Bytes data(8, std::byte{1});
    if (before != nullptr) append_chunk(file, before, data);
    const std::span<const std::byte> stream(parts.stream);
    append_chunk(file, "IDAT", stream.first(20));
    if (split && after != nullptr) append_chunk(file, after, data);
    append_chunk(file, "IDAT", stream.subspan(20));
    if (!split && after != nullptr) append_chunk(file, after, data);
    append_chunk(file, "IEND", {});
    return file;
  };
  const auto accepted = [](const Bytes& file) { return decode(file).has_value(); };
  EXPECT_TRUE(accepted(with(nullptr, nullptr, false)));
  EXPECT_TRUE(accepted(with("tEXt", "tEXt", false)));
  EXPECT_TRUE(accepted(with("prIv", "prIv", false)));
  EXPECT_FALSE(accepted(with("PRIV", nullptr, false))) << "an unknown critical chunk";
  EXPECT_FALSE(accepted(with(nullptr, "tEXt", true))) << "IDAT chunks must follow one another";
  EXPECT_FALSE(accepted(with(nullptr, "IHDR", false)));
  Bytes following = with(nullptr, nullptr, false);
  following.push_back(std::byte{0});
  EXPECT_TRUE(accepted(following));
}

// For an empty chunk, stb_image copies zero bytes to a null pointer.
TEST(PlainPng, EitherCodecAcceptsAnEmptyFirstChunk) {
  const Image image = make_image({9, 8, 3}, "noise");
  const PngParts parts = parts_of(encode(image, 1));
  Bytes file = parts.head;
  append_chunk(file, "IDAT", {});
  append_chunk(file, "IDAT", parts.stream);
  append_chunk(file, "IEND", {});
  for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
    DecodeOptions options;
    options.codec = codec;
    const auto reader = open_reader(file, options);
    Image back(image.shape());
    reader->read_rows(back.view());
    EXPECT_EQ(first_difference(image.view(), std::as_const(back).view()), "");
  }
}

// Input and output in blocks of any size.
TEST(Inflate, BlockByBlock) {
  std::mt19937_64 random(9);
  Bytes raw(150000);
  for (std::byte& byte : raw) byte = static_cast<std::byte>(random() % 7 * 30);
  StripDeflater deflater(1);
  Bytes stream = zlib_header(1);
  const auto body = deflater.compress(raw, true);
  stream.insert(stream.end(), body.begin(), body.end());
  append_number(stream, adler32_of(raw));
  for (const std::size_t most : {1U, 3U, 1000U, 100000U}) {
    for (const bool damaged : {false, true}) {
      Bytes input = stream;
      if (damaged) input.back() ^= std::byte{1};
      ZlibInflater inflater;
      Bytes out;
      bool refused = false;
      std::span<const std::byte> left(input);
      try {
        while (!inflater.finished()) {
          std::span<const std::byte> block = left.first(std::min(left.size(), 1 + random() % most));
          const std::size_t before = block.size();
          Bytes inflated(1 + random() % most);
          inflated.resize(inflater.inflate(block, inflated));
          out.insert(out.end(), inflated.begin(), inflated.end());
          if (before == block.size() && inflated.empty() && left.empty()) break;
          left = left.subspan(before - block.size());
        }
      } catch (const Error&) {
        refused = true;
      }
      EXPECT_EQ(refused, damaged) << most;
      if (!damaged) {
        EXPECT_TRUE(out == raw) << most;
        EXPECT_TRUE(inflater.finished());
        EXPECT_TRUE(left.empty());
      }
    }
  }
}

// ISA-L 2.30's Adler-32 for arm64 reads 32 bytes after its input. Here that memory is not readable.
TEST(Inflate, AccessesNothingAfterItsBuffer) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<std::byte*>(pages) + page, page, PROT_NONE), 0);
  const std::span readable(static_cast<std::byte*>(pages), page);
  for (std::size_t size = 0; size <= 200; ++size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + size);
    const std::span<std::byte> last = readable.last(size);
    std::ranges::copy(bytes, last.begin());
    ASSERT_EQ(adler32_of(last),
              adler32(1, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(size)))
        << size;
    std::ranges::fill(last, std::byte{});
    const Bytes stream = zlib_stream(bytes);
    std::span<const std::byte> in(stream);
    ZlibInflater inflater;
    ASSERT_EQ(inflater.inflate(in, last), size);
    ASSERT_TRUE(std::ranges::equal(last, bytes)) << size;
  }
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace imgpipe::test::plain_png_test
