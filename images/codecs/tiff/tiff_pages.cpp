#include "images/codecs/tiff/tiff_pages.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/metadata/description.h"
#include "images/codecs/sniff.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_page_file.h"
#include "images/codecs/tiff/tiff_raw_directory.h"
#include "images/error.h"
#include "images/files/input_file.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kDescriptionBytes = 4096;  // enough: images=N is the second line

class TiffPages final : public Pages {
 public:
  TiffPages(const InputFile& file, const DecodeOptions& options)
      : file_(file), lenient_(options.lenient()), max_bytes_(max_file_bytes(options)) {
    const std::vector<std::byte> header = read_tiff_bytes(file, 0, 8);
    layout_.big_endian = is_big_endian_tiff(header);
    layout_.big = layout_.number(Bytes(header).subspan(2, 2)) == 43;
    const std::size_t bytes = layout_.offset_bytes();
    const std::vector<std::byte> first = read_tiff_bytes(file, bytes, bytes);
    walk(layout_.number(first));
    if (offsets_.size() == 1) look_for_imagej();
  }

  [[nodiscard]] std::int64_t size() const override {
    return images_ > 1 ? images_ : static_cast<std::int64_t>(offsets_.size());
  }

  [[nodiscard]] std::int64_t reduced() const override { return reduced_; }
  [[nodiscard]] std::int64_t masks() const override { return masks_; }

  [[nodiscard]] InputFile page(std::int64_t index, Part part) const override {
    return InputFile(extract(index, part));
  }

  // With `sample`: TiffPageExtraction::sample.
  [[nodiscard]] std::vector<std::byte> extract(std::int64_t index, Part part,
                                               std::optional<std::uint64_t> sample = {}) const {
    TiffPageExtraction cut{
        .directory = directory_of(index), .part = part, .max_bytes = max_bytes_, .sample = sample};
    if (images_ > 1) cut.shift = static_cast<std::uint64_t>(index) * image_bytes_;
    return extract_tiff_page(file_, layout_, cut);
  }

  // Returns the first value of a field in the page's directory; `otherwise` if there is none.
  [[nodiscard]] std::uint64_t number_in(std::int64_t index, TiffTag tag, std::uint64_t otherwise) const {
    return number(read_tiff_directory(file_, layout_, directory_of(index)), tag, otherwise);
  }

 private:
  [[nodiscard]] std::uint64_t directory_of(std::int64_t index) const {
    return images_ > 1 ? offsets_.front() : offsets_.at(static_cast<std::size_t>(index));
  }

  void walk(std::uint64_t offset) {
    std::unordered_set<std::uint64_t> seen;
    while (offset != 0) {
      const std::string page = std::to_string(offsets_.size() + 1);
      try {
        if (static_cast<std::int64_t>(seen.size()) == kMaxTiffPages)
          throw Error(ErrorKind::input, "TIFF: more than " + std::to_string(kMaxTiffPages) + " pages");
        if (!seen.insert(offset).second) throw Error(ErrorKind::input, "TIFF: its directories form a loop");
        const TiffDirectoryEntries directory = read_tiff_directory(file_, layout_, offset);
        constexpr std::uint64_t kReduced = 1, kMask = 4;
        const std::uint64_t kind = number(directory, TiffTag::subfile, 0);
        if ((kind & kMask) != 0 && !offsets_.empty()) {
          ++masks_;
        } else {
          offsets_.push_back(offset);
          if ((kind & kReduced) != 0) ++reduced_;
        }
        offset = directory.next;
      } catch (const Error& error) {
        if (!lenient_ || offsets_.empty() || error.kind() != ErrorKind::input)
          throw Error(error.kind(), "page " + page + ": " + error.what());
        warning_ = "damaged from page " + page + ": " + error.what();
        return;
      }
    }
    if (offsets_.empty()) throw Error(ErrorKind::input, "TIFF: no pages");
  }

  void look_for_imagej() {
    const TiffDirectoryEntries directory = read_tiff_directory(file_, layout_, offsets_.front());
    const TiffFieldEntry* const text = directory.find(TiffTag::description);
    if (text == nullptr || text->type != static_cast<std::uint16_t>(TiffType::ascii) ||
        text->is_inside(layout_))
      return;
    const std::uint64_t at = text->offset(layout_), size = static_cast<std::uint64_t>(file_.size_bytes());
    if (at > size || text->bytes > size - at) {
      const std::string reason = "truncated before its description, which may declare more images";
      if (!lenient_) throw Error(ErrorKind::input, "TIFF: " + reason);
      warning_ = reason;
      return;
    }
    const std::int64_t said =
        imagej_images(read_tiff_bytes(file_, at, std::min<std::uint64_t>(text->bytes, kDescriptionBytes)));
    if (said > 1) take_imagej(directory, said);
  }

  [[nodiscard]] std::uint64_t number(const TiffDirectoryEntries& directory, TiffTag tag,
                                     std::uint64_t otherwise) const {
    return read_tiff_number(file_, layout_, directory, tag, otherwise);
  }

