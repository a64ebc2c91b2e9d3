// Divides the nodes of a plan into chains, and the rows of a chain into bands.
//
//   gray,hist,contrast,smooth of an RGB file
//
//     reader -> gray -> hist -> grey image -> contrast -> smooth -> writer
//
// A chain ends where the next node needs a whole image: contrast needs the histogram of all rows. One thread
// runs all nodes of a chain on a band. The rows that a node computes for a band follow from the rows that the
// nodes after it need:
//
//   band of the chain's last frame        first ............ end
//   smooth needs of contrast           first-2 ............ end+2
//   resize to half the height needs    2 first-4 ...... 2 end+4
//
// If each row needs all rows of the input (rotate), the previous chain writes a whole image. The same applies
// if the next node reads a frame that the previous one did not make (several results). Rows that no band
// needs (crop) are read in chunks between the bands and dropped, because all of a file is validated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/codec.h"
#include "pipeline/graph.h"

namespace imgpipe {

// Nodes first to end - 1, preceded by the nodes `tables` to first - 1, which make tables for the first node.
struct Chain {
  std::size_t tables = 0, first = 0, end = 0;
  bool decodes = false;  // the first chain: makes the decoded image
  bool last = false;     // the writer, if any, takes its bands
  // The first node needs all rows at once. In a plan for a device such a node is a chain of its own, which
  // the host runs: the rows are in host memory, and the device could not hold them.
  bool of_all_rows = false;
};

// Where chains end. The `longest` kinds put as many nodes as can run band by band into a chain; the reader
// feeds the first chain. longest_on_device_after_decoding and `step`, with a chain per step, begin with an
// empty chain that decodes into a whole image.
enum class ChainLength { longest, longest_on_device, longest_on_device_after_decoding, step };

struct ChainedPlan {
  // `grey_rows`: the plan begins_with_gray(), which the reader performs (Reader::use_grey_rows()).
  ChainedPlan(const Plan& plan, bool streamed, const Keep& keep, ChainLength length, bool grey_rows = false);
  // Uses `longest` if streamed, else `step`.
  ChainedPlan(const Plan& plan, bool streamed, const Keep& keep);

  const Plan& plan;
  bool streamed;  // only the file is kept: a writer takes the bands of the last chain
  ChainLength length;
  bool grey_rows = false;
  Program program;
  std::vector<Chain> chains;

  [[nodiscard]] std::span<const Node> nodes_of(const Chain& chain) const {
    return std::span(program.nodes).subspan(chain.first, chain.end - chain.first);
  }
  [[nodiscard]] std::span<const Node> tables_of(const Chain& chain) const {
    return std::span(program.nodes).subspan(chain.tables, chain.first - chain.tables);
  }
  // The time of the chain's last node; for the last chain of a streamed plan, the time at which the writer
  // reads.
  [[nodiscard]] std::size_t end_time(const Chain& chain) const;
  [[nodiscard]] bool made_in(ValueId value, const Chain& chain) const;
  // Whether a value made in this chain must exist as a whole, because it is read after the chain.
  [[nodiscard]] bool is_whole(ValueId value, const Chain& chain) const;
};

// The bytes of a band's largest frame: a quarter of the L2 cache, within bounds, so that each stage finds the
// output of the previous one in the cache. `l2_bytes`: 0 if unknown.
[[nodiscard]] std::int64_t band_bytes_for_cache(std::int64_t l2_bytes);
// The bytes for this machine. Pixels and files do not depend on them; memory needs do.
[[nodiscard]] std::int64_t frame_band_bytes();
// Replaces the bytes for this machine; 0 restores them. For tests with recorded memory needs.
void use_band_bytes(std::int64_t bytes);

class BandPlan {
 public:
  // `writer`, which may be null, takes the rows of the last chain.
  BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer, int threads);
  // Makes bands of at most `rows` rows: whole strips of the writer, unless a strip has more rows.
  [[nodiscard]] static BandPlan of_rows(const ChainedPlan& plan, const Chain& chain, const Writer* writer,
                                        std::int64_t rows);

  [[nodiscard]] std::int64_t bands() const { return (height_ + rows_ - 1) / rows_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  // Returns the number of rows, starting with row `read`, to read and drop before band i, or after the last
  // band if i = bands(). At most one chunk; 0 if there are none, or so few that the band reads them too.
  [[nodiscard]] std::int64_t skipped_before(std::int64_t i, std::int64_t read) const;
  // Returns the row before which band i, which needs the rows `needed`, stops reading; at least `read`.
  [[nodiscard]] std::int64_t read_end(std::int64_t i, const RowRange& needed, std::int64_t read) const;
  // The number of bands, plus the number of chunks that no band needs.
  [[nodiscard]] std::int64_t pieces() const { return bands() + skips_; }
  // The height of the chain's last frame, which is divided into bands.
  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] bool to_writer() const { return to_writer_; }
  // Whether all bands except the last are whole strips of the writer, of strip_rows() rows.
  [[nodiscard]] bool strips() const { return strip_rows_ > 0; }
  [[nodiscard]] std::int64_t strip_rows() const { return strip_rows_; }
  // Bytes of the chain's largest frame per row of its last frame.
  [[nodiscard]] std::int64_t row_bytes() const { return row_bytes_; }
  // The rows of band i in the chain's last frame.
  [[nodiscard]] RowRange band(std::int64_t i) const;
  // The band's share of a frame of `frame_rows` rows; the shares of all bands are disjoint and cover it.
  [[nodiscard]] RowRange own(const RowRange& band, std::int64_t frame_rows) const {
    return {band.first * frame_rows / height_, band.end * frame_rows / height_};
  }
  // The bytes that a node moves for a band; they add up to those that it moves for the image.
  [[nodiscard]] std::int64_t bytes_moved(const Node& node, const RowRange& band) const;
  // Returns the rows that a band makes or reads, by ValueId; empty for values that the chain does not use.
  [[nodiscard]] std::vector<RowRange> rows_of(const RowRange& band) const;
  // The memory of a band: planes with enough rows for every band.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  // The index of the place that holds a band's rows of a value; none if the band holds none, or writes them
  // into a whole image. The decoded image shares its place with no other value; the place also holds the rows
  // between the previous band and this one.
  [[nodiscard]] std::optional<std::size_t> place_of(ValueId value) const { return place_of_[value]; }
  // Whether a band writes its rows of a value directly into the whole image.
  [[nodiscard]] bool in_place(ValueId value, const RowRange& rows, const RowRange& band) const;
  // The maximum number of rows of the decoded image read at a time, for a band or as a dropped chunk.
  [[nodiscard]] std::int64_t rows_read() const { return rows_read_; }
  [[nodiscard]] std::int64_t band_bytes() const;

 private:
  BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer);
  [[nodiscard]] std::int64_t next_read_rows(std::int64_t read, std::int64_t until) const;
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
  std::int64_t skip_rows_ = 1;  // the height of a chunk that no band needs
  std::int64_t skips_ = 0;
  std::vector<Place> places_;
  std::vector<std::optional<std::size_t>> place_of_;  // by ValueId
};

}  // namespace imgpipe
