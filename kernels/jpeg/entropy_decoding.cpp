// Memory layout and upload of a group's entropy decoding. The kernels: entropy_decoding.cu.
#include "kernels/jpeg/entropy_decoding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace imgpipe {
namespace {

using namespace entropy;

constexpr std::size_t kScanAlignment = 256;

std::uint32_t subsequences_of(const ScanSegment& segment) {
  return segment.bytes / kSubsequenceBytes + (segment.bytes % kSubsequenceBytes != 0 ? 1 : 0);
}

// Returns true if the segments are adjacent, as stage_scan() lays them out. Rejects empty segments: every
// block has bits.
bool are_contiguous(const StagedScan& staged) {
  std::size_t next = 0;
  for (const ScanSegment& segment : staged.segments) {
    if (segment.first_byte != next || segment.bytes == 0) return false;
    next = (next + segment.bytes + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment;
  }
  return next == staged.bytes;
}

// Whether the segments match the header's restart interval.
bool has_expected_segments(const BaselineScan& scan, const StagedScan& staged) {
  const std::int64_t interval = scan.restart_interval;
  const std::int64_t expected = interval > 0 ? (scan.mcus() + interval - 1) / interval : 1;
  constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 30;
  return scan.mcus() > 0 && scan.mcus() * scan.blocks_in_mcu <= kMaxBlocks &&
         static_cast<std::int64_t>(staged.segments.size()) == expected && are_contiguous(staged);
}

// The distinct tables of an image, in the order of their first use.
struct UsedTables {
  std::array<const HuffmanDecoder*, kMaxTables> decoders{};
  std::array<bool, kMaxTables> is_dc{};
  std::uint32_t count = 0;

  std::uint32_t number(const HuffmanDecoder* decoder, bool dc) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (decoders[i] == decoder) return i;
    }
    decoders[count] = decoder;
    is_dc[count] = dc;
    return count++;
  }
};

UsedTables pack_blocks(const EntropyTables& tables, DeviceImage& image) {
  UsedTables used;
  for (std::uint32_t block = 0; block < image.blocks_in_mcu; ++block) {
    const std::uint32_t dc = used.number(tables.dc_of_block[block], true);
    const std::uint32_t ac = used.number(tables.ac_of_block[block], false);
    image.kinds[block] = packed_kind(tables.component_of_block[block], dc, ac);
  }
  return used;
}

CodeLengths code_lengths(const HuffmanDecoder& decoder, bool is_dc) {
  CodeLengths codes{};
  for (std::size_t length = 0; length <= kLongestCode; ++length) {
    codes.ends[length] = static_cast<std::uint16_t>(decoder.ends[length]);
    codes.first_symbols[length] = static_cast<std::uint16_t>(decoder.first_symbols[length]);
  }
  codes.is_dc = is_dc ? 1 : 0;
  std::ranges::copy(decoder.symbols, codes.symbols);
  return codes;
}

}  // namespace

EntropyDecoding::EntropyDecoding(std::vector<EntropyTask> tasks) : tasks_(std::move(tasks)) {
  for (std::size_t i = 0; i < tasks_.size(); ++i) add_image(i);
  lay_out();
}

void EntropyDecoding::add_image(std::size_t number) {
  const EntropyTask& task = tasks_[number];
  if (!has_expected_segments(*task.scan, *task.staged)) return;
  DeviceImage image{};
  image.stream = reinterpret_cast<const std::uint32_t*>(task.stream);
  image.stream_words = static_cast<std::uint32_t>(task.staged->bytes / sizeof(std::uint32_t));
  image.coefficients = task.coefficients;
  image.first_segment = segments_;
  image.segments = static_cast<std::uint32_t>(task.staged->segments.size());
  image.first_subsequence = subsequences_;
  for (const ScanSegment& segment : task.staged->segments) image.subsequences += subsequences_of(segment);
  image.first_tile = tiles_;
  image.tiles = (image.subsequences + kTileSubsequences - 1) / kTileSubsequences;
  image.blocks_in_mcu = static_cast<std::uint32_t>(task.scan->blocks_in_mcu);
  image.blocks = static_cast<std::uint32_t>(task.scan->mcus()) * image.blocks_in_mcu;
  const std::int64_t interval = task.scan->restart_interval;
  image.segment_blocks = interval > 0 && image.segments > 1
                             ? static_cast<std::uint32_t>(interval) * image.blocks_in_mcu
                             : image.blocks;
  image.first_table = tables_;
  image.tables = pack_blocks(*task.tables, image).count;
  image.number = static_cast<std::uint32_t>(number);
  segments_ += image.segments;
  subsequences_ += image.subsequences;
  tiles_ += image.tiles;
  bridges_ += (image.tiles - 1 + kBridgeWarps - 1) / kBridgeWarps;
  tables_ += image.tables;
  max_tables_ = std::max(max_tables_, image.tables);
  images_.push_back(image);
}

