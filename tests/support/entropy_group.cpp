#include "tests/support/entropy_group.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "images/codecs/jpeg/scan_chunks.h"
#include "images/error.h"
#include "kernels/jpeg/entropy_steps.h"

namespace imgpipe::test {

std::unique_ptr<OpenJpeg> open_jpeg_scan(std::vector<std::byte> file) {
  auto jpeg = std::make_unique<OpenJpeg>();
  jpeg->file = std::move(file);
  try {
    jpeg->library = open_library_jpeg(jpeg->file, {});
  } catch (const Error&) {
    return nullptr;
  }
  const std::optional<BaselineScan> scan = jpeg->library->baseline();
  if (!scan || !jpeg->tables.make(*scan)) return nullptr;
  jpeg->scan = *scan;
  return jpeg;
}

namespace {

void add_blocks(const OpenJpeg& jpeg, const ConfirmedBlocks& more, Coefficients& out) {
  const BlockRun run = more.run(more.first, static_cast<std::int64_t>(more.count), 0);
  std::uint32_t at = run.begin;
  auto number = static_cast<std::size_t>(more.first);
  for (const CoefficientBlock& block : run.blocks) {
    std::int16_t* const values = out.data() + number * kBlockSamples;
    const std::size_t component =
        jpeg.scan.component_of_block[number % static_cast<std::size_t>(jpeg.scan.blocks_in_mcu)];
    values[0] = static_cast<std::int16_t>(run.dc_base[component] + block.dc);
    for (; at < block.end; ++at)
      values[kZigzag[static_cast<std::size_t>(place_of(run.coefficients[at]))]] =
          value_of(run.coefficients[at]);
    ++number;
  }
}

}  // namespace

std::optional<HostCoefficients> host_coefficients(const OpenJpeg& jpeg, std::size_t scan_chunk_bytes) {
  ScanChunks pieces(jpeg.scan, jpeg.tables, scan_chunk_bytes);
  HostCoefficients result;
  result.values.resize(static_cast<std::size_t>(jpeg.scan.mcus() * jpeg.scan.blocks_in_mcu) * kBlockSamples);
  while (std::optional<ScanChunkRange> range = pieces.next()) {
    if (range->start == ScanChunkStart::guess) range->start = ScanChunkStart::truth;
    std::vector<ConfirmedBlocks> more;
    if (!pieces.join(pieces.decode(*range, pieces.truth()), more)) return std::nullopt;
    for (const ConfirmedBlocks& blocks : more) add_blocks(jpeg, blocks, result.values);
  }
  if (!pieces.is_complete()) return std::nullopt;
  result.after_end = pieces.after_end();
  return result;
}

std::optional<StagedJpeg> staged(const OpenJpeg& jpeg) {
  StagedJpeg result;
  const std::size_t capacity = staged_capacity(jpeg.scan);
  result.bytes.assign(capacity + kStreamMargin, std::byte{0xA5});
  const std::optional<StagedScan> scan = stage_scan(jpeg.scan, std::span(result.bytes).first(capacity));
  if (!scan) return std::nullopt;
  result.scan = *scan;
  result.bytes.resize(scan->bytes + kStreamMargin);
  return result;
}

// ---- emulation --------------------------------------------------------------------------------------------

namespace {

using namespace entropy;

class Emulation {
 public:
  explicit Emulation(const GroupView& view) : view_(view) {}

  void run() {
    for (std::uint32_t i = 0; i < view_.task_count; ++i) view_.verdicts[i] = kIntact;
    for (std::uint32_t t = 0; t < view_.table_count; ++t) {
      auto* entries = reinterpret_cast<std::uint16_t*>(view_.tables + t);
      for (std::uint32_t i = 0; i < sizeof(SymbolTable) / sizeof(std::uint16_t); ++i)
        entries[i] = table_entry(view_.codes[t], i);
    }
    for (std::uint32_t i = 0; i < view_.image_count; ++i) {
      const DeviceImage& image = view_.images[i];
      for (std::uint32_t tile = 0; tile < image.tiles; ++tile) synchronise(image, tile);
      bridge(image);
      if (!repair(image)) view_.verdicts[image.number] = 1;
      sum_tiles(image);
      for (std::uint32_t tile = 0; tile < image.tiles; ++tile) write(image, tile);
    }
  }

