// Reads any bytes as a stream of images, in blocks of several sizes. The images and the end do not depend on
// the block size. The images follow one another, and each is found again when it is read alone.
#include <algorithm>
#include <string>
#include <vector>

#include "images/error.h"
#include "images/formats/image_stream.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using Bytes = std::span<const std::byte>;

void demand(bool condition) {
  if (!condition) __builtin_trap();
}

struct Found {
  std::vector<std::int64_t> at;
  std::vector<std::vector<std::byte>> images;
  std::string end;  // the error message; empty: none

  bool operator==(const Found&) const = default;
};

Found images_of(Bytes stream, std::size_t read_size, bool lenient) {
  std::size_t given = 0;
  const imgpipe::ByteSource source = [&](std::span<std::byte> buffer) {
    const std::size_t count = std::min({read_size, buffer.size(), stream.size() - given});
    std::ranges::copy(stream.subspan(given, count), buffer.begin());
    given += count;
    return count;
  };
  imgpipe::DecodeOptions options;
  options.accept = lenient ? imgpipe::Acceptance::lenient : imgpipe::Acceptance::strict;
  options.max_pixels = 1 << 22;
  imgpipe::ImageStream images(source, options);
  Found found;
  try {
    while (!images.at_end()) {
      found.at.push_back(images.offset());
      found.images.push_back(images.next());
      demand(images.images() == static_cast<std::int64_t>(found.images.size()));
    }
  } catch (const imgpipe::Error& error) {
    demand(error.kind() == imgpipe::ErrorKind::input);
    found.end = error.what();
    found.images.resize(found.at.size() - 1);
  }
  demand(images.read_bytes() <= static_cast<std::int64_t>(stream.size()));
  return found;
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_stream) {
  if (size == 0) return 0;
  const bool lenient = (data[0] & 1) != 0;
  const std::size_t read_size = 1 + data[0] / 2;
  const Bytes stream = std::as_bytes(std::span(data, size)).subspan(1);
  const Found found = images_of(stream, stream.size() + 1, lenient);
  demand(images_of(stream, read_size, lenient) == found);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < found.images.size(); ++i) {
    const std::vector<std::byte>& image = found.images[i];
    demand(!image.empty() && found.at[i] >= end);
    end = found.at[i] + static_cast<std::int64_t>(image.size());
    demand(end <= static_cast<std::int64_t>(stream.size()));
    demand(std::ranges::equal(image, stream.subspan(static_cast<std::size_t>(found.at[i]), image.size())));
    if (!imgpipe::format_by_content(image)) continue;  // only a start marker
    const Found alone = images_of(image, read_size, true);
    demand(!alone.images.empty() && alone.images.front() == image);
  }
  return 0;
}