void EntropyDecoding::lay_out() {
  std::size_t end = 0;
  const auto take = [&end](std::size_t bytes) {
    const std::size_t at = end;
    end = (end + bytes + kScanAlignment - 1) / kScanAlignment * kScanAlignment;
    return at;
  };
  offsets_.images = take(images_.size() * sizeof(DeviceImage));
  offsets_.tile_ends = take(images_.size() * sizeof(std::uint32_t));
  offsets_.bridge_ends = take(images_.size() * sizeof(std::uint32_t));
  offsets_.codes = take(tables_ * sizeof(CodeLengths));
  offsets_.segments = take(segments_ * sizeof(DeviceSegment));
  memory_.upload_bytes = end;
  memory_.results_bytes = tasks_.size() * sizeof(std::uint32_t);
  memory_.results_offset = take(memory_.results_bytes);
  offsets_.tables = take(tables_ * sizeof(SymbolTable));
  offsets_.records = take(subsequences_ * sizeof(Record));
  offsets_.sums = take(subsequences_ * sizeof(Sums));
  offsets_.tile_exits = take(tiles_ * sizeof(TileEnd));
  offsets_.tile_sums = take(tiles_ * sizeof(Sums));
  offsets_.tile_bases = take(tiles_ * sizeof(Sums));
  memory_.bytes = end;
}

void EntropyDecoding::write_segments(const DeviceImage& image, DeviceSegment* to) const {
  std::uint32_t first = 0;
  for (const ScanSegment& segment : tasks_[image.number].staged->segments) {
    *to++ = {segment.first_byte, segment.bytes, first};
    first += subsequences_of(segment);
  }
}

void EntropyDecoding::write_upload(std::byte* to) const {
  std::memset(to, 0, memory_.upload_bytes);
  const auto array = [to]<class T>(std::size_t offset, T*) { return reinterpret_cast<T*>(to + offset); };
  DeviceImage* const images = array(offsets_.images, static_cast<DeviceImage*>(nullptr));
  auto* tile_end = array(offsets_.tile_ends, static_cast<std::uint32_t*>(nullptr));
  auto* bridge_end = array(offsets_.bridge_ends, static_cast<std::uint32_t*>(nullptr));
  auto* codes = array(offsets_.codes, static_cast<CodeLengths*>(nullptr));
  auto* segments = array(offsets_.segments, static_cast<DeviceSegment*>(nullptr));
  std::uint32_t bridges = 0;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    const DeviceImage& image = images_[i];
    images[i] = image;
    tile_end[i] = image.first_tile + image.tiles;
    bridges += (image.tiles - 1 + kBridgeWarps - 1) / kBridgeWarps;
    bridge_end[i] = bridges;
    DeviceImage packed{};
    packed.blocks_in_mcu = image.blocks_in_mcu;
    const UsedTables used = pack_blocks(*tasks_[image.number].tables, packed);
    for (std::uint32_t t = 0; t < used.count; ++t)
      codes[image.first_table + t] = code_lengths(*used.decoders[t], used.is_dc[t]);
    write_segments(image, segments + image.first_segment);
  }
}

GroupView EntropyDecoding::view(std::byte* memory) const {
  const auto at = [memory](std::size_t offset) { return static_cast<void*>(memory + offset); };
  GroupView view{};
  view.images = static_cast<const DeviceImage*>(at(offsets_.images));
  view.tile_ends = static_cast<const std::uint32_t*>(at(offsets_.tile_ends));
  view.bridge_ends = static_cast<const std::uint32_t*>(at(offsets_.bridge_ends));
  view.codes = static_cast<const CodeLengths*>(at(offsets_.codes));
  view.segments = static_cast<const DeviceSegment*>(at(offsets_.segments));
  view.tables = static_cast<SymbolTable*>(at(offsets_.tables));
  view.records = static_cast<Record*>(at(offsets_.records));
  view.sums = static_cast<Sums*>(at(offsets_.sums));
  view.tile_exits = static_cast<TileEnd*>(at(offsets_.tile_exits));
  view.tile_sums = static_cast<Sums*>(at(offsets_.tile_sums));
  view.tile_bases = static_cast<Sums*>(at(offsets_.tile_bases));
  view.verdicts = static_cast<std::uint32_t*>(at(memory_.results_offset));
  view.image_count = static_cast<std::uint32_t>(images_.size());
  view.tile_count = tiles_;
  view.bridge_count = bridges_;
  view.table_count = tables_;
  view.task_count = static_cast<std::uint32_t>(tasks_.size());
  return view;
}

bool EntropyDecoding::is_intact(std::size_t image, const std::byte* results) const {
  std::uint32_t verdict = 0;
  std::memcpy(&verdict, results + image * sizeof verdict, sizeof verdict);
  const bool decoded =
      std::ranges::any_of(images_, [image](const DeviceImage& one) { return one.number == image; });
  return decoded && verdict == kIntact;
}

}  // namespace imgpipe
