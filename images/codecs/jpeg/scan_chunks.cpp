#include "images/codecs/jpeg/scan_chunks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "images/codecs/jpeg/jpeg_segments.h"

namespace imgpipe {
namespace {

constexpr std::size_t kTracedBlocks = 4096;

// Returns the DC coefficients before block `from` of a list that began with zeros.
std::array<std::int32_t, 3> dc_before(const EntropyTables& tables, const BlockList& list, std::size_t from,
                                      int block_of_from) {
  std::array<std::int32_t, 3> dc{};
  std::array<bool, 3> found{};
  int block = block_of_from;
  for (int i = 1; i <= tables.blocks_in_mcu && from >= static_cast<std::size_t>(i); ++i) {
    block = block == 0 ? tables.blocks_in_mcu - 1 : block - 1;
    const std::size_t component = tables.component_of_block[static_cast<std::size_t>(block)];
    if (!found[component]) dc[component] = list.blocks[from - static_cast<std::size_t>(i)].dc;
    found[component] = true;
  }
  return dc;
}

// Wraps: in damaged files only the lower bits are used.
std::int32_t plus(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
std::int32_t minus(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}

}  // namespace

BlockRun ConfirmedBlocks::run(std::int64_t number, std::int64_t blocks, std::int64_t position) const {
  const std::size_t at = from + static_cast<std::size_t>(number - first);
  return {.first = position,
          .blocks = {list->blocks.data() + at, static_cast<std::size_t>(blocks)},
          .coefficients = list->coefficients.data(),
          .begin = at == 0 ? 0 : list->blocks[at - 1].end,
          .dc_base = dc_base};
}

ScanChunks::ScanChunks(const BaselineScan& scan, const EntropyTables& tables, std::size_t scan_chunk_bytes)
    : scan_(scan), tables_(tables), scan_chunk_bytes_(scan_chunk_bytes) {}

// ---- decoding ---------------------------------------------------------------------------------------------

std::shared_ptr<ScanChunk> ScanChunks::decode(const ScanChunkRange& range,
                                              const ConfirmedState& truth) const {
  auto chunk = std::make_shared<ScanChunk>();
  chunk->range = range;
  unstuff(*chunk);
  reserve(chunk->list, range.end - range.begin);
  const std::int64_t all = all_blocks();
  const std::int64_t interval = scan_.restart_interval > 0 ? interval_blocks() : all;
  switch (range.start) {
    case ScanChunkStart::truth: {
      // A negative bit: all blocks are decoded, with padding bits left in the previous chunk.
      const std::int64_t left = truth.entropy.bit < 0 ? 0 : all - truth.blocks;
      const std::int64_t in_interval =
          scan_.restart_interval > 0 ? interval - truth.blocks_in_interval : left;
      decode_codes(*chunk, truth.entropy, std::min(left, in_interval));
      break;
    }
    case ScanChunkStart::restart:
      decode_codes(*chunk, {}, interval);
      break;
    case ScanChunkStart::guess:
      guess(*chunk);
      break;
  }
  note_density(*chunk);
  return chunk;
}

// Returns capacities for a chunk as dense as the densest so far, with headroom.
ScanChunks::ListSizes ScanChunks::first_sizes(std::size_t bytes) const {
  constexpr std::size_t kLittle = 4096;
  const ListSizes most = max_sizes(bytes);
  const auto share = [bytes](std::uint32_t density) {
    return bytes * density / kDensityBytes * 9 / 8 + kLittle;
  };
  return {std::min(share(block_density_.load(std::memory_order_relaxed)), most.blocks),
          std::min(share(coefficient_density_.load(std::memory_order_relaxed)), most.coefficients)};
}

void ScanChunks::note_density(const ScanChunk& chunk) const {
  const std::size_t bytes = std::max<std::size_t>(chunk.bytes.size(), kDensityBytes);
  const auto note = [bytes](std::atomic<std::uint32_t>& most, std::size_t count) {
    const auto density = static_cast<std::uint32_t>(count * kDensityBytes / bytes);
    std::uint32_t known = most.load(std::memory_order_relaxed);
    while (known < density && !most.compare_exchange_weak(known, density, std::memory_order_relaxed)) {
    }
  };
  note(block_density_, chunk.list.blocks.size());
  note(coefficient_density_, chunk.list.coefficients.size());
}

void ScanChunks::reserve(BlockList& list, std::size_t bytes) const {
  const ListSizes first = first_sizes(bytes);
  const ListSizes most = max_sizes(bytes);
  list.max_spare_blocks = most.blocks;
  list.max_spare_coefficients = most.coefficients;
  list.blocks.reserve(first.blocks, most.blocks);
  list.coefficients.reserve(first.coefficients, most.coefficients);
}

// Before it is in step, a guess may meet an invalid code; the next guess then begins after it.
void ScanChunks::guess(ScanChunk& chunk) const {
  constexpr int kGuesses = 16;
  constexpr std::int64_t kLastGuess =
      std::int64_t{8} * 4096;  // bits; photographs are in step within 3,200 bytes
  chunk.starts.resize(kTracedBlocks);
  EntropyState state;
  for (int i = 0; i < kGuesses && state.bit < kLastGuess; ++i) {
    chunk.list.blocks.clear();
    chunk.list.coefficients.clear();
    chunk.damaged = false;
    decode_codes(chunk, state, all_blocks() + static_cast<std::int64_t>(kTracedBlocks));
    if (!chunk.damaged) break;
    state = {.bit = (chunk.end.bit / 8 + 2) * 8};
  }
  chunk.starts.resize(std::min(chunk.starts.size(), chunk.list.blocks.size()));
}

// Decodes from `state` to the chunk's end. Before a final marker, the number of remaining blocks is unknown
// here: decodes whole MCUs until fewer than 8 bits remain, and finish() decodes the rest.
void ScanChunks::decode_codes(ScanChunk& chunk, EntropyState state, std::int64_t interval_left) const {
  std::size_t blocks_at_restart = 0;
  int last_number = -1;
  for (const Restart& restart : chunk.restarts) {
    const bool is_intact =
        decode_up_to(chunk, restart.bit, interval_left, state) &&
        chunk.list.blocks.size() - blocks_at_restart == static_cast<std::size_t>(interval_left) &&
        state.block == 0 && state.bit <= restart.bit && restart.bit - state.bit < 8 &&
        (last_number < 0 || restart.number == (last_number + 1) % kRestartNumbers);
    if (!is_intact) {
      chunk.damaged = true;
      chunk.end = state;
      return;
    }
    state = {.bit = restart.bit};
    interval_left = interval_blocks();
    blocks_at_restart = chunk.list.blocks.size();
    last_number = restart.number;
  }
  if (chunk.ends_in == ScanChunkEnd::next_chunk_follows) {
    chunk.damaged = !decode_up_to(chunk, chunk.end_bit, interval_left, state) || state.bit < chunk.end_bit ||
                    state.bit > chunk.known_end_bit;
  } else {
    chunk.damaged = !decode_up_to(chunk, chunk.end_bit - 7, interval_left, state);
    while (!chunk.damaged && state.block != 0 && state.bit < chunk.end_bit)
      chunk.damaged = !decode_up_to(chunk, chunk.end_bit, 1, state);
    chunk.damaged = chunk.damaged || state.bit > chunk.end_bit;
  }
  chunk.blocks_after_restart = static_cast<std::int64_t>(chunk.list.blocks.size() - blocks_at_restart);
  chunk.end = state;
}

bool ScanChunks::decode_up_to(ScanChunk& chunk, std::int64_t bit, std::int64_t blocks,
                              EntropyState& state) const {
  const std::size_t traced = std::min(chunk.list.blocks.size(), chunk.starts.size());
  return decode_blocks(tables_, chunk.bytes.data(), {blocks, bit}, state, chunk.list,
                       std::span(chunk.starts).subspan(traced)) == EntropyEnd::limit;
}

// ---- joining ----------------------------------------------------------------------------------------------

std::int64_t ScanChunks::left_in_interval() const {
  const std::int64_t left = all_blocks() - truth_.blocks;
  return scan_.restart_interval == 0 ? left : std::min(left, interval_blocks() - truth_.blocks_in_interval);
}

void ScanChunks::add(BlockList list, std::vector<ConfirmedBlocks>& out) {
  const std::size_t count = list.blocks.size();
  if (count == 0) return;
  out.push_back({.first = truth_.blocks,
                 .list = std::make_shared<const BlockList>(std::move(list)),
                 .from = 0,
                 .count = count,
                 .dc_base = {}});
  truth_.blocks += static_cast<std::int64_t>(count);
  truth_.blocks_in_interval += static_cast<std::int64_t>(count);
}

// Decodes from the true state on until it is in step with the guess; `from` is then the guess's next block.
// Otherwise decodes up to the chunk's end; `from` is then past its blocks. Returns false for damaged data.
bool ScanChunks::find_join(const ScanChunk& chunk, std::int64_t most, BlockList& bridge, std::size_t& from) {
  EntropyState& state = truth_.entropy;
  from = 0;
  const std::size_t traced = chunk.starts.size();
  for (;;) {
    while (from < traced && static_cast<std::int64_t>(chunk.starts[from]) < state.bit) ++from;
    const bool in_step =
        from < traced && static_cast<std::int64_t>(chunk.starts[from]) == state.bit &&
        static_cast<int>(from % static_cast<std::size_t>(tables_.blocks_in_mcu)) == state.block;
    if (in_step) return true;
    const bool lost = from >= traced;
    if (lost) from = chunk.list.blocks.size();
    const std::int64_t left = most - static_cast<std::int64_t>(bridge.blocks.size());
    if (left == 0 || state.bit >= chunk.end_bit) {
      from = chunk.list.blocks.size();
      return true;
    }
    const EntropyEnd end =
        decode_blocks(tables_, chunk.bytes.data(), {lost ? left : 1, chunk.end_bit}, state, bridge, {});
    if (end == EntropyEnd::damaged || state.bit > chunk.known_end_bit) return false;
  }
}

// Accepts the chunk's blocks from `from` on. Returns false if the scan is irregular.
bool ScanChunks::adopt(const std::shared_ptr<ScanChunk>& chunk, std::size_t from,
                       std::vector<ConfirmedBlocks>& out) {
  const std::size_t count = chunk->list.blocks.size() - from;
  if (count == 0 && chunk->range.start == ScanChunkStart::guess) return true;
  ConfirmedBlocks blocks{.first = truth_.blocks, .list = {}, .from = from, .count = count, .dc_base = {}};
  if (chunk->range.start == ScanChunkStart::guess) {
    const std::array<std::int32_t, 3> before = dc_before(tables_, chunk->list, from, truth_.entropy.block);
    for (std::size_t c = 0; c < before.size(); ++c)
      blocks.dc_base[c] = minus(truth_.entropy.dc[c], before[c]);
  }
  truth_.entropy = chunk->end;
  for (std::size_t c = 0; c < 3; ++c)
    truth_.entropy.dc[c] = plus(chunk->end.dc[c], chunk->restarts.empty() ? blocks.dc_base[c] : 0);
  truth_.blocks += static_cast<std::int64_t>(count);
  if (chunk->restarts.empty()) {
    truth_.blocks_in_interval += static_cast<std::int64_t>(count);
  } else {
    if (chunk->restarts.front().number != truth_.next_restart) return false;
    truth_.next_restart = (chunk->restarts.back().number + 1) % kRestartNumbers;
    truth_.blocks_in_interval = chunk->blocks_after_restart;
  }
  if (chunk->damaged || left_in_interval() < 0 || !dc_sums_in_range(truth_.entropy)) return false;
  blocks.list = std::shared_ptr<const BlockList>(chunk, &chunk->list);
  if (count > 0) out.push_back(std::move(blocks));
  return true;
}

// Decodes the blocks that remain before the chunk's final marker, and checks the marker.
bool ScanChunks::finish(const ScanChunk& chunk, std::vector<ConfirmedBlocks>& out) {
  EntropyState& state = truth_.entropy;
  if (chunk.ends_in == ScanChunkEnd::next_chunk_follows) {
    const bool at_end = all_blocks() == truth_.blocks && chunk.end_bit - state.bit < 8;
    if (state.bit < chunk.end_bit && !at_end) return false;
    state.bit -= chunk.end_bit;
    return true;
  }
  if (const std::int64_t left = left_in_interval(); left > 0) {
    if (state.bit < 0) return false;
    BlockList rest;
    const EntropyEnd end = decode_blocks(tables_, chunk.bytes.data(), {left, chunk.end_bit}, state, rest, {});
    if (end == EntropyEnd::damaged || static_cast<std::int64_t>(rest.blocks.size()) < left) return false;
    add(std::move(rest), out);
  }
  if (state.bit > chunk.end_bit || chunk.end_bit - state.bit >= 8) return false;
  if (chunk.ends_in == ScanChunkEnd::end) {
    complete_ = truth_.blocks == all_blocks() && chunk.marker == static_cast<int>(kEndOfImage);
    after_end_ = chunk.after_marker;
    return complete_;
  }
  if (chunk.marker != truth_.next_restart || truth_.blocks == all_blocks()) return false;
  truth_.next_restart = (truth_.next_restart + 1) % kRestartNumbers;
  truth_.blocks_in_interval = 0;
  state = {};
  return true;
}

bool ScanChunks::join(const std::shared_ptr<ScanChunk>& chunk, std::vector<ConfirmedBlocks>& out) {
  if (complete_) return true;  // claimed before the end was known; not part of the image
  if (chunk->ends_in == ScanChunkEnd::end) no_more_ = true;
  std::size_t from = 0;
  switch (chunk->range.start) {
    case ScanChunkStart::truth:
      break;
    case ScanChunkStart::restart:
      if (truth_.entropy.bit != 0 || truth_.entropy.block != 0 || truth_.blocks_in_interval != 0)
        return false;
      break;
    case ScanChunkStart::guess: {
      BlockList bridge;
      if (truth_.entropy.bit < 0) {
        from = chunk->list.blocks.size();  // all blocks are known
      } else if (!find_join(*chunk, left_in_interval(), bridge, from)) {
        return false;
      }
      add(std::move(bridge), out);
      break;
    }
  }
  return adopt(chunk, from, out) && finish(*chunk, out);
}

// Returns upper bounds for `bytes` bytes of the scan.
ScanChunks::ListSizes ScanChunks::max_sizes(std::size_t bytes) const {
  const std::int64_t bits = 8 * (static_cast<std::int64_t>(bytes) + kMaxBlockBytes);
  const std::int64_t blocks = std::min(all_blocks() + static_cast<std::int64_t>(kTracedBlocks),
                                       (bits / tables_.min_mcu_bits + 1) * scan_.blocks_in_mcu);
  const std::int64_t coefficients = std::min(64 * blocks, bits / tables_.min_coefficient_bits);
  return {static_cast<std::size_t>(blocks + kBatchBlocks),
          static_cast<std::size_t>(coefficients + kBatchBlocks * kBlockSamples)};
}

std::int64_t ScanChunks::max_scan_chunk_bytes() const {
  // A chunk that ends after a restart marker may be twice as long.
  const std::size_t bytes =
      std::min(scan_.data.size(), scan_chunk_bytes_ * (scan_.restart_interval > 0 ? 2 : 1) + 2);
  const ListSizes most = max_sizes(bytes);
  // While a list grows, the old one, of two thirds the size, exists alongside the new one.
  const std::size_t blocks = most.blocks / 3 * 5;
  const std::size_t coefficients = most.coefficients / 3 * 5;
  return static_cast<std::int64_t>(blocks * sizeof(CoefficientBlock) + coefficients * sizeof(Coefficient) +
                                   bytes + sizeof(ScanChunk) + kTracedBlocks * sizeof(std::uint32_t)) +
         kMaxBlockBytes + kEntropyMargin;
}

}  // namespace imgpipe
