#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "images/codecs/codec.h"
#include "images/codecs/jpeg/sample_rows.h"
#include "images/codecs/jpeg/scan_chunks.h"
#include "lab/kernels/jpeg_naive.h"
#include "lab/pipeline/codec_host.h"
#include "lab/pipeline/codec_subject.h"

namespace imgpipe {
namespace {

// A run that produces the pixels of each image.
class PixelRun : public GroupRun {
 public:
  explicit PixelRun(const CodecGroup& group) : GroupRun(group) {
    for (std::size_t i = 0; i < images(); ++i) made_.emplace_back(subject().pixels.shape());
  }
  CodecOutput answer(std::size_t image) override {
    CodecOutput answer;
    answer.pixels = Image(made_[image].shape());
    copy_pixels(std::as_const(made_[image]).view(), answer.pixels.view());
    return answer;
  }

 protected:
  [[nodiscard]] Image& made(std::size_t image) { return made_[image]; }

 private:
  std::vector<Image> made_;
};

class SequentialReconstruction final : public PixelRun {
 public:
  explicit SequentialReconstruction(const CodecGroup& group)
      : PixelRun(group),
        scan_(naive_scan(subject().jpeg.scan)),
        planes_(static_cast<std::size_t>(scan_.samples)) {}

 protected:
  void make(std::size_t image) override {
    for (std::int64_t i = 0; i < scan_.blocks(); ++i)
      reconstruct_block_naively(scan_, subject().coefficients.data(), i, planes_.data());
    const HostPlane out = made(image).view();
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x)
        make_pixel_naively(scan_, planes_.data(), x, y, out.row(y) + x * out.channels);
    }
  }

 private:
  NaiveScan scan_;
  std::vector<std::uint8_t> planes_;
};

// Reconstructs bands of MCU rows, each with the rows around it that upsampling reads.
class SimdReconstruction final : public PixelRun {
 public:
  explicit SimdReconstruction(const CodecGroup& group)
      : PixelRun(group), scan_(subject().jpeg.scan), layout_(scan_) {
    ScanChunks chunks(scan_, subject().jpeg.tables, kScanChunkBytes);
    while (std::optional<ScanChunkRange> range = chunks.next()) {
      if (range->start == ScanChunkStart::guess) range->start = ScanChunkStart::truth;
      if (!chunks.join(chunks.decode(*range, chunks.truth()), blocks_)) break;
    }
  }

  void begin() override { next_ = 0; }
  void run(const Share&) override {
    const std::int64_t bands = (scan_.mcu_rows + kBandRows - 1) / kBandRows;
    std::vector<std::unique_ptr<std::uint8_t[]>> samples(kBandRows + 2);
    for (auto& row : samples)
      row = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(layout_.bytes()));
    for (;;) {
      const std::int64_t item = next_++;
      if (item >= bands * static_cast<std::int64_t>(images())) return;
      make_band(made(static_cast<std::size_t>(item / bands)).untyped_view(), item % bands * kBandRows,
                samples);
    }
  }

 private:
  static constexpr std::int64_t kBandRows = 16;  // MCU rows

  void make_band(const HostView& image, std::int64_t first,
                 const std::vector<std::unique_ptr<std::uint8_t[]>>& samples) const {
    const std::int64_t end = std::min(first + kBandRows, scan_.mcu_rows);
    const std::int64_t from = std::max<std::int64_t>(first - scan_.interpolation_rows(), 0);
    const std::int64_t to = std::min(end + scan_.interpolation_rows(), scan_.mcu_rows);
    std::vector<std::uint8_t*> rows;
    for (std::int64_t row = from; row < to; ++row) {
      rows.push_back(samples[static_cast<std::size_t>(row - from)].get());
      reconstruct_row(row, rows.back());
    }
    const std::int64_t top = first * scan_.mcu_height;
    const std::int64_t bottom = std::min(end * scan_.mcu_height, scan_.height);
    layout_.make_rows(top, image.rows(top, bottom - top), rows, from);
  }
  void reconstruct_row(std::int64_t row, std::uint8_t* samples) const {
    const std::int64_t in_row = scan_.mcus_across * scan_.blocks_in_mcu;
    const std::int64_t first = row * in_row;
    const std::int64_t end = first + in_row;
    std::vector<BlockRun> runs;
    for (const ConfirmedBlocks& part : blocks_) {
      const std::int64_t from = std::max(first, part.first);
      const std::int64_t to = std::min(end, part.end());
      if (from < to) runs.push_back(part.run(from, to - from, from - first));
    }
    layout_.reconstruct(runs, samples);
  }

  const BaselineScan& scan_;
  SampleLayout layout_;
  std::vector<ConfirmedBlocks> blocks_;
  std::atomic<std::int64_t> next_{0};
};

DecodeOptions decode_options(const CodecSubject& subject, CodecChoice codec) {
  DecodeOptions options;
  options.codec = codec;
  options.orient = false;
  options.max_pixels = subject.pixels.shape().pixels();
  return options;
}

class ImageDecoding final : public PixelRun {
 public:
  ImageDecoding(const CodecGroup& group, CodecChoice codec)
      : PixelRun(group), options_(decode_options(subject(), codec)) {}

 protected:
  void make(std::size_t image) override {
    open_reader(subject().file, options_)->read_rows(made(image).untyped_view());
  }

 private:
  DecodeOptions options_;
};

// All threads read bands of one image, then of the next.
class BandDecoding final : public PixelRun {
 public:
  explicit BandDecoding(const CodecGroup& group) : PixelRun(group), open_(group.images) {}

  void begin() override {
    const DecodeOptions options = decode_options(subject(), CodecChoice::automatic);
    for (Open& one : open_) {
      one.reader = open_reader(subject().file, options);
      one.next_row = 0;
    }
  }
  void run(const Share&) override {
    for (std::size_t i = 0; i < open_.size(); ++i) read(open_[i], made(i).untyped_view());
  }

 private:
  static constexpr std::int64_t kBandRows = 64;
  struct Open {
    std::mutex mutex;
    std::unique_ptr<Reader> reader;
    std::int64_t next_row = 0;
  };

  static void read(Open& open, const HostView& image) {
    for (;;) {
      std::unique_lock lock(open.mutex);
      const std::int64_t first = open.next_row;
      const std::int64_t rows =
          std::min(open.reader->has_bands() ? kBandRows : image.height, image.height - first);
      if (rows == 0) return;
      open.next_row += rows;
      if (!open.reader->has_bands()) return open.reader->read_rows(image);
      open.reader->begin_band(first, rows);
      lock.unlock();
      open.reader->read_band(first, image.rows(first, rows));
    }
  }

  std::vector<Open> open_;
};

}  // namespace

HostCodec sequential_reconstruction(const CodecGroup& group) {
  return std::make_unique<SequentialReconstruction>(group);
}
HostCodec simd_reconstruction(const CodecGroup& group) {
  return std::make_unique<SimdReconstruction>(group);
}
HostCodec turbo_decoding(const CodecGroup& group) {
  return std::make_unique<ImageDecoding>(group, CodecChoice::turbo);
}
HostCodec own_decoding(const CodecGroup& group) {
  return std::make_unique<ImageDecoding>(group, CodecChoice::automatic);
}
HostCodec band_decoding(const CodecGroup& group) {
  return std::make_unique<BandDecoding>(group);
}

}  // namespace imgpipe
