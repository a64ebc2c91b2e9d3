// libFuzzer's mutations, with the signatures of AVIF, HEIC and JPEG XL restored. Without it, most mutations
// of these files end in another reader.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned) {
  std::array<std::uint8_t, 12> signature{};
  std::size_t kept = 0;
  if (size >= signature.size() &&
      (std::memcmp(data + 4, "ftyp", 4) == 0 || std::memcmp(data + 4, "JXL ", 4) == 0))
    kept = signature.size();
  else if (size >= 2 && data[0] == 0xFF && data[1] == 0x0A)
    kept = 2;
  std::copy_n(data, kept, signature.begin());
  const std::size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  std::copy_n(signature.begin(), std::min(kept, mutated), data);
  return mutated;
}
