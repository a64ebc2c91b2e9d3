#include "tests/support/coded_jpegs.h"

#include <algorithm>
#include <array>
#include <random>

namespace imgpipe::test {
namespace {

using Random = std::mt19937;

int below(Random& random, std::size_t count) {
  return static_cast<int>(random() % count);
}

struct Code {
  unsigned bits = 0;
  int length = 0;
};

struct Codes {
  std::array<int, 17> counts{};
  std::vector<int> symbols;  // in the order of the codes
  std::array<Code, 256> of_symbol{};
};

// Makes a code tree for these symbols. Its last leaf is free, because no code may be all ones (ITU-T T.81,
// annex C); with `full`, that leaf has a symbol, too.
Codes random_codes(std::vector<int> symbols, bool full, Random& random) {
  std::ranges::shuffle(symbols, random);
  const std::size_t leaves = symbols.size() + (full ? 0 : 1);
  std::vector<int> lengths(1, 0);
  const bool deep = random() % 2 == 0;
  while (lengths.size() < std::max<std::size_t>(leaves, 2)) {
    const std::size_t at = deep ? lengths.size() - 1 - random() % std::min<std::size_t>(lengths.size(), 9)
                                : random() % lengths.size();
    if (lengths[at] >= 16) {
      const auto shortest = std::ranges::min_element(lengths);
      std::swap(lengths[at], *shortest);
    }
    const int length = lengths[at] + 1;
    lengths[at] = length;
    lengths.push_back(length);
  }
  std::ranges::sort(lengths);
  Codes codes;
  codes.symbols = symbols;
  unsigned next = 0;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const int length = lengths[i];
    if (i > 0) next = (next + 1) << (length - lengths[i - 1]);
    codes.counts[static_cast<std::size_t>(length)]++;
    codes.of_symbol[static_cast<std::size_t>(symbols[i])] = {next, length};
  }
  return codes;
}

class FileWriter {
 public:
  void byte(int value) { file_.push_back(static_cast<std::byte>(value)); }
  void word(int value) {
    byte(value >> 8);
    byte(value & 0xFF);
  }
  void marker(int value, bool filled) {
    for (int i = filled ? 1 + value % 3 : 0; i > 0; --i) byte(0xFF);
    byte(0xFF);
    byte(value);
  }
  void segment(int value, const std::vector<int>& payload, bool filled = false) {
    marker(value, filled);
    word(static_cast<int>(payload.size()) + 2);
    for (const int each : payload) byte(each);
  }

  void bits(unsigned value, int count) {
    for (int bit = count - 1; bit >= 0; --bit) {
      held_ = held_ << 1 | (value >> bit & 1);
      if (++held_count_ == 8) flush();
    }
  }
  void code(const Code& code) { bits(code.bits, code.length); }
  void pad(bool zeros) {
    while (held_count_ > 0) bits(zeros ? 0 : 1, 1);
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(file_); }

 private:
  void flush() {
    byte(static_cast<int>(held_));
    if (held_ == 0xFF) byte(0);
    held_ = 0;
    held_count_ = 0;
  }

  std::vector<std::byte> file_;
  unsigned held_ = 0;
  int held_count_ = 0;
};

struct Component {
  int id = 1, across = 1, down = 1, steps = 0, dc = 0, ac = 0;
};

class Coder {
 public:
  explicit Coder(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed * 2 + 1)) {
    if (below(random_, 2) == 0) choose_traits();
    choose_picture();
  }

  CodedJpeg make() {
    write_header();
    write_scan();
    if (!traits_.no_end) out_.marker(0xD9, traits_.fill_bytes);
    return {out_.take(), traits_};
  }

 private:
  bool once_in(std::size_t count) { return below(random_, count) == 0; }

  void choose_traits() {
    for (bool* trait : {&traits_.beyond_block, &traits_.odd_ends, &traits_.large_values,
                        &traits_.zero_padding, &traits_.fill_bytes, &traits_.spare_bytes,
                        &traits_.wrong_restart, &traits_.no_end, &traits_.all_ones, &traits_.extra_blocks})
      *trait = once_in(7);
  }

