#include "pipeline/chains.h"

#include <algorithm>
#include <atomic>

#include <unistd.h>

#include "kernels/stage.h"

namespace imgpipe {
namespace {

// The maximum number of rows that neighbouring bands of a chain both compute. Each smooth adds two above and
// two below.
constexpr std::int64_t kMaxOverlap = 16;
std::atomic<std::int64_t> chosen_band_bytes{0};  // by use_band_bytes()
// JPEG readers return rows in groups of 8 or 16, and every band of a chain with smooth computes 4 rows twice.
constexpr std::int64_t kBandRowsMultiple = 16;
constexpr std::int64_t kMaxBandBytes = std::int64_t{8} << 20;  // very wide rows are not grouped
// A window that slides down an image begins anew in every band, so that a band has twice as many rows as a
// window. Every band reads much of a table made from the image into the cache, so that a band has as many
// bytes as the table. This is the maximum for both.
constexpr std::int64_t kTallBandBytes = std::int64_t{2} << 20;

std::int64_t row_bytes(const FrameType& type) {
  return type.width * type.channels() * bytes_per_sample(type.sample);
}

// Returns the number of input rows that two neighbouring output rows both need.
std::int64_t overlap_of(const Node& node) {
  if (node.pixels_out() == nullptr || node.out.height < 2) return 0;
  if (node.needs_all_rows()) return 0;  // its input is a whole image
  const std::int64_t middle = node.out.height / 2 - 1;
  const RowRange upper = node.rows_needed({middle, middle + 1});
  const RowRange lower = node.rows_needed({middle + 1, middle + 2});
  return std::max<std::int64_t>(0, upper.end - lower.first);
}

// Returns the number of input rows that no band needs.
std::int64_t rows_left_out(const Node& node) {
  if (node.stage->effect != Effect::cuts) return 0;
  return node.in.height - node.rows_needed({0, node.out.height}).count();
}

bool is_on_device(ChainLength length) {
  return length == ChainLength::longest_on_device || length == ChainLength::longest_on_device_after_decoding;
}

class ChainCutter {
 public:
  ChainCutter(const Program& program, bool streamed, ChainLength length)
      : program_(program), streamed_(streamed), length_(length), tallest_(program.values[0].type.height) {}

  std::vector<Chain> cut() {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      if (node.table_out()) continue;
      const std::int64_t more = overlap_of(node);
      const bool all_rows = node.needs_all_rows();
      if (length_ == ChainLength::step ? begins_step(i) : all_rows || must_end(i, more)) {
        begin_chain(i, all_rows);
        overlap_ = 0;
        tallest_ = node.in.height;
      }
      chains_.back().end = i + 1;
      overlap_ += more;
      // If the node keeps only some of its input's rows, taller frames before it shrink in proportion.
      tallest_ =
          std::max(tallest_ * (node.in.height - rows_left_out(node)) / node.in.height, node.out.height);
    }
    if (streamed_ && last_frame() != program_.results.back()) begin_chain(chains_.back().end, false);
    chains_.front().decodes = true;
    chains_.back().last = true;
    return std::move(chains_);
  }

 private:
  void begin_chain(std::size_t i, bool all_rows) {
    chains_.push_back({.tables = chains_.back().end, .first = i, .end = i, .of_all_rows = all_rows});
  }

  // The frame after the last chain's last node.
  [[nodiscard]] ValueId last_frame() const {
    const std::size_t end = chains_.back().end;
    return end == 0 ? 0 : program_.nodes[end - 1].after.value;
  }

  [[nodiscard]] bool begins_step(std::size_t i) const {
    return chains_.size() == 1 || program_.nodes[chains_.back().end - 1].step != program_.nodes[i].step;
  }

  // Returns whether node i must begin a new chain. Added to the current chain, it would increase the overlap
  // of neighbouring bands by `more` rows. Rows that two neighbouring bands need are computed twice, with all
  // rows that they derive from. This is cheap if frames have equal heights, but expensive after a much taller
  // frame, or before one.
  [[nodiscard]] bool must_end(std::size_t i, std::int64_t more) const {
    const Node& node = program_.nodes[i];
    const auto counts = node.counts_in();
    const std::int64_t height = node.in.height;
    return i > chains_.back().end ||  // after a table
           node.pixels_in().value != last_frame() || must_decode_before(i) ||
           (counts && program_.lives[*counts].made_at > chains_.back().first) ||
           overlap_ + more > kMaxOverlap || (more > 0 && tallest_ > 2 * height) ||
           node.out.height > 2 * height || (rows_left_out(node) > 0 && is_read_later(i)) ||
           (is_on_device(length_) && chains_.back().of_all_rows) ||
           (length_ == ChainLength::longest_on_device_after_decoding && i == 0);
  }

