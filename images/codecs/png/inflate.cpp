#include "images/codecs/png/inflate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <isa-l.h>

#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxInflatedAtOnce = std::size_t{1} << 30;  // the library counts in 32 bits

[[noreturn]] void corrupt(const char* what) {
  throw Error(ErrorKind::input, std::string("corrupt compressed data: ") + what);
}

}  // namespace

struct ZlibInflater::State {
  inflate_state isal{};
};

ZlibInflater::ZlibInflater() : state_(std::make_unique<State>()) {
  restart();
}

void ZlibInflater::restart() noexcept {
  isal_inflate_init(&state_->isal);
  state_->isal.crc_flag = ISAL_ZLIB;
}

ZlibInflater::~ZlibInflater() = default;

bool ZlibInflater::finished() const noexcept {
  return state_->isal.block_state == ISAL_BLOCK_FINISH;
}

std::size_t ZlibInflater::inflate(std::span<const std::byte>& in, std::span<std::byte> out) {
  if constexpr (kAdlerReadsAfter == 0) return inflate_readable_after(in, out);
  const std::size_t tail = std::min(out.size(), kAdlerReadsAfter);
  const std::size_t head = out.size() - tail;
  const std::size_t written = head == 0 ? 0 : inflate_readable_after(in, out.first(head));
  if (written < head) return written;
  std::array<std::byte, 2 * kAdlerReadsAfter> last{};
  const std::size_t more = inflate_readable_after(in, std::span(last).first(tail));
  std::copy_n(last.begin(), more, out.begin() + static_cast<std::ptrdiff_t>(head));
  return head + more;
}

// kAdlerReadsAfter bytes after `out` must be readable.
std::size_t ZlibInflater::inflate_readable_after(std::span<const std::byte>& in, std::span<std::byte> out) {
  inflate_state& isal = state_->isal;
  if (finished()) return 0;
  const std::size_t given = std::min(in.size(), kMaxInflatedAtOnce);
  const std::size_t capacity = std::min(out.size(), kMaxInflatedAtOnce);
  // The library takes a pointer to non-const but does not write through it.
  isal.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(in.data()));
  isal.avail_in = static_cast<std::uint32_t>(given);
  isal.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  isal.avail_out = static_cast<std::uint32_t>(capacity);
  switch (isal_inflate(&isal)) {
    case ISAL_DECOMP_OK:
    case ISAL_END_INPUT:
    case ISAL_OUT_OVERFLOW:
      break;
    case ISAL_INVALID_BLOCK:
      corrupt("invalid block");
    case ISAL_INVALID_SYMBOL:
      corrupt("invalid symbol");
    case ISAL_INVALID_LOOKBACK:
      corrupt("invalid distance");
    case ISAL_INCORRECT_CHECKSUM:
      corrupt("wrong checksum");
    default:
      corrupt("not a zlib stream");
  }
  in = in.subspan(given - isal.avail_in);
  // The library reads ahead; whole bytes left in its bit buffer follow the end of the stream.
  if (finished() && isal.read_in_length >= 8) corrupt("data after the end of the stream");
  return capacity - isal.avail_out;
}

}  // namespace imgpipe