 private:
  [[nodiscard]] Tables tables(const DeviceImage& image) const {
    return {view_.tables[image.first_table].entries, view_.codes + image.first_table, image.kinds,
            image.blocks_in_mcu};
  }
  static std::uint32_t tile_end(const DeviceImage& image, std::uint32_t tile) {
    return std::min((tile + 1) * kTileSubsequences, image.subsequences);
  }
  struct Words {
    const std::uint32_t* words;
    std::uint32_t operator()(std::uint32_t i) const { return swapped(words[i]); }
  };
  std::uint32_t decode(const DeviceImage& image, const Subsequence& subsequence, PackedState entry,
                       Record& record, Sums& sums) const {
    const Words words{subsequence.words};
    decode_subsequence<Pass::sums>(tables(image), words, subsequence.end(), entry, record, sums);
    const Record plain = record;
    const Sums plain_sums = sums;
    const std::uint32_t symbols =
        decode_subsequence<Pass::runs>(tables(image), words, subsequence.end(), entry, record, sums);
    if (std::memcmp(&plain, &record, sizeof record) != 0 || std::memcmp(&plain_sums, &sums, sizeof sums) != 0)
      throw std::logic_error("runs are not what they stand for");
    return kSubsequenceCost + symbols;
  }

  void synchronise(const DeviceImage& image, std::uint32_t tile) {
    const std::uint32_t first = tile * kTileSubsequences, end = tile_end(image, tile);
    Record* records = view_.records + image.first_subsequence;
    Sums* sums = view_.sums + image.first_subsequence;
    for (std::uint32_t i = first; i < end; ++i)
      decode(image, find_subsequence(view_, image, i), 0, records[i], sums[i]);
    for (bool again = true; again;) {
      again = false;
      const std::vector<Record> before(records + first, records + end);
      for (std::uint32_t i = first + 1; i < end; ++i) {
        const Subsequence subsequence = find_subsequence(view_, image, i);
        const PackedState entry = before[i - 1 - first].exit;
        if (subsequence.starts_segment || entry == records[i].entry) continue;
        decode(image, subsequence, entry, records[i], sums[i]);
        again = true;
      }
    }
    Sums sum{};
    bool starts = false;
    for (std::uint32_t i = first; i < end; ++i) {
      const bool start = find_subsequence(view_, image, i).starts_segment;
      if (start) sum = {};
      starts = starts || start;
      add(sum, sums[i]);
    }
    view_.tile_sums[image.first_tile + tile] = sum;
    view_.tile_exits[image.first_tile + tile] = {records[end - 1].exit, starts ? 1U : 0U};
  }

  std::uint32_t decode_again(const DeviceImage& image, std::uint32_t from, PackedState state,
                             std::uint32_t end, std::uint32_t budget) {
    for (std::uint32_t i = from; i < end && budget > 0; ++i) {
      const Subsequence subsequence = find_subsequence(view_, image, i);
      if (!is_out_of_step(view_, image, i, subsequence, state)) break;
      Record record;
      Sums sums;
      budget -= std::min(budget, decode(image, subsequence, state, record, sums));
      replace(view_, image, i, record, sums);
      state = record.exit;
    }
    return budget;
  }

  void bridge(const DeviceImage& image) {
    for (std::uint32_t tile = 1; tile < image.tiles; ++tile) {
      const PackedState state = view_.tile_exits[image.first_tile + tile - 1].exit;
      decode_again(image, tile * kTileSubsequences, state, tile_end(image, tile), kRepairBudget);
    }
  }

  bool repair(const DeviceImage& image) {
    std::uint32_t left = kRepairBudget;
    for (std::uint32_t tile = 1; tile < image.tiles; ++tile) {
      if (is_joined(view_, image, tile)) continue;
      const std::uint32_t first = tile * kTileSubsequences;
      const PackedState state = view_.records[image.first_subsequence + first - 1].exit;
      left = decode_again(image, first, state, image.subsequences, left);
      if (left == 0) return false;
    }
    return true;
  }

  void sum_tiles(const DeviceImage& image) {
    Sums carry{};
    for (std::uint32_t tile = 0; tile < image.tiles; ++tile) {
      view_.tile_bases[image.first_tile + tile] = carry;
      if (view_.tile_exits[image.first_tile + tile].has_start != 0) carry = {};
      add(carry, view_.tile_sums[image.first_tile + tile]);
      carry.blocks = std::min(carry.blocks, 1U << 30);
    }
  }

  void write(const DeviceImage& image, std::uint32_t tile) {
    Sums before = view_.tile_bases[image.first_tile + tile];
    for (std::uint32_t i = tile * kTileSubsequences; i < tile_end(image, tile); ++i) {
      const Subsequence subsequence = find_subsequence(view_, image, i);
      if (subsequence.starts_segment) before = {};
      if (!write_subsequence(image, i, subsequence, before)) view_.verdicts[image.number] = 1;
      add(before, view_.sums[image.first_subsequence + i]);
    }
  }

