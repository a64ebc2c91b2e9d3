// Cuts a scan into chunks that are decoded independently, and joins them as if decoded sequentially.
//
//   scan      |--------chunk 0--------|--------chunk 1--------|--------chunk 2--------|
//   decoded   truth ................  |  guess ~~~~ in step ..|  guess ~~ in step .....|
//   joined    ........................ on ->|.................. on ->|................
//
// A decoder that begins anywhere falls into step with the true one, mostly within some hundred bytes
// (Weissenberger, Schmidt: Massively parallel Huffman decoding on GPUs, ICPP 2018; for JPEG: arXiv
// 2111.09219). From the true end of one chunk, decoding continues into the next until both decoders are at
// the same bit and at the same block of an MCU. From there on the guess is true, except for the DC
// coefficients: they are sums, and the difference is added to them. A chunk that never falls into step is
// decoded again. After a restart marker there is nothing to guess (ITU-T T.81, E.1.4).
//
// The scan must follow the standard: every code, the numbers of restart markers, fewer than 8 bits before a
// marker. Otherwise no further blocks are joined.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/jpeg/entropy_decoder.h"
#include "images/codecs/jpeg/reconstruct.h"

namespace imgpipe {

inline constexpr int kRestartNumbers = 8;

// Chunks of this size lose little to guessing; tests use smaller ones.
inline constexpr std::size_t kScanChunkBytes = std::size_t{1} << 16;

enum class ScanChunkStart { truth, restart, guess };
// How a chunk ends: the next chunk follows directly, or after a restart marker; or the scan ends.
enum class ScanChunkEnd { next_chunk_follows, restart_marker, end };

struct ScanChunkRange {
  std::size_t begin = 0, end = 0;  // offsets in the scan's data
  ScanChunkStart start = ScanChunkStart::guess;
};

struct Restart {
  std::int64_t bit = 0;  // where the codes after the marker begin
  int number = 0;
};

struct ScanChunk {
  ScanChunkRange range;
  RawBuffer<std::uint8_t> bytes;   // without stuffing and markers; then the start of the next chunk's
  std::int64_t end_bit = 0;        // end of the chunk
  std::int64_t known_end_bit = 0;  // end of `bytes`
  std::vector<Restart> restarts;   // inside the chunk
  ScanChunkEnd ends_in = ScanChunkEnd::next_chunk_follows;
  int marker = 0;                // a restart marker's number, another marker's second byte; 0: none
  std::size_t after_marker = 0;  // offset in the scan's data

  BlockList list;
  std::vector<std::uint32_t> starts;      // of a guess: bit offsets of its first blocks
  EntropyState end;                       // state after the last block
  std::int64_t blocks_after_restart = 0;  // blocks in the list after the last of `restarts`
  bool damaged = false;                   // invalid data after the last block
};

// Consecutive blocks that are known to be blocks of the scan.
struct ConfirmedBlocks {
  std::int64_t first = 0;  // index in the scan
  std::shared_ptr<const BlockList> list;
  std::size_t from = 0, count = 0;  // range in the list
  std::array<std::int32_t, 3> dc_base{};

  [[nodiscard]] std::int64_t end() const { return first + static_cast<std::int64_t>(count); }
  // Returns the `blocks` blocks of the scan from number `number` on. `position` is the first block's index in
  // its MCU row.
  [[nodiscard]] BlockRun run(std::int64_t number, std::int64_t blocks, std::int64_t position) const;
};

// The state of the true decoder.
struct ConfirmedState {
  EntropyState entropy;
  std::int64_t blocks = 0;              // blocks before it
  std::int64_t blocks_in_interval = 0;  // since the last restart
  int next_restart = 0;                 // the number of the next restart marker
};

class ScanChunks {
 public:
  // `scan` and `tables` must outlive this object.
  ScanChunks(const BaselineScan& scan, const EntropyTables& tables, std::size_t scan_chunk_bytes);

  // ---- one thread at a time; next() also during join() ---------------------------------------------------
  // Returns the next chunk to decode; nullopt after the last one.
  [[nodiscard]] std::optional<ScanChunkRange> next();
  // Appends the blocks of a decoded chunk to `out`; call it in the order of next(). False: the scan is
  // irregular, and nothing more can be joined.
  [[nodiscard]] bool join(const std::shared_ptr<ScanChunk>& chunk, std::vector<ConfirmedBlocks>& out);
  // The state at the beginning of the next chunk to join.
  [[nodiscard]] const ConfirmedState& truth() const { return truth_; }
  // Whether all blocks are known and the end marker follows them.
  [[nodiscard]] bool is_complete() const { return complete_; }
  // Offset in the scan's data just past the end marker. Requires is_complete().
  [[nodiscard]] std::size_t after_end() const { return after_end_; }

  // ---- any thread, concurrently ---------------------------------------------------------------------------

  // `truth`: the state at the beginning, for ScanChunkStart::truth. Throws std::bad_alloc, as join() does.
  [[nodiscard]] std::shared_ptr<ScanChunk> decode(const ScanChunkRange& range,
                                                  const ConfirmedState& truth) const;

  [[nodiscard]] std::int64_t max_scan_chunk_bytes() const;

 private:
  [[nodiscard]] std::size_t next_chunk_start(std::size_t at, bool& restart) const;
  void unstuff(ScanChunk& chunk) const;
  struct ListSizes {
    std::size_t blocks = 0, coefficients = 0;
  };
  [[nodiscard]] ListSizes max_sizes(std::size_t bytes) const;
  [[nodiscard]] ListSizes first_sizes(std::size_t bytes) const;
  void note_density(const ScanChunk& chunk) const;
  void guess(ScanChunk& chunk) const;
  void reserve(BlockList& list, std::size_t bytes) const;
  void decode_codes(ScanChunk& chunk, EntropyState state, std::int64_t interval_left) const;
  [[nodiscard]] bool decode_up_to(ScanChunk& chunk, std::int64_t bit, std::int64_t blocks,
                                  EntropyState& state) const;
  [[nodiscard]] bool find_join(const ScanChunk& chunk, std::int64_t most, BlockList& bridge,
                               std::size_t& from);
  [[nodiscard]] bool adopt(const std::shared_ptr<ScanChunk>& chunk, std::size_t from,
                           std::vector<ConfirmedBlocks>& out);
  [[nodiscard]] bool finish(const ScanChunk& chunk, std::vector<ConfirmedBlocks>& out);
  void add(BlockList list, std::vector<ConfirmedBlocks>& out);
  [[nodiscard]] std::int64_t left_in_interval() const;
  [[nodiscard]] std::int64_t interval_blocks() const { return scan_.restart_interval * scan_.blocks_in_mcu; }
  [[nodiscard]] std::int64_t all_blocks() const { return scan_.mcus() * scan_.blocks_in_mcu; }

  const BaselineScan& scan_;
  const EntropyTables& tables_;
  const std::size_t scan_chunk_bytes_;
  // The most blocks and coefficients per kDensityBytes so far, at first a photograph's.
  static constexpr std::size_t kDensityBytes = 1024;
  mutable std::atomic<std::uint32_t> block_density_{256}, coefficient_density_{1200};
  std::size_t next_begin_ = 0;
  bool next_is_restart_ = true;       // the scan's beginning counts as one
  std::atomic<bool> no_more_{false};  // set while others call next()
  ConfirmedState truth_;
  bool complete_ = false;
  std::size_t after_end_ = 0;
};

}  // namespace imgpipe
