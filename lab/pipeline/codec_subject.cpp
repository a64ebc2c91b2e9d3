#include "lab/pipeline/codec_subject.h"

#include <algorithm>
#include <array>
#include <utility>

#include "images/codecs/codec.h"
#include "images/codecs/jpeg/library_jpeg.h"
#include "images/codecs/jpeg/scan_chunks.h"
#include "images/error.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

// Returns false if our own decoder does not accept the file.
bool read_scan(std::span<const std::byte> file, JpegScan& jpeg) {
  const std::unique_ptr<LibraryJpeg> library = open_library_jpeg(file, {});
  const std::optional<BaselineScan> scan = library->baseline();
  if (!scan) return false;
  jpeg.scan = *scan;
  return jpeg.tables.make(jpeg.scan);
}

Image decoded(std::span<const std::byte> file) {
  DecodeOptions options;
  options.codec = CodecChoice::turbo;
  options.orient = false;
  options.max_pixels = std::int64_t{1} << 32;
  const std::unique_ptr<Reader> reader = open_reader(file, options);
  Image image(reader->header().shape);
  reader->read_rows(image.untyped_view());
  return image;
}

// Decodes the chunks in order, each from the true end of the previous one, without guesses.
std::vector<std::int16_t> decoded_coefficients(const JpegScan& jpeg) {
  ScanChunks chunks(jpeg.scan, jpeg.tables, kScanChunkBytes);
  std::vector<std::int16_t> all(
      static_cast<std::size_t>(jpeg.scan.mcus() * jpeg.scan.blocks_in_mcu * kBlockSamples));
  while (std::optional<ScanChunkRange> range = chunks.next()) {
    if (range->start == ScanChunkStart::guess) range->start = ScanChunkStart::truth;
    std::vector<ConfirmedBlocks> found;
    if (!chunks.join(chunks.decode(*range, chunks.truth()), found)) break;
    for (const ConfirmedBlocks& blocks : found) expand_blocks(jpeg.scan, blocks, all.data());
  }
  if (!chunks.is_complete())
    throw Error(ErrorKind::input, "damaged JPEG; the jpeg ladders need undamaged files");
  return all;
}

void add_grey(CodecSubject& subject) {
  const Shape& shape = subject.pixels.shape();
  const FrameType grey{shape.width, shape.height, 1, false, Layout::planar};
  if (shape.channels == 3) {
    const Stage& gray = *find_stage("gray");
    subject.grey = Image({shape.width, shape.height, 1});
    run_reference(gray, {.in = {frame_type_of(shape), {std::as_const(subject.pixels).view(), {}, {}, {}}},
                         .out = {grey, {subject.grey.view(), {}, {}, {}}},
                         .parameters = presets(gray.parameters)});
  }
  subject.counts.assign(counters(grey), 0);
  run_reference(*find_stage("hist"), {.in = {grey, {subject.picture(CodecPixels::grey).view(), {}, {}, {}}},
                                      .histogram = histogram_view<Host>(subject.counts.data(), grey)});
}

std::vector<std::byte> encoded(Format format, const Image& image, int quality) {
  EncodeOptions options;
  options.quality = quality;
  const std::unique_ptr<Writer> writer = make_writer(format, image.shape(), options);
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

void add_strips(const Image& image, std::int64_t& strip_rows, std::vector<ExpectedStrip>& strips) {
  strip_rows = make_writer(Format::png, image.shape())->strip_rows();
  for (std::int64_t y = 0; y < image.shape().height; y += strip_rows) {
    const std::int64_t rows = std::min(strip_rows, image.shape().height - y);
    strips.push_back(expected_strip(image.view().rows(y, rows), y + rows == image.shape().height));
  }
}

}  // namespace

void expand_blocks(const BaselineScan& scan, const ConfirmedBlocks& blocks, std::int16_t* coefficients) {
  const BlockRun run = blocks.run(blocks.first, static_cast<std::int64_t>(blocks.count), 0);
  std::int16_t* out = coefficients + blocks.first * kBlockSamples;
  std::uint32_t at = run.begin;
  std::int64_t number = blocks.first;
  for (const CoefficientBlock& block : run.blocks) {
    const std::uint8_t component =
        scan.component_of_block[static_cast<std::size_t>(number++ % scan.blocks_in_mcu)];
    std::fill_n(out, kBlockSamples, std::int16_t{0});
    out[0] = static_cast<std::int16_t>(static_cast<std::uint32_t>(block.dc) +
                                       static_cast<std::uint32_t>(run.dc_base[component]));
    for (; at < block.end; ++at) {
      const Coefficient one = run.coefficients[at];
      out[kZigzag[static_cast<std::size_t>(place_of(one))]] = value_of(one);
    }
    out += kBlockSamples;
  }
}

std::span<const std::byte> coded_data(std::span<const std::byte> file) {
  JpegScan jpeg;
  if (!read_scan(file, jpeg)) throw Error(ErrorKind::input, "not a baseline JPEG");
  std::span<const std::byte> data = jpeg.scan.data;
  constexpr std::array kEndMarker{std::byte{0xFF}, std::byte{0xD9}};
  const auto end = std::search(data.begin(), data.end(), kEndMarker.begin(), kEndMarker.end());
  return data.first(static_cast<std::size_t>(end - data.begin()));
}

std::vector<std::byte> jpeg_of(const Image& image) {
  return encoded(Format::jpeg, image, kLabQuality);
}

std::shared_ptr<const CodecSubject> make_jpeg_subject(std::vector<std::byte> file) {
  auto subject = std::make_shared<CodecSubject>();
  subject->file = std::move(file);
  if (!read_scan(subject->file, subject->jpeg))
    throw Error(ErrorKind::input, "the jpeg ladders need baseline JPEGs, grey or YCbCr");
  subject->pixels = decoded(subject->file);
  subject->coefficients = decoded_coefficients(subject->jpeg);
  add_grey(*subject);
  const auto add_scan = [](const Image& image, std::vector<std::byte>& scan, std::size_t& bytes) {
    const std::vector<std::byte> whole = jpeg_of(image);
    const std::span<const std::byte> data = coded_data(whole);
    scan.assign(data.begin(), data.end());
    bytes = whole.size();
  };
  add_scan(subject->picture(CodecPixels::grey), subject->grey_scan, subject->grey_file_bytes);
  if (subject->pixels.shape().channels == 3)
    add_scan(subject->pixels, subject->color_scan, subject->color_file_bytes);
  return subject;
}

std::shared_ptr<const CodecSubject> make_png_subject(Image image) {
  auto subject = std::make_shared<CodecSubject>();
  subject->pixels = std::move(image);
  add_grey(*subject);
  add_strips(subject->picture(CodecPixels::grey), subject->grey_strip_rows, subject->grey_strips);
  add_strips(subject->pixels, subject->pixel_strip_rows, subject->pixel_strips);
  return subject;
}

}  // namespace imgpipe
