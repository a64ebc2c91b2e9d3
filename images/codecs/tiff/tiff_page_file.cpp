#include "images/codecs/tiff/tiff_page_file.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "images/error.h"
#include "images/files/input_file.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

constexpr std::uint16_t kInteroperabilityPointer = 40965;

// Bytes of the original file that are copied.
struct Range {
  std::uint64_t begin = 0, end = 0;
  bool has_values = false;  // contains field values, not only chunks
  std::uint64_t at = 0;     // offset in the page's file
};

class PageExtractor {
 public:
  PageExtractor(const InputFile& file, const TiffLayout& layout, const TiffPageExtraction& cut)
      : file_(file), layout_(layout), cut_(cut), size_(static_cast<std::uint64_t>(file.size_bytes())) {}

  std::vector<std::byte> run() {
    take_directory(cut_.directory, 0);
    take_chunks(TiffTag::strip_offsets, TiffTag::strip_counts);
    take_chunks(TiffTag::tile_offsets, TiffTag::tile_counts);
    for (const Node& node : nodes_) take_values(node);
    merge_ranges();
    position();
    relocate();
    return build();
  }

 private:
  struct Node {
    TiffDirectoryEntries directory;
    std::uint64_t at = 0;
  };
  // A pointer field to another directory.
  struct Link {
    std::size_t node = 0, field = 0;
    std::size_t to = 0;
  };
  // The offsets of chunks; they may become wider than in the original.
  struct ChunkOffsets {
    std::size_t field = 0;  // in the first directory
    std::vector<std::uint64_t> offsets{};
    std::vector<bool> empty{};  // chunks without bytes
    std::uint64_t at = 0;
  };

  // An offset beyond every file of this layout.
  [[nodiscard]] std::uint64_t offset_outside() const {
    return layout_.big ? std::uint64_t{1} << 62 : std::numeric_limits<std::uint32_t>::max();
  }