  bool write_subsequence(const DeviceImage& image, std::uint32_t i, const Subsequence& subsequence,
                         Sums before) {
    const Record record = view_.records[image.first_subsequence + i];
    const SubsequenceBlocks own = blocks_of_subsequence(image, subsequence, before.blocks,
                                                        view_.sums[image.first_subsequence + i].blocks);
    std::uint32_t block = record.first_block;
    BitWindow<Words> window(Words{subsequence.words}, own.count > 0 ? record.first_bit : 0);
    for (std::uint32_t b = 0; b < own.count; ++b) {
      const std::uint32_t kind = image.kinds[block];
      std::int16_t* const out = image.coefficients + std::size_t{own.first + b} * kBlockSamples;
      std::fill_n(out, kBlockSamples, std::int16_t{0});
      const auto store = [out](std::uint32_t position, std::int32_t value) {
        if (position < kBlockSamples) out[kZigzag[position]] = static_cast<std::int16_t>(value);
      };
      if (window.bit() >= kSubsequenceBits ||
          !decode_block(kind, tables(image), window, before.dc[component_of(kind)], store) ||
          window.bit() > subsequence.bits_left)
        return false;
      block = block + 1 == image.blocks_in_mcu ? 0 : block + 1;
    }
    return ends_consistently(view_, image, i, subsequence, own, window.bit(), block);
  }

  GroupView view_;
};

constexpr std::int16_t kUnwritten = 0x5A5A;

struct AlignedBytes {
  explicit AlignedBytes(std::size_t size) : vectors(size / sizeof(Vector) + 1) {
    std::fill_n(data(), vectors.size() * sizeof(Vector), std::byte{0x5A});
  }
  struct alignas(256) Vector {
    std::byte bytes[256];
  };
  std::byte* data() { return vectors.data()->bytes; }
  std::vector<Vector> vectors;
};

}  // namespace

GroupResult decode_emulated(std::span<const GroupImage> images) {
  std::vector<EntropyTask> tasks;
  std::vector<AlignedBytes> streams;
  GroupResult result;
  for (const GroupImage& image : images) {
    const std::size_t blocks =
        static_cast<std::size_t>(image.jpeg->scan.mcus() * image.jpeg->scan.blocks_in_mcu);
    result.emplace_back(blocks * kBlockSamples, kUnwritten);
    streams.emplace_back(image.staged->bytes.size() + kLookaheadWords * sizeof(std::uint32_t));
    std::ranges::copy(image.staged->bytes, streams.back().data());
    tasks.push_back({&image.jpeg->scan, &image.jpeg->tables, &image.staged->scan, streams.back().data(),
                     result.back().data()});
  }
  const EntropyDecoding decoding(tasks);
  AlignedBytes memory(decoding.memory().bytes);
  decoding.write_upload(memory.data());
  Emulation(decoding.view(memory.data())).run();
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!decoding.is_intact(i, memory.data() + decoding.memory().results_offset)) result[i].clear();
  }
  return result;
}

// ---- cases --------------------------------------------------------------------------------------------

std::string compare_with_host(std::span<const std::vector<std::byte>> files, GroupDecoder decoder,
                              Verdicts& verdicts) {
  std::vector<std::unique_ptr<OpenJpeg>> jpegs;
  std::vector<std::optional<StagedJpeg>> scans(files.size());
  std::vector<GroupImage> images;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < files.size(); ++i) {
    jpegs.push_back(open_jpeg_scan(files[i]));
    if (!jpegs[i]) continue;
    scans[i] = staged(*jpegs[i]);
    const std::optional<HostCoefficients> expected = host_coefficients(*jpegs[i]);
    if (!scans[i]) {
      if (expected) return "file " + std::to_string(i) + ": in order, but not staged";
      ++verdicts.damaged;
      continue;
    }
    if (expected && expected->after_end != scans[i]->scan.after_end)
      return "file " + std::to_string(i) + ": another end";
    numbers.push_back(i);
    images.push_back({jpegs[i].get(), &*scans[i]});
  }
  const GroupResult got = decoder(images);
  for (std::size_t k = 0; k < images.size(); ++k) {
    const std::string what = "file " + std::to_string(numbers[k]);
    const std::optional<HostCoefficients> expected = host_coefficients(*images[k].jpeg);
    ++(!expected ? verdicts.damaged : got[k].empty() ? verdicts.left : verdicts.is_intact);
    if (got[k].empty()) continue;
    if (!expected) return what + ": damaged, and taken";
    const auto at = std::ranges::mismatch(got[k], expected->values);
    if (at.in1 != got[k].end())
      return what + ": coefficient " + std::to_string(at.in1 - got[k].begin()) + " is " +
             std::to_string(*at.in1) + ", not " + std::to_string(*at.in2);
  }
  return "";
}

}  // namespace imgpipe::test
