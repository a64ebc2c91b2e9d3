#include "images/sha256.h"

#include <algorithm>
#include <bit>
#include <functional>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace imgpipe {
namespace {

constexpr std::size_t kHashBlockBytes = sizeof(Sha256::Block);

// The first 32 bits of the fractional parts of the square roots of the first 8 primes (5.3.3).
constexpr Sha256::State kInitial{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// The same of the cube roots of the first 64 primes (4.2.2).
alignas(16) constexpr std::array<std::uint32_t, 64> kRounds{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t word_at(const std::byte* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return word;
}

void add_blocks_portable(Sha256::State& state, const std::byte* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += kHashBlockBytes) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t t = 0; t < 16; ++t) w[t] = word_at(blocks + 4 * t);
    for (std::size_t t = 16; t < 64; ++t) {
      const std::uint32_t a = w[t - 2], b = w[t - 15];
      w[t] = (std::rotr(a, 17) ^ std::rotr(a, 19) ^ a >> 10) + w[t - 7] +
             (std::rotr(b, 7) ^ std::rotr(b, 18) ^ b >> 3) + w[t - 16];
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
      const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                               ((e & f) ^ (~e & g)) + kRounds[t] + w[t];
      const std::uint32_t t2 =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const Sha256::State added{a, b, c, d, e, f, g, h};
    std::ranges::transform(state, added, state.begin(), std::plus());
  }
}

#if defined(__x86_64__)
bool has_sha_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

// The instructions hold the state as ABEF and CDGH, and do four rounds with each four words of the schedule.
[[gnu::target("sha,sse4.1,ssse3")]] void add_blocks_sha(Sha256::State& state, const std::byte* blocks,
                                                        std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  auto* const halves = reinterpret_cast<__m128i*>(state.data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
  for (; count > 0; --count, blocks += kHashBlockBytes) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4] = {};  // the last 16 words of the schedule
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
      __m128i& now = w[i % 4];
      if (i < 4) {
        now = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), big_endian);
      } else {
        const __m128i before = w[(i + 3) % 4];
        const __m128i seven_ago = _mm_alignr_epi8(before, w[(i + 2) % 4], 4);
        now =
            _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), seven_ago), before);
      }
      const __m128i added =
          _mm_add_epi32(now, _mm_load_si128(reinterpret_cast<const __m128i*>(kRounds.data()) + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

}  // namespace

Sha256::Sha256(bool portable) : add_blocks_(add_blocks_portable), state_(kInitial) {
#if defined(__x86_64__)
  static const bool has_instructions = has_sha_instructions();
  if (has_instructions && !portable) add_blocks_ = add_blocks_sha;
#else
  (void)portable;
#endif
}

void Sha256::add(std::span<const std::byte> bytes) {
  const std::size_t held = bytes_ % kHashBlockBytes;
  bytes_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(kHashBlockBytes - held, bytes.size());
    std::ranges::copy(bytes.first(taken), rest_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(taken);
    if (held + taken < kHashBlockBytes) return;
    add_blocks_(state_, rest_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / kHashBlockBytes;
  if (blocks > 0) add_blocks_(state_, bytes.data(), blocks);
  std::ranges::copy(bytes.subspan(blocks * kHashBlockBytes), rest_.begin());
}

std::string Sha256::hex() const {
  Sha256 padded(*this);
  const std::uint64_t bits = bytes_ * 8;
  std::array<std::byte, kHashBlockBytes + 8> padding{std::byte{0x80}};
  const std::size_t zeros = (2 * kHashBlockBytes - 9 - bytes_ % kHashBlockBytes) % kHashBlockBytes;
  for (std::size_t i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  padded.add(std::span(padding).first(1 + zeros + 8));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : padded.state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15];
  return text;
}

std::string sha256(std::string_view bytes) {
  Sha256 digest;
  digest.add(std::as_bytes(std::span(bytes)));
  return digest.hex();
}

}  // namespace imgpipe