  // Whether the decoded image is also read after node i. Node i may read more rows of it than its band's own,
  // and other threads may not have decoded those yet.
  [[nodiscard]] bool must_decode_before(std::size_t i) const {
    return chains_.size() == 1 && program_.nodes[i].pixels_out() != nullptr &&
           program_.lives[0].last_read_at > i + 1;
  }

  // Whether a value that the chain makes before node i is also read after that node. Each band must then make
  // its share of all rows of the value, not only the rows that a node needs for a part of the image.
  [[nodiscard]] bool is_read_later(std::size_t i) const {
    return std::ranges::any_of(program_.lives, [&](const Lifetime& life) {
      const bool made_here = life.made_at == 0 ? chains_.size() == 1 : life.made_at > chains_.back().first;
      return made_here && life.made_at <= i && life.last_read_at > i + 1;
    });
  }

  const Program& program_;
  const bool streamed_;
  const ChainLength length_;
  std::vector<Chain> chains_{1};
  std::int64_t overlap_ = 0;
  std::int64_t tallest_;  // of the chain's frames
};

RowRange hull(const RowRange& a, const RowRange& b) {
  if (a.count() == 0) return b;
  if (b.count() == 0) return a;
  return {std::min(a.first, b.first), std::max(a.end, b.end)};
}

// Returns the rows per band of the chain's last frame. `bytes_a_row`: BandPlan::row_bytes(); `least_bands`:
// of small images. `least_rows`: bands with fewer rows repeat much work.
std::int64_t rows_of_a_band(std::int64_t height, std::int64_t bytes_a_row, std::int64_t least_bands,
                            std::int64_t least_rows) {
  const std::int64_t share = std::max<std::int64_t>(1, height / least_bands);
  const std::int64_t most =
      std::max(frame_band_bytes() / bytes_a_row, std::min(least_rows, kTallBandBytes / bytes_a_row));
  const std::int64_t rows = std::clamp<std::int64_t>(share, 1, std::max<std::int64_t>(1, most));
  const std::int64_t whole = (rows + kBandRowsMultiple - 1) / kBandRowsMultiple * kBandRowsMultiple;
  return whole * bytes_a_row <= kMaxBandBytes ? whole : rows;
}

Target target_of(ChainLength length, const Keep& keep, bool grey_rows) {
  if (is_on_device(length)) return kCudaBandsTarget;
  // An output can be kept only if a node makes it.
  Target target = length == ChainLength::longest && !keep.outputs ? kCpuInterleavedTarget : kCpuTarget;
  target.grey_rows = grey_rows;
  return target;
}

}  // namespace

// With 8773x5352 RGB on a 2-core Xeon (2 MiB of L2 per core), 256 KiB and 1 MiB are 2 to 5 % slower than
// 512 KiB; on an EPYC with 1 MiB, 512 KiB is slower than 256 KiB.
std::int64_t band_bytes_for_cache(std::int64_t l2_bytes) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 18;
  constexpr std::int64_t kMost = std::int64_t{1} << 19;
  return l2_bytes <= 0 ? kMost : std::clamp(l2_bytes / 4, kLeast, kMost);
}

std::int64_t frame_band_bytes() {
  if (const std::int64_t chosen = chosen_band_bytes.load(std::memory_order_relaxed); chosen > 0)
    return chosen;
  static const std::int64_t found = band_bytes_for_cache(::sysconf(_SC_LEVEL2_CACHE_SIZE));
  return found;
}

void use_band_bytes(std::int64_t bytes) {
  chosen_band_bytes.store(bytes, std::memory_order_relaxed);
}

ChainedPlan::ChainedPlan(const Plan& the_plan, bool is_streamed, const Keep& keep)
    : ChainedPlan(the_plan, is_streamed, keep, is_streamed ? ChainLength::longest : ChainLength::step) {}

ChainedPlan::ChainedPlan(const Plan& the_plan, bool is_streamed, const Keep& keep, ChainLength chain_length,
                         bool has_grey_rows)
    : plan(the_plan),
      streamed(is_streamed),
      length(chain_length),
      grey_rows(has_grey_rows),
      program(lower(the_plan, target_of(length, keep, has_grey_rows), keep)),
      chains(ChainCutter(program, is_streamed, length).cut()) {}

std::size_t ChainedPlan::end_time(const Chain& chain) const {
  return streamed && chain.last ? program.nodes.size() + 1 : chain.end;
}

