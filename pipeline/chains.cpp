#include "pipeline/chains.h"

#include <algorithm>

#include "kernels/stage.h"

namespace imgpipe {
namespace {

// Rows that neighbouring bands of a chain may both make. Each smooth adds two above and two below.
constexpr std::int64_t kMostOverlap = 16;
// Bytes of the widest row that a band holds, over all its rows: half of a core's second cache of today, so
// that a stage finds what the one before it wrote. 8773x5352 RGB on a 2-core Xeon with 2 MiB a core: 256 KiB
// and 1 MiB cost 2 to 5 % more.
constexpr std::int64_t kBandBytes = std::int64_t{1} << 19;
// JPEG gives rows in groups of 8 or 16, and every band of a chain that smooths makes 4 rows twice.
constexpr std::int64_t kBandRowsMultiple = 16;
constexpr std::int64_t kMostBandBytes = std::int64_t{8} << 20;  // very wide rows are not grouped

std::int64_t row_bytes(const FrameType& type) {
  return type.width * type.channels() * bytes_per_sample(type.sample);
}

// Rows of the input that two neighbouring rows of the output both need.
std::int64_t overlap_of(const Step& step) {
  if (!step.stage->writes_pixels || step.out.height < 2) return 0;
  if (needs_all_rows(*step.stage, step.parameters)) return 0;  // they are all there already
  const std::int64_t middle = step.out.height / 2 - 1;
  const RowRange upper = rows_needed(*step.stage, step.in, step.parameters, {middle, middle + 1});
  const RowRange lower = rows_needed(*step.stage, step.in, step.parameters, {middle + 1, middle + 2});
  return std::max<std::int64_t>(0, upper.end - lower.first);
}

// How many rows of the input are left out, and no band needs them.
std::int64_t rows_left_out(const Step& step) {
  if (!step.stage->moves_pixels) return 0;
  return step.in.height - rows_needed(*step.stage, step.in, step.parameters, {0, step.out.height}).count();
}

bool is_on_device(ChainLength length) {
  return length == ChainLength::longest_on_device || length == ChainLength::longest_on_device_behind_decoding;
}

// Takes the works apart, one after the other.
class ChainCutter {
 public:
  ChainCutter(const std::vector<Work>& works, const Buffers& buffers, ChainLength length)
      : works_(works), buffers_(buffers), length_(length), tallest_(buffers[0].type.height) {}

  std::vector<Chain> cut() {
    for (std::size_t i = 0; i < works_.size(); ++i) {
      const Step& step = *works_[i].step;
      const std::int64_t more = overlap_of(step);
      const bool all_rows = needs_all_rows(*step.stage, step.parameters);
      if (length_ == ChainLength::step ? begins_step(i) : all_rows || must_end(i, more)) {
        chains_.push_back({.first = i, .end = i, .of_all_rows = all_rows});
        overlap_ = 0;
        tallest_ = step.in.height;
      }
      chains_.back().end = i + 1;
      overlap_ += more;
      // What a taller frame before it costs, it costs for the rows that are not left out.
      tallest_ =
          std::max(tallest_ * (step.in.height - rows_left_out(step)) / step.in.height, step.out.height);
    }
    chains_.front().decodes = true;
    chains_.back().last = true;
    return std::move(chains_);
  }

 private:
  [[nodiscard]] bool begins_step(std::size_t i) const {
    return chains_.size() == 1 || works_[i - 1].index != works_[i].index;
  }

  // Whether the chain ends before work i, which makes bands overlap by so many rows more. Neighbouring bands
  // make the rows twice that both need, and for them all the rows that those come from: cheap in frames of
  // one height, dear behind a frame that was much taller, or before one that will be.
  [[nodiscard]] bool must_end(std::size_t i, std::int64_t more) const {
    const Step& step = *works_[i].step;
    const auto counts = buffers_.works[i].counts_in;
    const std::int64_t height = step.in.height;
    return (counts && buffers_[*counts].made_at > chains_.back().first) || overlap_ + more > kMostOverlap ||
           (more > 0 && tallest_ > 2 * height) || step.out.height > 2 * height ||
           (rows_left_out(step) > 0 && is_read_later(i)) ||
           (is_on_device(length_) && chains_.back().of_all_rows) ||
           (length_ == ChainLength::longest_on_device_behind_decoding && i == 0);
  }