  void choose_picture() {
    width_ = 1 + below(random_, 70);
    height_ = 1 + below(random_, 70);
    components_.resize(once_in(4) ? 1 : 3);
    constexpr std::array<std::array<int, 2>, 4> kSamplings{{{1, 1}, {2, 1}, {2, 2}, {1, 2}}};
    // Component IDs are 1 to 3, as in JFIF, or arbitrary if an APP14 or APP0 segment identifies them.
    jfif_ = !once_in(3);
    const int first_id = jfif_ ? below(random_, 250) : 1;
    // Tables 2 and 3 exist only in the extended process.
    extended_ = once_in(2);
    const std::size_t tables = extended_ ? 4 : 2;
    for (Component& component : components_)
      component = {first_id + static_cast<int>(&component - components_.data()),
                   1,
                   1,
                   below(random_, 4),
                   below(random_, tables),
                   below(random_, tables)};
    if (components_.size() == 3) {
      const auto& sampling = kSamplings[random_() % kSamplings.size()];
      components_[0].across = sampling[0];
      components_[0].down = sampling[1];
    }
    interval_ = once_in(2) ? 1 + below(random_, 9) : 0;
    density_ = 1U + random_() % 64;
    for (Codes& codes : dc_) codes = random_codes(dc_symbols(), traits_.all_ones, random_);
    for (Codes& codes : ac_) codes = random_codes(ac_symbols(), false, random_);
  }

  std::vector<int> dc_symbols() {
    std::vector<int> symbols;
    for (int bits = 0; bits <= (traits_.large_values ? 15 : 11); ++bits) symbols.push_back(bits);
    return symbols;
  }

  // Returns all symbols that a block needs, and some others.
  std::vector<int> ac_symbols() {
    std::vector<int> symbols;
    for (int symbol = 0; symbol < 256; ++symbol) {
      const int run = symbol >> 4;
      const int bits = symbol & 15;
      const bool plain = bits > 0 ? bits <= 10 : run == 0 || run == 15;
      const bool odd = bits == 0 ? traits_.odd_ends : bits > 10 && traits_.large_values;
      if (plain || odd) symbols.push_back(symbol);
    }
    return symbols;
  }

  void write_header() {
    out_.marker(0xD8, false);
    if (jfif_) out_.segment(0xE0, {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0});
    if (once_in(4)) out_.segment(0xFE, {'h', 'i', 0xFF, 0xD9});
    write_steps();
    if (once_in(2)) write_codes(once_in(2));
    std::vector<int> frame{8,           height_ >> 8,  height_ & 0xFF,
                           width_ >> 8, width_ & 0xFF, static_cast<int>(components_.size())};
    for (const Component& each : components_)
      frame.insert(frame.end(), {each.id, each.across << 4 | each.down, each.steps});
    out_.segment(extended_ ? 0xC1 : 0xC0, frame, traits_.fill_bytes);
    write_codes(once_in(2));
    if (interval_ > 0 || once_in(4)) out_.segment(0xDD, {interval_ >> 8, interval_ & 0xFF});
    std::vector<int> scan{static_cast<int>(components_.size())};
    for (const Component& each : components_) scan.insert(scan.end(), {each.id, each.dc << 4 | each.ac});
    scan.insert(scan.end(), {0, 63, 0});
    out_.segment(0xDA, scan);
  }

  void write_steps() {
    for (int table = 0; table < 4; ++table) {
      const bool wide = once_in(3);
      std::vector<int> payload{(wide ? 0x10 : 0) | table};
      const std::size_t most = std::size_t{1} << (1 + random_() % (wide ? 16 : 8));
      for (int position = 0; position < 64; ++position) {
        const int step = std::max(1, below(random_, most));
        if (wide) payload.push_back(step >> 8);
        payload.push_back(step & 0xFF);
      }
      out_.segment(0xDB, payload);
    }
  }