bool ChainedPlan::made_in(ValueId value, const Chain& chain) const {
  const std::size_t made = program.lives[value].made_at;
  return made == 0 ? chain.decodes : made > chain.first && made <= chain.end;
}

bool ChainedPlan::is_whole(ValueId value, const Chain& chain) const {
  return program.lives[value].last_read_at > end_time(chain);
}

BandPlan::BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer)
    : plan_(plan), chain_(chain), to_writer_(chain.last && writer != nullptr && plan.streamed) {
  const FrameType source = plan.program.values[0].type;
  height_ = to_writer_                ? plan.plan.output.height
            : chain.end > chain.first ? plan.program.nodes[chain.end - 1].out.height
                                      : source.height;
  // Excludes rows that no band needs.
  tallest_ = height_;
  const std::vector<RowRange> needed = rows_of({0, height_});
  const auto weigh = [&](const FrameType& type, const RowRange& rows) {
    tallest_ = std::max(tallest_, rows.count());
    row_bytes_ = std::max(row_bytes_, imgpipe::row_bytes(type) * ((rows.count() + height_ - 1) / height_));
  };
  if (chain.decodes) weigh(source, needed[0]);
  if (to_writer_) weigh(frame_type_of(plan.plan.output), {0, height_});
  for (const Node& node : plan.nodes_of(chain)) weigh(node.out, needed[node.after.value]);
}

BandPlan::BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer, int threads)
    : BandPlan(plan, chain, writer) {
  // A strip of a much reduced image may need all rows of the original. Bands then have fewer rows than
  // strips, and the writer collects rows into strips itself.
  const std::int64_t strip = writers_strip_rows(writer);
  const bool strips = strip > 0 && (tallest_ <= height_ || strip * row_bytes_ <= kMaxBandBytes);
  strip_rows_ = strips ? strip : 0;
  // In small images every thread gets two bands, so that one is read or written while another is processed. A
  // single thread between arrays would only lose time.
  const bool alone = threads == 1 && plan.length == ChainLength::longest && !plan.streamed;
  std::int64_t least_rows = 0;
  for (const Node& node : plan.nodes_of(chain)) {
    least_rows = std::max(least_rows, 2 * overlap_of(node));
    if (const auto table = node.table_in(); table && !plan.program.values[*table].constant)
      least_rows = std::max(least_rows, plan.program.values[*table].table_bytes / row_bytes_);
  }
  rows_ =
      strips ? strip : rows_of_a_band(height_, row_bytes_, alone ? 1 : std::int64_t{2} * threads, least_rows);
  find_places();
}

BandPlan BandPlan::of_rows(const ChainedPlan& plan, const Chain& chain, const Writer* writer,
                           std::int64_t rows) {
  BandPlan bands(plan, chain, writer);
  const std::int64_t strip = bands.writers_strip_rows(writer);
  bands.strip_rows_ = strip <= rows ? strip : 0;
  const std::int64_t unit = bands.strips() ? strip : rows >= kBandRowsMultiple ? kBandRowsMultiple : 1;
  bands.rows_ = std::max<std::int64_t>(1, rows / unit * unit);
  bands.find_places();
  return bands;
}

std::int64_t BandPlan::writers_strip_rows(const Writer* writer) const {
  return to_writer_ && writer != nullptr ? writer->strip_rows() : 0;
}

RowRange BandPlan::band(std::int64_t i) const {
  return {i * rows_, std::min(height_, (i + 1) * rows_)};
}

std::int64_t BandPlan::bytes_moved(const Node& node, const RowRange& band) const {
  const RowRange rows = own(band, node.out.height);
  const std::int64_t each = node.bytes_moved() / node.out.height;
  const std::int64_t rest = node.bytes_moved() % node.out.height;
  return each * rows.count() + rest * rows.end / node.out.height - rest * rows.first / node.out.height;
}

std::vector<RowRange> BandPlan::rows_of(const RowRange& band) const {
  const Program& program = plan_.program;
  std::vector<RowRange> rows(program.values.size());
  const auto need = [&](ValueId value, const RowRange& range) { rows[value] = hull(rows[value], range); };
  const auto need_own = [&](ValueId value) { need(value, own(band, program.values[value].type.height)); };
  if (to_writer_) need_own(program.results.back());
  for (std::size_t i = chain_.end; i-- > chain_.first;) {
    const Node& node = program.nodes[i];
    RowRange in = own(band, node.in.height);
    if (const Connection* const made = node.pixels_out()) {
      if (plan_.is_whole(made->value, chain_)) need_own(made->value);
      RowRange out = rows[made->value];
      if (made->alpha) {
        if (plan_.is_whole(*made->alpha, chain_)) need_own(*made->alpha);
        out = rows[*made->alpha] = rows[made->value] = hull(out, rows[*made->alpha]);
      }
      in = node.rows_needed(out);
    }
    need(node.pixels_in().value, in);
    if (node.pixels_in().alpha) need(*node.pixels_in().alpha, in);
  }
  if (chain_.decodes && plan_.is_whole(0, chain_)) need_own(0);
  return rows;
}