  // Whether something that the chain has made before work i, or counted, is read behind that work too. Bands
  // then share all of its rows out among them, which lie elsewhere than those that a part of the image needs.
  [[nodiscard]] bool is_read_later(std::size_t i) const {
    return std::ranges::any_of(buffers_.buffers, [&](const Buffer& buffer) {
      const bool made_here =
          buffer.made_at == 0 ? chains_.size() == 1 : buffer.made_at > chains_.back().first;
      return made_here && buffer.made_at <= i && buffer.last_read_at > i + 1;
    });
  }

  const std::vector<Work>& works_;
  const Buffers& buffers_;
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

// Rows of the chain's last frame, each with so many bytes of the largest frame that it comes from.
std::int64_t rows_of_a_band(std::int64_t height, std::int64_t bytes_a_row, int threads) {
  // Small images: something to do for every thread.
  const std::int64_t share = std::max<std::int64_t>(1, height / (std::int64_t{2} * threads));
  const std::int64_t rows =
      std::clamp<std::int64_t>(share, 1, std::max<std::int64_t>(1, kBandBytes / bytes_a_row));
  const std::int64_t whole = (rows + kBandRowsMultiple - 1) / kBandRowsMultiple * kBandRowsMultiple;
  return whole * bytes_a_row <= kMostBandBytes ? whole : rows;
}

}  // namespace

ChainedPlan::ChainedPlan(const Plan& the_plan, bool is_streamed, const Keep& keep)
    : ChainedPlan(the_plan, is_streamed, keep, is_streamed ? ChainLength::longest : ChainLength::step) {}

ChainedPlan::ChainedPlan(const Plan& the_plan, bool is_streamed, const Keep& keep, ChainLength length)
    : plan(the_plan),
      streamed(is_streamed),
      works(works_of(the_plan, FusedSteps::as_parts)),
      buffers(buffers_of(the_plan, works, keep)),
      chains(ChainCutter(works, buffers, length).cut()) {}

std::size_t ChainedPlan::end_time(const Chain& chain) const {
  return streamed && chain.last ? works.size() + 1 : chain.end;
}

bool ChainedPlan::made_in(std::size_t buffer, const Chain& chain) const {
  const std::size_t made = buffers[buffer].made_at;
  return made == 0 ? chain.decodes : made > chain.first && made <= chain.end;
}

bool ChainedPlan::is_whole(std::size_t buffer, const Chain& chain) const {
  return buffers[buffer].last_read_at > end_time(chain);
}

BandPlan::BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer)
    : plan_(plan), chain_(chain), to_writer_(chain.last && writer != nullptr && plan.streamed) {
  const FrameType source = plan.buffers[0].type;
  height_ = to_writer_                ? plan.plan.output.height
            : chain.end > chain.first ? plan.works[chain.end - 1].step->out.height
                                      : source.height;
  // Of the largest of its frames, for each row of the last, without rows that nothing needs.
  tallest_ = height_;
  const std::vector<RowRange> needed = rows_of({0, height_});
  const auto weigh = [&](const FrameType& type, const RowRange& rows) {
    tallest_ = std::max(tallest_, rows.count());
    row_bytes_ = std::max(row_bytes_, imgpipe::row_bytes(type) * ((rows.count() + height_ - 1) / height_));
  };
  if (chain.decodes) weigh(source, needed[0]);
  for (std::size_t i = chain.first; i < chain.end; ++i)
    weigh(plan.works[i].step->out, needed[plan.buffers.works[i].pixels]);
}

BandPlan::BandPlan(const ChainedPlan& plan, const Chain& chain, const Writer* writer, int threads)
    : BandPlan(plan, chain, writer) {
  // A strip of a small image may stand for all of a large one: such bands are smaller, and the writer makes
  // its strips of them.
  const std::int64_t strip = writers_strip_rows(writer);
  const bool strips = strip > 0 && (tallest_ <= height_ || strip * row_bytes_ <= kMostBandBytes);
  strip_rows_ = strips ? strip : 0;
  rows_ = strips ? strip : rows_of_a_band(height_, row_bytes_, threads);
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

std::vector<RowRange> BandPlan::rows_of(const RowRange& band) const {
  std::vector<RowRange> rows(plan_.buffers.size());
  const auto need = [&](std::size_t buffer, const RowRange& range) {
    rows[buffer] = hull(rows[buffer], range);
  };
  const auto need_own = [&](std::size_t buffer) {
    need(buffer, own(band, plan_.buffers[buffer].type.height));
  };
  if (to_writer_) need_own(plan_.buffers.result);
  for (std::size_t i = chain_.end; i-- > chain_.first;) {
    const Step& step = *plan_.works[i].step;
    const WorkBuffers& uses = plan_.buffers.works[i];
    RowRange in = own(band, step.in.height);
    if (uses.pixels_out) {
      if (plan_.is_whole(*uses.pixels_out, chain_)) need_own(*uses.pixels_out);
      RowRange out = rows[*uses.pixels_out];
      if (uses.alpha_out) {
        if (plan_.is_whole(*uses.alpha_out, chain_)) need_own(*uses.alpha_out);
        out = rows[*uses.alpha_out] = rows[*uses.pixels_out] = hull(out, rows[*uses.alpha_out]);
      }
      in = rows_needed(*step.stage, step.in, step.parameters, out);
    }
    need(uses.pixels_in, in);
    if (uses.alpha_in) need(*uses.alpha_in, in);
  }
  if (chain_.decodes && plan_.is_whole(0, chain_)) need_own(0);
  return rows;
}

bool BandPlan::in_place(std::size_t buffer, const RowRange& rows, const RowRange& band) const {
  return plan_.is_whole(buffer, chain_) && rows == own(band, plan_.buffers[buffer].type.height);
}

// Of the rows from `read` up to `until` those that are read first: to the end of a piece; 0 if they are no
// more than one.
std::int64_t BandPlan::next_piece(std::int64_t read, std::int64_t until) const {
  return until - read > skip_rows_ ? (read / skip_rows_ + 1) * skip_rows_ - read : 0;
}

std::int64_t BandPlan::skipped_before(std::int64_t i, std::int64_t read) const {
  const std::int64_t height = plan_.buffers[0].type.height;
  if (i == bands()) {
    const std::int64_t piece = next_piece(read, height);
    return piece > 0 ? piece : height - read;
  }
  const RowRange needed = rows_of(band(i))[0];
  return needed.count() > 0 ? next_piece(read, needed.first) : 0;
}

std::int64_t BandPlan::read_end(std::int64_t i, const RowRange& needed, std::int64_t read) const {
  const std::int64_t height = plan_.buffers[0].type.height;
  const std::int64_t end = std::max(needed.end, read);
  return i + 1 == bands() && next_piece(end, height) == 0 ? height : end;
}

// By buffer: the most rows that any band holds of what it makes.
std::vector<std::int64_t> BandPlan::most_rows_held() {
  std::vector<std::int64_t> held(plan_.buffers.size());
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
    for (std::size_t buffer = 0; buffer < rows.size(); ++buffer) {
      if (!plan_.made_in(buffer, chain_)) continue;
      if (buffer == 0) {
        if (rows[0].count() == 0) rows[0] = {read, read};
        skip_before(i);
        rows[0].first = std::min(rows[0].first, read);
        rows[0].end = read_end(i, rows[0], read);
        read = rows[0].end;
        rows_read_ = std::max(rows_read_, rows[0].count());
        if (plan_.is_whole(0, chain_)) continue;
      } else if (in_place(buffer, rows[buffer], at)) {
        continue;
      }
      held[buffer] = std::max(held[buffer], rows[buffer].count());
    }
  }
  skip_before(bands());
  return held;
}

void BandPlan::find_places() {
  const FrameType& source = plan_.buffers[0].type;
  skip_rows_ = rows_of_a_band(source.height, imgpipe::row_bytes(source), 1);
  const std::vector<std::int64_t> held = most_rows_held();
  place_of_.resize(held.size());
  std::vector<std::size_t> free_after;  // by place: when its last buffer was last read
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i] == 0) continue;
    const Buffer& buffer = plan_.buffers[i];
    Shape plane = buffer.plane();
    plane.height = held[i];
    const auto fits = [&](std::size_t place) {
      Shape wanted = places_[place].plane;
      wanted.height = plane.height;
      return free_after[place] < buffer.made_at && wanted == plane &&
             places_[place].planes == buffer.planes();
    };
    std::size_t place = 0;
    while (place < places_.size() && !fits(place)) ++place;
    if (place == places_.size()) {
      places_.push_back({plane, buffer.planes()});
      free_after.push_back(0);
    }
    places_[place].plane.height = std::max(places_[place].plane.height, plane.height);
    // What is read of the decoded image stays for the band behind.
    free_after[place] = i == 0 ? plan_.works.size() + 1 : buffer.last_read_at;
    place_of_[i] = place;
  }
}

std::int64_t BandPlan::band_bytes() const {
  std::int64_t bytes = 0;
  for (const Place& place : places_) bytes += place.planes * place.plane.bytes();
  return bytes;
}

}  // namespace imgpipe