  void write_codes(bool together) {
    std::vector<int> payload;
    for (int table = 0; table < (extended_ ? 4 : 2); ++table) {
      for (const bool ac : {false, true}) {
        const Codes& codes = (ac ? ac_ : dc_)[static_cast<std::size_t>(table)];
        payload.push_back((ac ? 0x10 : 0) | table);
        payload.insert(payload.end(), codes.counts.begin() + 1, codes.counts.end());
        payload.insert(payload.end(), codes.symbols.begin(), codes.symbols.end());
        if (together) continue;
        out_.segment(0xC4, payload);
        payload.clear();
      }
    }
    if (together) out_.segment(0xC4, payload);
  }

  void write_scan() {
    const auto mcus_of = [](int pixels, int factor) { return (pixels + 8 * factor - 1) / (8 * factor); };
    const int mcus = mcus_of(width_, components_[0].across) * mcus_of(height_, components_[0].down);
    for (int mcu = 0; mcu < mcus; ++mcu) {
      if (interval_ > 0 && mcu > 0 && mcu % interval_ == 0) write_restart(mcu / interval_ - 1);
      write_mcu();
    }
    if (traits_.extra_blocks) write_mcu();
    end_entropy();
  }

  void write_mcu() {
    for (const Component& each : components_)
      for (int block = 0; block < each.across * each.down; ++block) write_block(each);
  }

  void end_entropy() {
    out_.pad(traits_.zero_padding);
    for (int i = traits_.spare_bytes ? 1 + below(random_, 3) : 0; i > 0; --i) out_.byte(below(random_, 255));
  }

  void write_restart(int index) {
    end_entropy();
    if (traits_.wrong_restart && once_in(3)) index += 1 + below(random_, 7);
    out_.marker(0xD0 + index % 8, traits_.fill_bytes);
  }

  void write_value(int bits) {
    if (bits > 0) out_.bits(static_cast<unsigned>(random_()) & ((1U << bits) - 1), bits);
  }

  void write_block(const Component& component) {
    const auto& dc = dc_[static_cast<std::size_t>(component.dc)].of_symbol;
    const auto& ac = ac_[static_cast<std::size_t>(component.ac)].of_symbol;
    const int max_bits = traits_.large_values && once_in(4) ? 15 : 11;
    const int dc_bits = below(random_, static_cast<std::size_t>(max_bits) + 1);
    out_.code(dc[static_cast<std::size_t>(dc_bits)]);
    write_value(dc_bits);
    for (int position = 1; position < 64;) {
      const std::size_t symbol = next_symbol(position);
      out_.code(ac[symbol]);
      const int bits = static_cast<int>(symbol & 15);
      const int run = static_cast<int>(symbol >> 4);
      if (bits == 0 && run != 15) return;
      position += run + 1;
      write_value(bits);
    }
  }

  std::size_t next_symbol(int position) {
    if (once_in(density_)) return traits_.odd_ends ? static_cast<std::size_t>(below(random_, 15)) << 4 : 0;
    int run = once_in(4) ? below(random_, 16) : 0;
    if (position + run > 63 && !traits_.beyond_block) run = 63 - position;
    if (once_in(16) && (position + 16 < 64 || traits_.odd_ends)) return 0xF0;
    const int bits = 1 + below(random_, traits_.large_values && once_in(8) ? 15 : 10);
    return static_cast<std::size_t>(run << 4 | bits);
  }

  Random random_;
  CodedTraits traits_;
  FileWriter out_;
  int width_ = 1, height_ = 1, interval_ = 0;
  bool jfif_ = true, extended_ = false;
  std::size_t density_ = 8;
  std::vector<Component> components_;
  std::array<Codes, 4> dc_, ac_;
};

}  // namespace

bool CodedTraits::none() const {
  return !beyond_block && !odd_ends && !large_values && !zero_padding && !fill_bytes && !spare_bytes &&
         !wrong_restart && !no_end && !all_ones && !extra_blocks;
}

CodedJpeg random_coded_jpeg(std::uint64_t seed) {
  return Coder(seed).make();
}

}  // namespace imgpipe::test