  // Requires the first image's pixels to be contiguous and uncompressed; otherwise no others can follow.
  void take_imagej(const TiffDirectoryEntries& directory, std::int64_t said) {
    const std::uint64_t width = number(directory, TiffTag::width, 0),
                        height = number(directory, TiffTag::height, 0);
    const std::uint64_t bits = number(directory, TiffTag::bits, 1) * number(directory, TiffTag::samples, 1);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31, kMaxBits = 16 * kMaxTiffSamples;
    if (number(directory, TiffTag::compression, 1) != 1 || width == 0 || height == 0 || bits == 0 ||
        width >= kMost || height >= kMost || bits > kMaxBits)
      return;
    const std::vector<std::uint64_t> offsets =
        read_tiff_numbers(file_, layout_, directory.find(TiffTag::strip_offsets), height * kMaxTiffSamples);
    const std::vector<std::uint64_t> counts =
        read_tiff_numbers(file_, layout_, directory.find(TiffTag::strip_counts), offsets.size());
    if (offsets.empty() || offsets.size() != counts.size()) return;
    const std::uint64_t row_bytes = (width * bits + 7) / 8,
                        size = static_cast<std::uint64_t>(file_.size_bytes());
    if (row_bytes > size / height) return;
    std::uint64_t end = offsets.front();
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] != end || counts[i] > size) return;
      end += counts[i];
    }
    image_bytes_ = row_bytes * height;
    if (end - offsets.front() != image_bytes_ || end > size) return;
    const auto there = static_cast<std::int64_t>((size - offsets.front()) / image_bytes_);
    images_ = std::min({said, there, kMaxTiffPages});
    if (images_ == said) return;
    const std::string reason = images_ == kMaxTiffPages
                                   ? "more than " + std::to_string(kMaxTiffPages) + " pages"
                                   : "truncated: ImageJ's description declares " + std::to_string(said) +
                                         " images, but the file ends in page " + std::to_string(there + 1);
    if (!lenient_) throw Error(ErrorKind::input, "TIFF: " + reason);
    warning_ = reason;
  }

  const InputFile& file_;
  bool lenient_;
  std::int64_t max_bytes_;
  TiffLayout layout_;
  std::vector<std::uint64_t> offsets_;  // of directories
  std::int64_t reduced_ = 0;            // how many of the pages are reduced versions
  std::int64_t masks_ = 0;
  // ImageJ stacks:
  std::int64_t images_ = 1;
  std::uint64_t image_bytes_ = 0;
};

class TiffBands final : public Pages {
 public:
  TiffBands(const InputFile& file, const DecodeOptions& options)
      : pages_(file, options), page_(*options.bands_of_page) {
    if (page_ >= pages_.size())
      throw Error(ErrorKind::input, "page " + std::to_string(page_ + 1) + " does not exist; the file has " +
                                        std::to_string(pages_.size()));
    bands_ = std::clamp<std::uint64_t>(pages_.number_in(page_, TiffTag::samples, 1), 1, kMaxTiffSamples);
    separate_ = bands_ > 1 && pages_.number_in(page_, TiffTag::planar, 1) == 2;
    warning_ = pages_.warning();
  }

  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(bands_); }
  [[nodiscard]] bool more_images() const override { return pages_.size() > 1; }

  [[nodiscard]] InputFile page(std::int64_t index, Part part) const override {
    std::shared_ptr<const std::vector<std::byte>> file = file_of(static_cast<std::uint64_t>(index), part);
    const auto open = [file, band = static_cast<int>(index) + 1](const DecodeOptions& options) {
      DecodeOptions of_band = options;
      of_band.bands = {band};
      std::unique_ptr<Reader> reader = open_tiff(*file, of_band);
      if (!options.orient || reader->header().orientation == Orientation::upright) return reader;
      return make_oriented_reader(std::move(reader), options.memory);
    };
    return {std::move(file), open};
  }

 private:
  using File = std::shared_ptr<const std::vector<std::byte>>;

  [[nodiscard]] File file_of(std::uint64_t sample, Part part) const {
    const auto extract = [&](Part of, std::optional<std::uint64_t> only) {
      return std::make_shared<const std::vector<std::byte>>(pages_.extract(page_, of, only));
    };
    if (separate_) return extract(part, sample);
    const std::lock_guard lock(mutex_);
    if (!whole_) whole_ = extract(Part::all, {});
    return whole_;
  }

  TiffPages pages_;
  std::int64_t page_;
  std::uint64_t bands_ = 1;
  bool separate_ = false;
  mutable std::mutex mutex_;
  mutable File whole_;  // the file of all bands, if they are not separate
};

}  // namespace

std::unique_ptr<Pages> open_tiff_pages(const InputFile& file, const DecodeOptions& options) {
  if (options.bands_of_page) return std::make_unique<TiffBands>(file, options);
  return std::make_unique<TiffPages>(file, options);
}

}  // namespace imgpipe
