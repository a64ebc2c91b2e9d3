// A scan cut into pieces that are decoded by themselves, and joined to what decoding from its beginning
// gives.
//
//   scan      |--------piece 0--------|--------piece 1--------|--------piece 2--------|
//   decoded   truth ................  |  guess ~~~~ in step ..|  guess ~~ in step .....|
//   joined    ........................ on ->|.................. on ->|................
//
// A decoder that begins anywhere falls into step with the true one by itself, mostly within some hundred
// bytes (Weissenberger, Schmidt: Massively parallel Huffman decoding on GPUs, ICPP 2018; for JPEG: arXiv
// 2111.09219). From the true end of one piece decoding goes on into the next until both stand at the same
// block of an MCU at the same bit; from there on the guess is the truth, but for the DC coefficients, which
// are sums, and get the difference. A piece in which that does not happen is decoded again. Behind a restart
// marker there is nothing to guess (ITU-T T.81, E.1.4).
//
// Everything must be as the standard has it: every code, the numbers of the restart markers, fewer than 8
// bits before each marker. Else there is no further block.
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

// Pieces of so many bytes lose little to guessing; smaller ones are for tests.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

enum class PieceStart { truth, restart, guess };
// What stands behind a piece: the next one, a restart marker (and the next one), or the end of the scan,
// which is another marker or that of the data.
enum class PieceEnd { next_piece, restart_marker, end };

struct PieceRange {
  std::size_t begin = 0, end = 0;  // of the scan's data
  PieceStart start = PieceStart::guess;
};

struct Restart {
  std::int64_t bit = 0;  // where the codes behind it begin
  int number = 0;
};

struct Piece {
  PieceRange range;
  RawBuffer<std::uint8_t> bytes;   // without stuffing and markers; with some of the next piece's
  std::int64_t end_bit = 0;        // of the piece
  std::int64_t known_end_bit = 0;  // of the bytes that are there
  std::vector<Restart> restarts;   // inside
  PieceEnd ends_in = PieceEnd::next_piece;
  int marker = 0;                 // a restart marker's number, another marker's second byte; 0: none
  std::size_t behind_marker = 0;  // of the scan's data

  BlockList list;
  std::vector<std::uint32_t> starts;       // of a guess: where its first blocks begin
  EntropyState end;                        // behind the last block
  std::int64_t blocks_behind_restart = 0;  // in the list, behind the last of `restarts`
  bool damaged = false;                    // behind the last block
};

// Blocks that are known to be the scan's, in order.
struct TrueBlocks {
  std::int64_t first = 0;  // of the scan
  std::shared_ptr<const BlockList> list;
  std::size_t from = 0, count = 0;  // of the list
  std::array<std::int32_t, 3> dc_base{};

  [[nodiscard]] std::int64_t end() const { return first + static_cast<std::int64_t>(count); }
  // `count` blocks from that number of the scan on; `place`: where they lie in their row of MCUs.
  [[nodiscard]] BlockRun run(std::int64_t number, std::int64_t blocks, std::int64_t place) const;
};

// Where the true decoder stands.
struct TrueState {
  EntropyState entropy;
  std::int64_t blocks = 0;              // before it
  std::int64_t blocks_in_interval = 0;  // since the last restart
  int next_restart = 0;                 // the number of the next restart marker
};

class ScanPieces {
 public:
  // `scan` and `tables` stay where they are.
  ScanPieces(const BaselineScan& scan, const EntropyTables& tables, std::size_t piece_bytes);

  // ---- one at a time; next() also while join() is at work
  // The next piece to be decoded; none behind the last one.
  [[nodiscard]] std::optional<PieceRange> next();
  // Every piece is joined in the order of next(), once it is decoded. What it adds goes to `out`. False: the
  // scan is not in order, and nothing can be joined any more.
  [[nodiscard]] bool join(const std::shared_ptr<Piece>& piece, std::vector<TrueBlocks>& out);
  // Where the next piece to join begins, if it has not been decoded yet.
  [[nodiscard]] const TrueState& truth() const { return truth_; }
  // All blocks are there and the image ends behind them.
  [[nodiscard]] bool is_complete() const { return complete_; }
  // What stands behind the end of the image, of the scan's data. With is_complete().
  [[nodiscard]] std::size_t behind_end() const { return behind_end_; }

  // ---- on any thread, at the same time ------------------------------------------------------------------

  // `truth`: the state at its beginning, for PieceStart::truth. Throws std::bad_alloc, as join() does.
  [[nodiscard]] std::shared_ptr<Piece> decode(const PieceRange& range, const TrueState& truth) const;

  // The most bytes that a piece holds.
  [[nodiscard]] std::int64_t most_piece_bytes() const;

 private:
  [[nodiscard]] std::size_t start_behind(std::size_t at, bool& restart) const;
  void unstuff(Piece& piece) const;
  struct ListSizes {
    std::size_t blocks = 0, coefficients = 0;
  };
  [[nodiscard]] ListSizes most_sizes(std::size_t bytes) const;
  [[nodiscard]] ListSizes first_sizes(std::size_t bytes) const;
  void note_density(const Piece& piece) const;
  void guess(Piece& piece) const;
  void reserve(BlockList& list, std::size_t bytes) const;
  void decode_codes(Piece& piece, EntropyState state, std::int64_t interval_left) const;
  [[nodiscard]] bool decode_up_to(Piece& piece, std::int64_t bit, std::int64_t blocks,
                                  EntropyState& state) const;
  [[nodiscard]] bool find_join(const Piece& piece, std::int64_t most, BlockList& bridge, std::size_t& from);
  [[nodiscard]] bool adopt(const std::shared_ptr<Piece>& piece, std::size_t from,
                           std::vector<TrueBlocks>& out);
  [[nodiscard]] bool finish(const Piece& piece, std::vector<TrueBlocks>& out);
  void add(BlockList list, std::vector<TrueBlocks>& out);
  [[nodiscard]] std::int64_t left_in_interval() const;
  [[nodiscard]] std::int64_t interval_blocks() const { return scan_.restart_interval * scan_.blocks_in_mcu; }
  [[nodiscard]] std::int64_t all_blocks() const { return scan_.mcus() * scan_.blocks_in_mcu; }

  const BaselineScan& scan_;
  const EntropyTables& tables_;
  const std::size_t piece_bytes_;
  // The most blocks and coefficients that so many bytes of a piece had; at first as photographs have them.
  static constexpr std::size_t kDensityBytes = 1024;
  mutable std::atomic<std::uint32_t> block_density_{256}, coefficient_density_{1200};
  std::size_t next_begin_ = 0;
  bool next_is_restart_ = true;       // the scan's beginning is as good as one
  std::atomic<bool> no_more_{false};  // is found while others call next()
  TrueState truth_;
  bool complete_ = false;
  std::size_t behind_end_ = 0;
};

}  // namespace imgpipe
