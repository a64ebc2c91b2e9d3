// libFuzzer's mutations of JPEGs. Most change bits, bytes and markers of the entropy-coded data, so that our
// own decoder still accepts the header. New files come from tests/support/made_jpegs.h and coded_jpegs.h, so
// no seeds are needed.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/coded_jpegs.h"
#include "tests/support/made_jpegs.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

namespace {

using Data = std::vector<std::uint8_t>;

// Returns the offset just past the SOS segment; 0: none.
std::size_t entropy_start(const Data& file) {
  for (std::size_t at = 2; at + 4 <= file.size() && file[at] == 0xFF;) {
    const std::size_t length = std::size_t{file[at + 2]} << 8 | file[at + 3];
    if (file[at + 1] == 0xDA) return at + 2 + length < file.size() ? at + 2 + length : 0;
    at += 2 + length;
  }
  return 0;
}

Data fresh_file(std::mt19937& random, std::size_t most) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::uint64_t seed = random();
    const std::vector<std::byte> file = random() % 2 == 0
                                            ? imgpipe::test::random_coded_jpeg(seed).file
                                            : imgpipe::test::make_jpeg(imgpipe::test::random_jpeg(seed));
    if (file.size() > most) continue;
    const auto* first = reinterpret_cast<const std::uint8_t*>(file.data());
    return {first, first + file.size()};
  }
  return {};
}

// Returns a byte pair that a decoder treats specially.
Data marker(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return {0xFF, 0xD9};
    case 1:
      return {0xFF, 0x00};
    case 2:
      return {0xFF, 0xFF};
    case 3:
      return {0xFF, static_cast<std::uint8_t>(0xC0 + random() % 64)};
    default:
      return {0xFF, static_cast<std::uint8_t>(0xD0 + random() % 8)};
  }
}

void change(Data& file, std::size_t from, std::mt19937& random) {
  const auto position = [&] { return from + random() % (file.size() - from); };
  const auto at = [&](std::size_t index) { return file.begin() + static_cast<std::ptrdiff_t>(index); };
  switch (random() % 8) {
    case 0:
    case 1:
      file[position()] ^= static_cast<std::uint8_t>(1U << random() % 8);
      return;
    case 2:
      file[position()] = static_cast<std::uint8_t>(random());
      return;
    case 3: {
      const Data inserted = marker(random);
      file.insert(at(position()), inserted.begin(), inserted.end());
      return;
    }
    case 4: {
      const Data written = marker(random);
      const std::size_t first = position();
      std::copy_n(written.begin(), std::min(written.size(), file.size() - first), at(first));
      return;
    }
    case 5: {
      const std::size_t first = position();
      file.erase(at(first), at(std::min(file.size(), first + 1 + random() % 8)));
      return;
    }
    case 6: {
      const std::size_t first = position();
      const Data copied(at(first), at(std::min(file.size(), first + 1 + random() % 64)));
      file.insert(at(position()), copied.begin(), copied.end());
      return;
    }
    default:
      file.resize(position());
  }
}

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                    unsigned seed) {
  std::mt19937 random(seed);
  const auto choice = static_cast<std::uint8_t>(size > 0 && random() % 4 != 0 ? data[size - 1] : random());
  Data file(data, data + (size > 0 ? size - 1 : 0));
  if (file.size() < 4 || random() % 500 == 0) file = fresh_file(random, max_size - 1);
  const std::size_t entropy = entropy_start(file);
  if (entropy == 0 || random() % 16 == 0) {
    const std::size_t held = std::min(file.size(), max_size - 1);
    file.resize(max_size - 1);
    file.resize(LLVMFuzzerMutate(file.data(), held, max_size - 1));
  } else {
    const std::size_t from = random() % 16 == 0 ? 2 : entropy;
    for (unsigned changes = 1 + random() % 3; changes > 0 && file.size() > from; --changes)
      change(file, from, random);
  }
  file.resize(std::min(file.size(), max_size - 1));
  std::copy(file.begin(), file.end(), data);
  data[file.size()] = choice;
  return file.size() + 1;
}
