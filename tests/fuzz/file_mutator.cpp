// libFuzzer's mutations for image files, with the structure kept that readers check first: signatures; in
// AVIF, HEIC and JPEG XL the sizes of boxes and the offsets of the image data; in PNG the checksums of
// chunks. Without it, most mutations end in another reader or at the first check.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include <zlib.h>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

namespace {

using namespace std::string_view_literals;
using Data = std::vector<std::uint8_t>;

std::uint32_t number_at(const Data& file, std::size_t at) {
  return std::uint32_t{file[at]} << 24 | std::uint32_t{file[at + 1]} << 16 |
         std::uint32_t{file[at + 2]} << 8 | file[at + 3];
}

void set_number(Data& file, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) file[at + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

bool has_text(const Data& file, std::size_t at, std::string_view text) {
  return at + text.size() <= file.size() && std::memcmp(file.data() + at, text.data(), text.size()) == 0;
}

void change_bytes(Data& file, std::size_t begin, std::size_t end, std::mt19937& random) {
  if (begin >= end) return;
  constexpr std::array<std::uint8_t, 8> kSpecial{0, 1, 2, 4, 0x7F, 0x80, 0xFE, 0xFF};
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    std::uint8_t& byte = file[begin + random() % (end - begin)];
    switch (random() % 3) {
      case 0:
        byte ^= static_cast<std::uint8_t>(1U << random() % 8);
        break;
      case 1:
        byte = kSpecial[random() % kSpecial.size()];
        break;
      default:
        byte = static_cast<std::uint8_t>(random());
    }
  }
}

// ---- boxes --------------------------------------------------------------------------------------------

struct FileBox {
  std::size_t begin = 0, end = 0;
  std::vector<std::size_t> sizes;  // offsets of its size field, if it has one, and of those around it
};

void find_boxes(const Data& file, std::size_t begin, std::size_t end, const std::vector<std::size_t>& outer,
                std::vector<FileBox>& boxes) {
  while (begin + 8 <= end) {
    const std::size_t said = number_at(file, begin), size = said == 0 ? end - begin : said;
    if (size < 8 || size > end - begin) return;
    FileBox box{begin, begin + size, outer};
    if (said != 0) box.sizes.push_back(begin);
    std::size_t content = 0;  // 0: not a container
    for (const std::string_view type :
         {"iprp"sv, "ipco"sv, "moov"sv, "trak"sv, "mdia"sv, "minf"sv, "stbl"sv, "dinf"sv})
      if (has_text(file, begin + 4, type)) content = 8;
    if (has_text(file, begin + 4, "meta"sv) || has_text(file, begin + 4, "iref"sv)) content = 12;
    if (has_text(file, begin + 4, "iinf"sv)) content = 14;
    if (content > 0 && content < size) find_boxes(file, begin + content, box.end, box.sizes, boxes);
    begin = box.end;
    boxes.push_back(std::move(box));
  }
}

// Replaces a part of a box, and corrects the sizes at `sizes` and the locations of items after it.
void replace(Data& file, std::size_t begin, std::size_t end, const Data& content,
             const std::vector<std::size_t>& sizes, const std::vector<FileBox>& boxes) {
  const auto change = static_cast<std::uint32_t>(content.size() - (end - begin));
  for (const std::size_t at : sizes) set_number(file, at, number_at(file, at) + change);
  for (const FileBox& box : boxes) {
    if (!has_text(file, box.begin + 4, "iloc"sv)) continue;
    for (std::size_t at = box.begin + 16; at + 4 <= box.end; ++at) {
      const std::uint32_t offset = number_at(file, at);
      if (offset >= end && offset < file.size()) set_number(file, at, offset + change);
    }
  }
  const auto first = file.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto next = file.erase(first, first + static_cast<std::ptrdiff_t>(end - begin));
  file.insert(next, content.begin(), content.end());
}

void change_boxes(Data& file, std::mt19937& random) {
  std::vector<FileBox> boxes;
  find_boxes(file, 0, file.size(), {}, boxes);
  if (boxes.empty()) return;
  const FileBox& box = boxes[random() % boxes.size()];
  std::vector<std::size_t> outer = box.sizes;
  std::erase(outer, box.begin);
  const auto at = [&](std::size_t offset) { return file.begin() + static_cast<std::ptrdiff_t>(offset); };
  switch (random() % 16) {
    case 0:
      if (box.begin > 0) replace(file, box.begin, box.end, {}, outer, boxes);
      return;
    case 1: {
      const Data copy(at(box.begin), at(box.end));
      replace(file, box.end, box.end, copy, outer, boxes);
      return;
    }
    case 2:
    case 3:
    case 4: {
      Data content(at(box.begin + 8), at(box.end));
      const std::size_t size = content.size();
      content.resize(size + 64);
      content.resize(LLVMFuzzerMutate(content.data(), size, content.size()));
      replace(file, box.begin + 8, box.end, content, box.sizes, boxes);
      return;
    }
    default:
      change_bytes(file, box.begin + 8, box.end, random);
  }
}

// ---- other formats ------------------------------------------------------------------------------------

void correct_checksums(Data& file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length = number_at(file, at);
    if (length > file.size() - at - 12) return;
    const uLong checksum = ::crc32(0, file.data() + at + 4, static_cast<uInt>(length + 4));
    set_number(file, at + 8 + length, static_cast<std::uint32_t>(checksum));
    at += length + 12;
  }
}

// Returns the length of the signature, which stays.
std::size_t signature_of(const Data& file) {
  for (const std::string_view text : {"\xFF\x0A"sv, "\xFF\xD8\xFF"sv, "\x89PNG\r\n\x1A\n"sv, "GIF89a"sv,
                                      "GIF87a"sv, "RIFF"sv, "8BPS"sv, "BM"sv, "II*\0"sv, "MM\0*"sv})
    if (has_text(file, 0, text)) return text.size();
  return 0;
}

void mutate(Data& file, std::size_t max_size, std::mt19937& random) {
  const bool has_boxes = has_text(file, 4, "ftyp"sv) || has_text(file, 4, "JXL "sv);
  const std::size_t kept = has_boxes ? std::min<std::size_t>(file.size(), 12) : signature_of(file);
  const Data signature(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(kept));
  if (has_boxes && random() % 4 != 0) {
    change_boxes(file, random);
  } else if (kept == 2 && file[0] == 0xFF && random() % 2 == 0) {
    // A JPEG XL codestream: the headers stay more often than their few bytes would otherwise.
    change_bytes(file, std::min<std::size_t>(file.size(), std::array<std::size_t, 3>{2, 8, 24}[random() % 3]),
                 file.size(), random);
  } else {
    const std::size_t size = file.size();
    file.resize(max_size);
    file.resize(LLVMFuzzerMutate(file.data(), size, max_size));
  }
  std::copy_n(signature.begin(), std::min(kept, file.size()), file.begin());
  if (kept == 8 && random() % 8 != 0) correct_checksums(file);
}

}  // namespace

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                    unsigned seed) {
  std::mt19937 random(seed);
  Data file(data, data + size);
  mutate(file, max_size, random);
  // The last byte selects the decoding variant.
  if (!file.empty() && random() % 8 == 0) file.back() = static_cast<std::uint8_t>(random());
  file.resize(std::min(file.size(), max_size));
  std::copy(file.begin(), file.end(), data);
  return file.size();
}
