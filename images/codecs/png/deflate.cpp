// ISA-L for strips with matches at level 1, libdeflate from level 2 on. libdeflate cannot end part of a
// stream with a flush; see open_end().
#include "images/codecs/png/deflate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include <isa-l.h>

#include "images/codecs/png/deflate_functions.h"
#include "images/codecs/png/inflate.h"
#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_repeats.h"
#include "images/codecs/png/strip_rule.h"
#include "images/codecs/png/zlib_functions.h"
#include "images/error.h"
#include "images/late_library.h"

namespace imgpipe {
namespace {

using namespace late_deflate;
using namespace late_zlib;

constexpr int kStoredLevel = 0;
constexpr int kHuffmanLevel = 1;  // strip_rule.h
// libdeflate's levels for ours, so that sizes fall and times grow with the level. Its levels 8 and 9 take
// about as long as 10 on photographs, and their files are 4 % larger.
constexpr std::array<int, 10> kLibraryLevels{0, 0, 2, 4, 5, 6, 7, 10, 11, 12};
// ISA-L and zlib count their input in 32 bits.
constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;
constexpr std::size_t kStoredBytes = 32;
constexpr std::size_t kSpaceStepBytes = std::size_t{1} << 16;

const unsigned char* chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

constexpr std::size_t kLevelBufferBytes = ISAL_DEF_LVL1_DEFAULT;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};

// zlib's state for finding the blocks of a stream.
class BlockFinder {
 public:
  BlockFinder() {
    if (inflateInit2(&zlib_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~BlockFinder() { inflateEnd(&zlib_); }
  BlockFinder(const BlockFinder&) = delete;
  BlockFinder& operator=(const BlockFinder&) = delete;

  struct LastBlock {
    std::size_t begin = 0, end = 0;  // in bits
  };
  // Returns the bits of the last block of a whole deflate stream (RFC 1951).
  LastBlock last_block(std::span<const unsigned char> stream) {
    if (inflateReset(&zlib_) != Z_OK) throw Error(ErrorKind::memory, "zlib could not find a block");
    LastBlock block;
    std::size_t before = 0;  // bytes given to zlib in earlier chunks
    for (;;) {
      const auto chunk = stream.subspan(before, std::min(stream.size() - before, kMaxAtOnce));
      zlib_.next_in = const_cast<unsigned char*>(chunk.data());
      zlib_.avail_in = static_cast<unsigned>(chunk.size());
      int status = Z_OK;
      while (status == Z_OK) {
        zlib_.next_out = unread_.data();
        zlib_.avail_out = static_cast<unsigned>(unread_.size());
        status = inflate(&zlib_, Z_BLOCK);
        if (status == Z_MEM_ERROR) throw std::bad_alloc();
        constexpr int kUnusedBits = 7, kIsLast = 64, kAtEndOfBlock = 128;  // zlib.h
        // A block may end in bits that zlib has already read: Z_BUF_ERROR, because nothing was read or made.
        if ((status != Z_OK && status != Z_BUF_ERROR) || (zlib_.data_type & kAtEndOfBlock) == 0) continue;
        status = Z_OK;
        block.end = (before + chunk.size() - zlib_.avail_in) * 8 -
                    static_cast<std::size_t>(zlib_.data_type & kUnusedBits);
        if ((zlib_.data_type & kIsLast) != 0) return block;
        block.begin = block.end;
      }
      before += chunk.size();
      if (status != Z_BUF_ERROR || before == stream.size())
        throw Error(ErrorKind::memory, "libdeflate's stream has no last block");
    }
  }

 private:
  z_stream zlib_{};
  std::array<unsigned char, std::size_t{1} << 15> unread_;
};

// Turns a whole deflate stream in the first `made` bytes of `space` into a part that another part can follow:
// its last block is no longer marked as the last, and a full flush follows. Returns the part's bytes; `space`
// has capacity for block_bytes() of it.
std::size_t open_end(std::span<unsigned char> space, std::size_t made, BlockFinder& finder) {
  const BlockFinder::LastBlock last = finder.last_block(space.first(made));
  space[last.begin / 8] &= static_cast<unsigned char>(~(1U << last.begin % 8));
  const auto end = static_cast<std::size_t>(block_bytes(last.end, false));
  std::fill(space.begin() + static_cast<std::ptrdiff_t>(made),
            space.begin() + static_cast<std::ptrdiff_t>(end - kFlushBytes), std::uint8_t{0});
  constexpr std::array<unsigned char, kFlushBytes> kEmptyBlock{0, 0, 0xFF, 0xFF};
  std::ranges::copy(kEmptyBlock, space.begin() + static_cast<std::ptrdiff_t>(end - kFlushBytes));
  return end;
}

}  // namespace

struct StripDeflater::State {
  explicit State(int chosen_level) : level(chosen_level) {
    if (level <= kHuffmanLevel) return;  // ISA-L's state is created for the first strip that needs it
    library.reset(libdeflate_alloc_compressor(kLibraryLevels.at(static_cast<std::size_t>(level))));
    if (library == nullptr) throw std::bad_alloc();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void make_isal() {
    isal = std::make_unique<isal_zstream>();
    // Uninitialised: for each strip, the library clears the part that it uses of these 300 KB.
    level_buffer = std::make_unique_for_overwrite<std::uint8_t[]>(kLevelBufferBytes);
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
    isal->level_buf_size = static_cast<std::uint32_t>(kLevelBufferBytes);
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
    return write_without_matches(strip, block, last);
  }

  // Writes the block, or stored blocks if they are smaller.
  std::size_t write_without_matches(std::span<const unsigned char> strip, const StripBlock& block,
                                    bool last) {
    const std::size_t stored = stored_bytes(strip.size());
    const std::size_t least = std::min(block.bytes(last), stored);
    std::uint8_t* space = space_for(least + StripBlock::kSlack).data();
    if (stored == least) {
      write_stored(strip, last, space);
    } else {
      if (pairs == nullptr && strip.size() >= kMinPairStripBytes)
        pairs = std::make_unique_for_overwrite<PairTable>();
      block.write(strip, last, pairs.get(), space);
    }
    return least;
  }

  // Returns space for at least `bytes`, in whole steps; pages that are never written take no memory.
  std::span<unsigned char> space_for(std::size_t bytes) {
    return space_after(0, (bytes + kSpaceStepBytes - 1) / kSpaceStepBytes * kSpaceStepBytes);
  }

  std::size_t store(std::span<const std::byte> bytes, bool last) {
    const std::size_t made = stored_bytes(bytes.size());
    write_stored({chars(bytes.data()), bytes.size()}, last, space_for(made).data());
    return made;
  }

  std::size_t compress_libdeflate(std::span<const std::byte> bytes, bool last) {
    const std::span strip(chars(bytes.data()), bytes.size());
    const StripBlock block(count_tokens(strip));
    const std::size_t least = std::min(block.bytes(last), stored_bytes(strip.size()));
    // libdeflate returns 0 if its result does not fit.
    constexpr std::size_t kEndBytes = 16;  // the flush, and bytes that libdeflate leaves unused
    const std::span<unsigned char> space = space_for(least + 2 * kEndBytes);
    std::size_t made = libdeflate_deflate_compress(library.get(), strip.data(), strip.size(), space.data(),
                                                   least + kEndBytes);
    if (made > 0 && !last) {
      if (finder == nullptr) finder = std::make_unique<BlockFinder>();
      made = open_end(space, made, *finder);
    }
    return made > 0 && made < least ? made : write_without_matches(strip, block, last);
  }

  int level;
  std::unique_ptr<isal_zstream> isal;
  std::unique_ptr<std::uint8_t[]> level_buffer;
  std::unique_ptr<PairTable> pairs;
  std::unique_ptr<libdeflate_compressor, FreeCompressor> library;
  std::unique_ptr<BlockFinder> finder;
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
  // libdeflate's compressors take 0.4 to 0.8 MB up to its level 9, above that up to 9 MB.
  constexpr std::int64_t kFastBytes = std::int64_t{1} << 20, kThoroughBytes = std::int64_t{10} << 20;
  constexpr std::int64_t kFinderBytes = sizeof(BlockFinder) + (std::int64_t{48} << 10);  // with zlib's window
  const auto space_after =
      static_cast<std::int64_t>(State::first_space_bytes(static_cast<std::size_t>(strip_bytes)));
  std::int64_t state = 64;
  if (level == kHuffmanLevel)
    state += static_cast<std::int64_t>(sizeof(isal_zstream) + kLevelBufferBytes) +
             repeats_working_bytes(strip_bytes);
  if (level > kHuffmanLevel)
    state += kFinderBytes +
             (kLibraryLevels.at(static_cast<std::size_t>(level)) < 10 ? kFastBytes : kThoroughBytes);
  if (level >= kHuffmanLevel && strip_bytes >= static_cast<std::int64_t>(kMinPairStripBytes))
    state += sizeof(PairTable);
  // If the space is too small, it grows: the old space and a new one of up to twice the size coexist.
  return state + (max_compressed_bytes(strip_bytes) > space_after ? 3 * space_after : space_after);
}

std::int64_t max_compressed_bytes(std::int64_t strip_bytes) {
  constexpr std::int64_t kEnds = 256;  // the stored beginning, tables, the flush
  return strip_bytes + strip_bytes / 4096 + kEnds;
}

StripDeflater::~StripDeflater() = default;
StripDeflater::StripDeflater(StripDeflater&&) noexcept = default;
StripDeflater& StripDeflater::operator=(StripDeflater&&) noexcept = default;

std::span<const std::byte> StripDeflater::compress(std::span<const std::byte> strip, bool last) {
  try {
    const std::size_t made = state_->level == kStoredLevel    ? state_->store(strip, last)
                             : state_->level == kHuffmanLevel ? state_->compress_huffman(strip, last)
                                                              : state_->compress_libdeflate(strip, last);
    return {state_->out.get(), made};
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to compress");
  }
}

std::vector<std::byte> zlib_stream(std::span<const std::byte> bytes) {
  constexpr int kLevel = 6;
  if (bytes.size() > std::numeric_limits<unsigned>::max() / 2)
    throw Error(ErrorKind::memory, "too much metadata to compress");
  z_stream zlib{};
  if (deflateInit2(&zlib, kLevel, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorKind::memory, "not enough memory to compress");
  const std::unique_ptr<z_stream, decltype([](z_stream* stream) { deflateEnd(stream); })> end(&zlib);
  std::vector<std::byte> stream(deflateBound(&zlib, bytes.size()));
  zlib.next_in = const_cast<unsigned char*>(chars(bytes.data()));
  zlib.avail_in = static_cast<unsigned>(bytes.size());
  zlib.next_out = reinterpret_cast<unsigned char*>(stream.data());
  zlib.avail_out = static_cast<unsigned>(stream.size());
  if (deflate(&zlib, Z_FINISH) != Z_STREAM_END) throw Error(ErrorKind::memory, "zlib could not compress");
  stream.resize(stream.size() - zlib.avail_out);
  return stream;
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
  if constexpr (kAdlerReadsAfter == 0) return isal_adler32(before, chars(bytes.data()), bytes.size());
  const std::size_t tail = std::min(bytes.size(), kAdlerReadsAfter);
  std::array<std::byte, 2 * kAdlerReadsAfter> last{};
  std::ranges::copy(bytes.last(tail), last.begin());
  const std::uint32_t head = isal_adler32(before, chars(bytes.data()), bytes.size() - tail);
  return isal_adler32(head, chars(last.data()), tail);
}

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return crc32_gzip_refl(before, chars(bytes.data()), bytes.size());
}

std::uint32_t adler32_joined(std::uint32_t first, std::uint32_t second, std::int64_t bytes) {
  // RFC 1950: the low half is 1 plus the sum of the bytes, the high half the sum of all its values.
  constexpr std::uint64_t kModulus = 65521;
  const std::uint64_t before = (first & 0xFFFF) + kModulus - 1;  // the sum of the first part's bytes
  const std::uint64_t low = (before + (second & 0xFFFF)) % kModulus;
  const std::uint64_t repeated = before % kModulus * (static_cast<std::uint64_t>(bytes) % kModulus);
  const std::uint64_t high = (repeated + (first >> 16) + (second >> 16)) % kModulus;
  return static_cast<std::uint32_t>(high << 16 | low);
}

std::string deflate_versions() {
  const auto deflate_version = [] {
    libdeflate_free_compressor(nullptr);  // loads the library, which does not tell its version
    return LIBDEFLATE_VERSION_STRING;
  };
  return "ISA-L " + std::to_string(ISAL_MAJOR_VERSION) + "." + std::to_string(ISAL_MINOR_VERSION) + "." +
         std::to_string(ISAL_PATCH_VERSION) + ", " + library_version("libdeflate", deflate_version) + ", " +
         library_version("zlib", [] { return zlibVersion(); });
}

}  // namespace imgpipe