  std::size_t take_directory(std::uint64_t offset, int depth) {
    const std::size_t self = nodes_.size();
    nodes_.push_back({read_tiff_directory(file_, layout_, offset)});
    if (layout_.big) return self;  // readers do not follow 64-bit offsets to EXIF
    const auto exif = static_cast<std::uint16_t>(TiffTag::exif),
               gps = static_cast<std::uint16_t>(TiffTag::gps);
    const std::vector<std::uint16_t> pointers =
        depth == 0 ? std::vector{exif, gps} : std::vector{kInteroperabilityPointer};
    for (const std::uint16_t tag : pointers) {
      if (depth > 1) break;
      const std::vector<TiffFieldEntry>& fields = nodes_[self].directory.fields;
      const auto field = std::ranges::find(fields, tag, &TiffFieldEntry::tag);
      if (field == fields.end() || field->bytes != 4 || field->count != 1) continue;
      const auto index = static_cast<std::size_t>(field - fields.begin());
      const std::uint64_t to = field->offset(layout_);
      try {
        links_.push_back({self, index, take_directory(to, depth + 1)});
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::input) throw;
        links_.push_back({self, index, kNoNode});  // its reader reports the error
      }
    }
    return self;
  }

  static constexpr std::uint64_t kMaxSide = std::uint64_t{1} << 32;

  [[nodiscard]] std::uint64_t number(TiffTag tag, std::uint64_t otherwise) const {
    return std::min(read_tiff_number(file_, layout_, nodes_.front().directory, tag, otherwise), kMaxSide);
  }

  [[nodiscard]] std::uint64_t planes() const {
    const std::uint64_t samples = std::clamp<std::uint64_t>(number(TiffTag::samples, 1), 1, kMaxTiffSamples);
    return number(TiffTag::planar, 1) == 2 ? samples : 1;
  }

  // The most chunks of a plane of this size, as read_tiff_page() counts them; a longer list is truncated.
  [[nodiscard]] std::uint64_t max_plane_chunks() const {
    const std::uint64_t width = number(TiffTag::width, 0), height = number(TiffTag::height, 0);
    const auto parts = [](std::uint64_t whole, std::uint64_t part) {
      return part == 0 ? 0 : (whole + part - 1) / part;
    };
    const bool tiled = nodes_.front().directory.find(TiffTag::tile_width) != nullptr ||
                       nodes_.front().directory.find(TiffTag::tile_offsets) != nullptr;
    if (!tiled) return parts(height, number(TiffTag::rows_per_strip, kMaxSide));
    const std::uint64_t across = parts(width, number(TiffTag::tile_width, 0)),
                        column = parts(height, number(TiffTag::tile_height, 0));
    constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max() / kMaxTiffSamples;
    return column > 0 && across > kAll / column ? kAll : across * column;
  }

  void take_chunks(TiffTag offsets_tag, TiffTag counts_tag) {
    const TiffDirectoryEntries& directory = nodes_.front().directory;
    const TiffFieldEntry* const field = directory.find(offsets_tag);
    const std::uint64_t in_plane = max_plane_chunks(), planes = this->planes();
    ChunkOffsets positions{.offsets = read_tiff_numbers(file_, layout_, field, in_plane * planes)};
    if (positions.offsets.empty()) return;
    const std::vector<std::uint64_t> counts =
        read_tiff_numbers(file_, layout_, directory.find(counts_tag), positions.offsets.size());
    positions.field = static_cast<std::size_t>(field - directory.fields.data());
    positions.empty.resize(positions.offsets.size());
    check_available(static_cast<std::int64_t>(counts.size() * sizeof(Range)));
    ranges_.reserve(ranges_.size() + counts.size());
    for (std::size_t i = 0; i < positions.offsets.size(); ++i) {
      positions.offsets[i] += cut_.shift;
      const std::uint64_t begin = positions.offsets[i], bytes = i < counts.size() ? counts[i] : 0;
      if (cut_.sample && planes > 1 && i / in_plane != *cut_.sample) {
        positions.offsets[i] = offset_outside();
        continue;
      }
      positions.empty[i] = bytes == 0;
      // The available part of a truncated file may be needed.
      if (begin < size_ && bytes > 0) ranges_.push_back({begin, begin + std::min(bytes, size_ - begin)});
    }
    positions_.push_back(std::move(positions));
  }

  void take_values(const Node& node) {
    for (std::size_t i = 0; i < node.directory.fields.size(); ++i) {
      const TiffFieldEntry& field = node.directory.fields[i];
      if (field.is_inside(layout_) || (&node == &nodes_.front() && has_places(i))) continue;
      const std::uint64_t begin = field.offset(layout_);
      if (begin <= size_ && field.bytes <= size_ - begin)
        ranges_.push_back({begin, begin + field.bytes, true});
    }
  }

  [[nodiscard]] bool has_places(std::size_t field) const {
    return std::ranges::find(positions_, field, &ChunkOffsets::field) != positions_.end();
  }

  void merge_ranges() {
    std::ranges::sort(ranges_, {}, &Range::begin);
    std::size_t kept = 0;
    for (const Range& range : ranges_) {
      if (kept > 0 && range.begin < ranges_[kept - 1].end) {
        Range& before = ranges_[kept - 1];
        before.end = std::max(before.end, range.end);
        before.has_values = before.has_values || range.has_values;
      } else {
        ranges_[kept++] = range;
      }
    }
    ranges_.resize(kept);
  }

  void position() {
    std::uint64_t at = layout_.header_bytes();
    for (Node& node : nodes_) {
      node.at = at;
      at += (layout_.directory_bytes(node.directory.fields.size()) + 1) / 2 * 2;
    }
    for (ChunkOffsets& positions : positions_) {
      positions.at = at;
      if (positions.offsets.size() > 1) at += positions.offsets.size() * layout_.offset_bytes();
    }
    data_ = at;
    for (Range& range : ranges_) {
      range.at = at;
      at += range.end - range.begin;
    }
    total_ = at;
    if (total_ > static_cast<std::uint64_t>(cut_.max_bytes))
      throw Error(ErrorKind::input, "TIFF: " + std::to_string(total_) + " bytes exceed the size of a page");
    if (!layout_.big && total_ >= offset_outside())
      throw Error(ErrorKind::input, "TIFF: a page exceeds 4 GB");
  }

  // Returns the new offset of a byte of the original.
  [[nodiscard]] std::uint64_t moved(std::uint64_t begin, bool empty = false) const {
    if (empty && begin <= size_) return data_;
    auto range = std::ranges::upper_bound(ranges_, begin, {}, &Range::begin);
    if (range == ranges_.begin()) return offset_outside();
    --range;
    return begin < range->end ? range->at + (begin - range->begin) : offset_outside();
  }

  void set_offset(TiffFieldEntry& field, std::uint64_t value) const {
    layout_.put(value, layout_.offset_bytes(), field.position.data());
  }

  void relocate() {
    for (Node& node : nodes_) {
      node.directory.next = 0;
      for (TiffFieldEntry& field : node.directory.fields) {
        if (field.is_inside(layout_)) continue;
        const std::uint64_t begin = field.offset(layout_);
        const bool is_here = begin <= size_ && field.bytes <= size_ - begin;
        set_offset(field, is_here ? moved(begin) : offset_outside());
      }
    }
    for (const Link& link : links_)
      set_offset(nodes_[link.node].directory.fields[link.field],
                 link.to == kNoNode ? offset_outside() : nodes_[link.to].at);
    for (ChunkOffsets& positions : positions_) {
      for (std::size_t i = 0; i < positions.offsets.size(); ++i)
        positions.offsets[i] = moved(positions.offsets[i], positions.empty[i]);
      TiffFieldEntry& field = nodes_.front().directory.fields[positions.field];
      field.type = static_cast<std::uint16_t>(layout_.big ? TiffType::u64 : TiffType::u32);
      field.count = positions.offsets.size();
      set_offset(field, positions.offsets.size() > 1 ? positions.at : positions.offsets.front());
    }
  }

  [[nodiscard]] std::vector<std::byte> build() const {
    check_available(static_cast<std::int64_t>(total_));
    std::vector<std::byte> page(total_);
    const std::size_t offset_bytes = layout_.offset_bytes();
    page[0] = page[1] = layout_.big_endian ? std::byte{'M'} : std::byte{'I'};
    layout_.put(layout_.big ? 43 : 42, 2, &page[2]);
    if (layout_.big) layout_.put(8, 2, &page[4]);
    layout_.put(nodes_.front().at, offset_bytes, &page[layout_.big ? 8 : 4]);
    for (const Node& node : nodes_) put_directory(node, &page[node.at]);
    for (const ChunkOffsets& positions : positions_) {
      for (std::size_t i = 0; positions.offsets.size() > 1 && i < positions.offsets.size(); ++i)
        layout_.put(positions.offsets[i], offset_bytes, &page[positions.at + i * offset_bytes]);
    }
    for (const Range& range : ranges_) {
      if (cut_.part == Pages::Part::front && !range.has_values) continue;
      const std::span<std::byte> to = std::span(page).subspan(range.at, range.end - range.begin);
      if (file_.read_at(static_cast<std::int64_t>(range.begin), to) < to.size())
        throw Error(ErrorKind::input, "TIFF: the file is truncated");
    }
    return page;
  }

  void put_directory(const Node& node, std::byte* to) const {
    const std::size_t offset_bytes = layout_.offset_bytes();
    layout_.put(node.directory.fields.size(), layout_.count_bytes(), to);
    to += layout_.count_bytes();
    for (const TiffFieldEntry& field : node.directory.fields) {
      layout_.put(field.tag, 2, to);
      layout_.put(field.type, 2, to + 2);
      layout_.put(field.count, offset_bytes, to + 4);
      std::copy_n(field.position.begin(), offset_bytes, to + 4 + offset_bytes);
      to += layout_.field_bytes();
    }
    layout_.put(node.directory.next, offset_bytes, to);
  }

  static constexpr std::size_t kNoNode = std::numeric_limits<std::size_t>::max();

  const InputFile& file_;
  const TiffLayout& layout_;
  const TiffPageExtraction& cut_;
  const std::uint64_t size_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::vector<ChunkOffsets> positions_;
  std::vector<Range> ranges_;  // in the original order
  std::uint64_t data_ = 0, total_ = 0;
};

}  // namespace

std::vector<std::byte> extract_tiff_page(const InputFile& file, const TiffLayout& layout,
                                         const TiffPageExtraction& cut) {
  return PageExtractor(file, layout, cut).run();
}

}  // namespace imgpipe
