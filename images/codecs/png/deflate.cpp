// ISA-L for speed (levels 0 to 3; at level 1 only for strips with matches), zlib for size (4 to 9).
// libdeflate would be faster than zlib, but cannot end part of a stream with a flush.
#include "images/codecs/png/deflate.h"

#include <algorithm>
#include <new>

#include <isa-l.h>
#include <zlib.h>

#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_repeats.h"
#include "images/codecs/png/strip_rule.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr int kLastIsalLevel = ISAL_DEF_MAX_LEVEL;
constexpr int kHuffmanLevel = 1;  // strip_rule.h
// Both libraries count their input in 32 bits.
constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;
constexpr std::size_t kStoredBytes = 32;
constexpr std::size_t kSpaceStepBytes = std::size_t{1} << 16;

const unsigned char* chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

std::size_t level_buffer_bytes(int level) {
  constexpr std::size_t kBytes[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                    ISAL_DEF_LVL3_DEFAULT};
  return kBytes[level];
}

}  // namespace

struct StripDeflater::State {
  explicit State(int chosen_level) : level(chosen_level) {
    if (level == kHuffmanLevel) return;  // created for the first strip that needs ISA-L
    if (level <= kLastIsalLevel) {
      make_isal();
    } else if (deflateInit2(&zlib, level, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
               Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~State() {
    if (level > kLastIsalLevel) deflateEnd(&zlib);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void make_isal() {
    isal = std::make_unique<isal_zstream>();
    // Uninitialised: for each strip, the library clears the part that it uses of these 300 KB.
    level_buffer = std::make_unique_for_overwrite<std::uint8_t[]>(level_buffer_bytes(level));
  }

  // Returns `bytes` of space after the first `made` bytes of output. Callers request more than a whole strip
  // first, then kSpaceStepBytes at a time. ISA-L's output depends on where its space ends, so these sizes
  // must depend only on the strip.
  std::span<unsigned char> space_after(std::size_t made, std::size_t bytes) {
    if (out_bytes < made + bytes) {
      if (made == 0) {  // frees the old memory before allocating more
        out.reset();
        out_bytes = 0;
      }
      auto more = std::make_unique_for_overwrite<std::byte[]>(made + bytes);
      std::copy_n(out.get(), made, more.get());
      out = std::move(more);
      out_bytes = made + bytes;
    }
    return {reinterpret_cast<unsigned char*>(out.get()) + made, bytes};
  }
  static std::size_t first_space_bytes(std::size_t strip_bytes) {
    return std::min(strip_bytes + strip_bytes / 8 + kSpaceStepBytes, kMaxAtOnce);
  }

  // Without history, ISA-L 2.30 hashes a register's content (an address) instead of a stream's third byte,
  // which makes its output depend on the stream's address. Therefore the first bytes are stored, and serve as
  // history.
  std::size_t compress_isal(std::span<const std::byte> strip, bool last) {
    std::size_t next_room = first_space_bytes(strip.size());
    const std::span<const std::byte> head = strip.first(std::min(strip.size(), kStoredBytes));
    strip = strip.subspan(head.size());
    std::size_t made = stored_bytes(head.size());
    write_stored({chars(head.data()), head.size()}, last && strip.empty(), space_after(0, made).data());
    if (strip.empty()) return made;
    isal_deflate_init(isal.get());
    isal->level = static_cast<std::uint32_t>(level);
    isal->level_buf = level_buffer.get();
    isal->level_buf_size = static_cast<std::uint32_t>(level_buffer_bytes(level));
    // The library takes pointers to non-const but does not write through them.
    if (isal_deflate_set_dict(isal.get(), const_cast<unsigned char*>(chars(head.data())),
                              static_cast<std::uint32_t>(head.size())) != COMP_OK)
      throw Error(ErrorKind::memory, "ISA-L could not compress");
    while (!strip.empty()) {
      const auto chunk = strip.first(std::min(strip.size(), kMaxAtOnce));
      strip = strip.subspan(chunk.size());
      isal->next_in = const_cast<unsigned char*>(chars(chunk.data()));
      isal->avail_in = static_cast<std::uint32_t>(chunk.size());
      isal->flush = strip.empty() && !last ? FULL_FLUSH : NO_FLUSH;
      isal->end_of_stream = strip.empty() && last ? 1 : 0;
      do {
        const std::span<unsigned char> space = space_after(made, next_room);
        next_room = kSpaceStepBytes;
        isal->next_out = space.data();
        isal->avail_out = static_cast<std::uint32_t>(space.size());
        if (isal_deflate(isal.get()) != COMP_OK) throw Error(ErrorKind::memory, "ISA-L could not compress");
        made += space.size() - isal->avail_out;
      } while (isal->avail_out == 0);
    }
    return made;
  }

  // Follows the rule of strip_rule.h.
  std::size_t compress_huffman(std::span<const std::byte> bytes, bool last) {
    const std::span strip(chars(bytes.data()), bytes.size());
    const StripBlock block(count_tokens(strip));
    const std::size_t stored = stored_bytes(strip.size());
    const std::size_t least = std::min(block.bytes(last), stored);
    if (should_try_matches(strip, block)) {
      if (isal == nullptr) make_isal();
      const std::size_t made = compress_isal(bytes, last);
      if (made < least) return made;
    }
    // Rounds the size up to whole steps; pages that are never written take no memory.
    std::uint8_t* space =
        space_after(0, (least + StripBlock::kSlack + kSpaceStepBytes - 1) / kSpaceStepBytes * kSpaceStepBytes)
            .data();
    if (stored == least) {
      write_stored(strip, last, space);
    } else {
      if (pairs == nullptr && strip.size() >= kMinPairStripBytes)
        pairs = std::make_unique_for_overwrite<PairTable>();
      block.write(strip, last, pairs.get(), space);
    }
    return least;
  }

  std::size_t compress_zlib(std::span<const std::byte> strip, bool last) {
    deflateReset(&zlib);
    std::size_t next_room = first_space_bytes(strip.size());
    std::size_t made = 0;
    for (bool first = true; first || !strip.empty(); first = false) {
      const auto chunk = strip.first(std::min(strip.size(), kMaxAtOnce));
      strip = strip.subspan(chunk.size());
      zlib.next_in = const_cast<unsigned char*>(chars(chunk.data()));
      zlib.avail_in = static_cast<unsigned>(chunk.size());
      const int flush = !strip.empty() ? Z_NO_FLUSH : last ? Z_FINISH : Z_FULL_FLUSH;
      do {
        const std::span<unsigned char> space = space_after(made, next_room);
        next_room = kSpaceStepBytes;
        zlib.next_out = space.data();
        zlib.avail_out = static_cast<unsigned>(space.size());
        if (deflate(&zlib, flush) == Z_STREAM_ERROR)
          throw Error(ErrorKind::memory, "zlib could not compress");
        made += space.size() - zlib.avail_out;
      } while (zlib.avail_out == 0);
    }
    return made;
  }

  int level;
  std::unique_ptr<isal_zstream> isal;
  std::unique_ptr<std::uint8_t[]> level_buffer;
  std::unique_ptr<PairTable> pairs;
  z_stream zlib{};
  std::unique_ptr<std::byte[]> out;
  std::size_t out_bytes = 0;
};

StripDeflater::StripDeflater(int level) {
  try {
    state_ = std::make_unique<State>(level);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to compress");
  }
}

std::int64_t StripDeflater::working_bytes(std::int64_t strip_bytes, int level) {
  // zlib's windows, hash chains and pending bytes; ISA-L's stream with its window.
  constexpr std::int64_t kZlibBytes = std::int64_t{512} << 10;
  const bool isal = level <= kLastIsalLevel;
  const std::int64_t library =
      isal ? static_cast<std::int64_t>(sizeof(isal_zstream) + level_buffer_bytes(level)) : kZlibBytes;
  const auto space_after =
      static_cast<std::int64_t>(State::first_space_bytes(static_cast<std::size_t>(strip_bytes)));
  std::int64_t own = 0;
  if (level == kHuffmanLevel) {
    own = repeats_working_bytes(strip_bytes);
    if (strip_bytes >= static_cast<std::int64_t>(kMinPairStripBytes)) own += sizeof(PairTable);
  }
  // If the space is too small, it grows: the old space and a new one of up to twice the size coexist.
  return library + own +
         (max_compressed_bytes(strip_bytes, level) > space_after ? 3 * space_after : space_after) + 64;
}

std::int64_t max_compressed_bytes(std::int64_t strip_bytes, int level) {
  constexpr std::int64_t kEnds = 256;  // the stored beginning, tables, the flush
  return strip_bytes + (level == 0 ? strip_bytes / 2 : strip_bytes / 4096) + kEnds;
}

StripDeflater::~StripDeflater() = default;
StripDeflater::StripDeflater(StripDeflater&&) noexcept = default;
StripDeflater& StripDeflater::operator=(StripDeflater&&) noexcept = default;

std::span<const std::byte> StripDeflater::compress(std::span<const std::byte> strip, bool last) {
  try {
    const std::size_t made = state_->level == kHuffmanLevel    ? state_->compress_huffman(strip, last)
                             : state_->level <= kLastIsalLevel ? state_->compress_isal(strip, last)
                                                               : state_->compress_zlib(strip, last);
    return {state_->out.get(), made};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to compress");
  }
}

std::vector<std::byte> zlib_header(int level) {
  // CMF: deflate, 32 KiB. FLG: the compression effort, and check bits that make the pair a multiple of 31.
  constexpr unsigned kMethod = 0x78;
  const unsigned effort = level <= 1 ? 0 : level <= 5 ? 1 : level == 6 ? 2 : 3;
  unsigned flags = effort << 6;
  flags += 31 - (kMethod * 256 + flags) % 31;
  return {static_cast<std::byte>(kMethod), static_cast<std::byte>(flags)};
}

std::uint32_t adler32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return isal_adler32(before, chars(bytes.data()), bytes.size());
}

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return crc32_gzip_refl(before, chars(bytes.data()), bytes.size());
}

std::uint32_t adler32_joined(std::uint32_t first, std::uint32_t second, std::int64_t bytes) {
  return static_cast<std::uint32_t>(adler32_combine(first, second, bytes));
}

std::string deflate_versions() {
  return "ISA-L " + std::to_string(ISAL_MAJOR_VERSION) + "." + std::to_string(ISAL_MINOR_VERSION) + "." +
         std::to_string(ISAL_PATCH_VERSION) + ", zlib " + zlibVersion();
}

}  // namespace imgpipe