bool BandPlan::in_place(ValueId value, const RowRange& rows, const RowRange& band) const {
  return plan_.is_whole(value, chain_) && rows == own(band, plan_.program.values[value].type.height);
}

// Returns the number of rows to read next, from `read` to the end of its chunk of skip_rows_ rows; 0 if at
// most one chunk remains before `until`.
std::int64_t BandPlan::next_read_rows(std::int64_t read, std::int64_t until) const {
  return until - read > skip_rows_ ? (read / skip_rows_ + 1) * skip_rows_ - read : 0;
}

std::int64_t BandPlan::skipped_before(std::int64_t i, std::int64_t read) const {
  const std::int64_t height = plan_.program.values[0].type.height;
  const std::int64_t piece = next_read_rows(read, height);
  if (i == bands()) return piece > 0 ? piece : height - read;
  const RowRange needed = piece > 0 ? rows_of(band(i))[0] : RowRange{};
  return needed.count() > 0 ? next_read_rows(read, needed.first) : 0;
}

std::int64_t BandPlan::read_end(std::int64_t i, const RowRange& needed, std::int64_t read) const {
  const std::int64_t height = plan_.program.values[0].type.height;
  const std::int64_t end = std::max(needed.end, read);
  return i + 1 == bands() && next_read_rows(end, height) == 0 ? height : end;
}

// Returns, by ValueId, the maximum number of rows that a band holds. Sets rows_read_ and skips_.
std::vector<std::int64_t> BandPlan::max_rows_held() {
  std::vector<std::int64_t> held(plan_.program.values.size());
  std::int64_t read = 0;  // rows of the decoded image
  const auto skip_before = [&](std::int64_t i) {
    while (const std::int64_t rows = chain_.decodes ? skipped_before(i, read) : 0) {
      read += rows;
      rows_read_ = std::max(rows_read_, rows);
      held[0] = std::max(held[0], rows);
      ++skips_;
    }
  };
  for (std::int64_t i = 0; i < bands(); ++i) {
    const RowRange at = band(i);
    std::vector<RowRange> rows = rows_of(at);
    for (ValueId value = 0; value < rows.size(); ++value) {
      if (!plan_.made_in(value, chain_)) continue;
      if (value == 0) {
        if (rows[0].count() == 0) rows[0] = {read, read};
        skip_before(i);
        rows[0].first = std::min(rows[0].first, read);
        rows[0].end = read_end(i, rows[0], read);
        read = rows[0].end;
        rows_read_ = std::max(rows_read_, rows[0].count());
        if (plan_.is_whole(0, chain_)) continue;
      } else if (in_place(value, rows[value], at)) {
        continue;
      }
      held[value] = std::max(held[value], rows[value].count());
    }
  }
  skip_before(bands());
  return held;
}

void BandPlan::find_places() {
  const FrameType& source = plan_.program.values[0].type;
  skip_rows_ = rows_of_a_band(source.height, imgpipe::row_bytes(source), 2, 0);
  const std::vector<std::int64_t> held = max_rows_held();
  std::vector<Tenant> tenants;
  tenants.reserve(held.size());
  for (ValueId i = 0; i < held.size(); ++i) {
    if (held[i] == 0) continue;
    const Value& value = plan_.program.values[i];
    Tenant tenant{i, plan_.program.lives[i], 0, value.plane(), value.planes()};
    tenant.plane.height = held[i];
    // Rows of the decoded image stay for the next band.
    if (i == 0) tenant.life.last_read_at = plan_.program.nodes.size() + 1;
    tenants.push_back(tenant);
  }
  places_ = place(tenants, PlaceRule::first);
  place_of_.resize(held.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    for (const ValueId value : places_[i].values) place_of_[value] = i;
  }
}

std::int64_t BandPlan::band_bytes() const {
  std::int64_t bytes = 0;
  for (const Place& place : places_) bytes += place.planes * place.plane.bytes();
  return bytes;
}

}  // namespace imgpipe
