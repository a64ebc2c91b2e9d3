// The nodes of a plan in chains, and the bands of rows that a chain is cut into.
//
//   gray,hist,contrast,smooth of an RGB file
//
//     reader -> gray -> hist -> grey image -> contrast -> smooth -> writer
//
// A chain ends where the next node needs a whole image before it: contrast needs the histogram of what is
// still being decoded. A band goes from the first node of a chain to the last one on one thread. Which rows a
// node makes for a band follows from the rows that the nodes after it need of it:
//
//   band of the chain's last frame        first ............ end
//   smooth needs of contrast           first-2 ............ end+2
//   resize to half the height needs    2 first-4 ...... 2 end+4
//
// Where each row needs all of them (rotate) the chain before it makes the whole image. So it does where the
// next node reads another frame than the last one has left: where the graph branches. Rows that no band
// needs (crop) are read in pieces between the bands, and dropped: a file is judged whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/codec.h"
#include "pipeline/graph.h"

namespace imgpipe {

// Nodes first..end-1, and before them, from `tables` on, those that make tables for its first node.
struct Chain {
  std::size_t tables = 0, first = 0, end = 0;
  bool decodes = false;  // the first: it makes the decoded image
  bool last = false;     // a writer takes its bands, if there is one
  // Its first node needs all rows at once. On a device such a node is a chain of its own, and the host's: the
  // rows are there, in its memory, and a device could not hold them.
  bool of_all_rows = false;
};

// How much a chain does. `longest`: all that can be done band by band, the first of them fed by the reader.
// Those after decoding have an empty chain first, that decodes into a whole image. On a device a node that
// needs all rows is a chain of its own.
enum class ChainLength { longest, longest_on_device, longest_on_device_after_decoding, step };

// The plan's nodes and values, in chains.
struct ChainedPlan {
  ChainedPlan(const Plan& plan, bool streamed, const Keep& keep, ChainLength length);
  // `longest` if it is streamed, else `step`.
  ChainedPlan(const Plan& plan, bool streamed, const Keep& keep);

  const Plan& plan;
  bool streamed;  // nothing is kept but the file: a writer takes the bands of the last chain
  Program program;
  std::vector<Chain> chains;

  [[nodiscard]] std::span<const Node> nodes_of(const Chain& chain) const {
    return std::span(program.nodes).subspan(chain.first, chain.end - chain.first);
  }
  [[nodiscard]] std::span<const Node> tables_of(const Chain& chain) const {
    return std::span(program.nodes).subspan(chain.tables, chain.first - chain.tables);
  }
  // The time of a chain's last node; of the last one that is streamed, when the writer has read.
  [[nodiscard]] std::size_t end_time(const Chain& chain) const;
  [[nodiscard]] bool made_in(ValueId value, const Chain& chain) const;
  // Whether a value that is made in this chain must be there as a whole image: something after it reads it.
  [[nodiscard]] bool is_whole(ValueId value, const Chain& chain) const;
};

// A chain's bands.
class BandPlan {
 public:
  // `writer` takes the rows of a chain that ends the plan, if it is given.
  BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer, int threads);
  // Bands of so many rows, or somewhat fewer: in whole strips of the writer, where one is not higher.
  [[nodiscard]] static BandPlan of_rows(const ChainedPlan& plan, const Chain& chain, const Writer* writer,
                                        std::int64_t rows);

  [[nodiscard]] std::int64_t bands() const { return (height_ + rows_ - 1) / rows_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  // The next rows of the image that are read for no band, where those before `read` are there, before band i
  // or, with i = bands(), behind the last: 0 where there are none, or so few that the band reads them too.
  [[nodiscard]] std::int64_t skipped_before(std::int64_t i, std::int64_t read) const;
  // Up to which row band i reads, which needs these; no less than up to `read`.
  [[nodiscard]] std::int64_t read_end(std::int64_t i, const RowRange& needed, std::int64_t read) const;
  // Bands, and pieces of rows that are read for none of them.
  [[nodiscard]] std::int64_t pieces() const { return bands() + skips_; }
  // Of the chain's last frame, which is cut into bands.
  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] bool to_writer() const { return to_writer_; }
  // Bands are whole strips of the writer, of so many rows; all but the last.
  [[nodiscard]] bool strips() const { return strip_rows_ > 0; }
  [[nodiscard]] std::int64_t strip_rows() const { return strip_rows_; }
  // Bytes of the widest of the chain's frames, for each row of the last.
  [[nodiscard]] std::int64_t row_bytes() const { return row_bytes_; }
  // The rows of the chain's last frame that band i is.
  [[nodiscard]] RowRange band(std::int64_t i) const;
  // The part of a frame of so many rows that is this band's alone: bands share a frame out among them.
  [[nodiscard]] RowRange own(const RowRange& band, std::int64_t frame_rows) const {
    return {band.first * frame_rows / height_, band.end * frame_rows / height_};
  }
  // The bytes that a node moves for a band; those of all bands add up to what it moves for the image.
  [[nodiscard]] std::int64_t bytes_moved(const Node& node, const RowRange& band) const;
  // By value: the rows of it that a band makes or reads. Empty for what the chain does not touch.
  [[nodiscard]] std::vector<RowRange> rows_of(const RowRange& band) const;
  // Memory of a band: planes of one shape, as high as the most rows that any band holds of any value.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  // Where a band holds its rows of a value; none where it makes them in a whole image, or not at all. The
  // decoded image has a place of its own, with the rows between this band's and the last one's.
  [[nodiscard]] std::optional<std::size_t> place_of(ValueId value) const { return place_of_[value]; }
  // Whether a band writes its rows of a value straight into the whole image.
  [[nodiscard]] bool in_place(ValueId value, const RowRange& rows, const RowRange& band) const;
  // The most rows that are read of the decoded image at a time: all that a band needs of it, or a piece.
  [[nodiscard]] std::int64_t rows_read() const { return rows_read_; }
  // Bytes that one band holds.
  [[nodiscard]] std::int64_t band_bytes() const;

 private:
  BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer);
  [[nodiscard]] std::int64_t next_chunk_follows(std::int64_t read, std::int64_t until) const;
  [[nodiscard]] std::int64_t writers_strip_rows(const Writer* writer) const;
  [[nodiscard]] std::vector<std::int64_t> max_rows_held();
  void find_places();

  const ChainedPlan& plan_;
  const Chain chain_;
  bool to_writer_ = false;
  std::int64_t height_ = 1, rows_ = 1;
  std::int64_t tallest_ = 1, row_bytes_ = 1;
  std::int64_t strip_rows_ = 0;
  std::int64_t rows_read_ = 0;
  std::int64_t skip_rows_ = 1;  // of a piece that is read for no band
  std::int64_t skips_ = 0;
  std::vector<Place> places_;
  std::vector<std::optional<std::size_t>> place_of_;  // by value
};

}  // namespace imgpipe
