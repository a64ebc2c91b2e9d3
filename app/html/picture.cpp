#include "app/html/picture.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "app/html/html_text.h"
#include "app/report/count_image.h"
#include "images/image.h"
#include "images/memory/available_memory.h"
#include "kernels/shared/convert.h"
#include "pipeline/file_encoding.h"

namespace imgpipe {
namespace {

// Accumulates the image's samples for each pixel of the picture.
class AreaMeans {
 public:
  AreaMeans(const Shape& image, const Shape& small)
      : image_(image),
        small_(small),
        sums_(static_cast<std::size_t>(small.samples())),
        pixels_(static_cast<std::size_t>(small.pixels())) {}

  void add(std::int64_t first, const ConstHostView& rows) {
    for (std::int64_t y = 0; y < rows.height; ++y) {
      const std::int64_t to_row = (first + y) * small_.height / image_.height * small_.width;
      const std::byte* from = rows.data + y * rows.stride_bytes;
      visit_any_sample(image_.sample, [&]<class T>(T) { add_row(reinterpret_cast<const T*>(from), to_row); });
    }
  }

  // Returns the means as 8-bit samples, rounded half up.
  [[nodiscard]] Image picture() const {
    Image picture(small_);
    auto* out = reinterpret_cast<Sample8*>(picture.untyped_view().data);
    const auto white = static_cast<std::uint64_t>(max_sample(shown_sample()));
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::uint64_t whole = pixels_[i / static_cast<std::size_t>(small_.channels)] * white;
      out[i] = static_cast<Sample8>((2 * sums_[i] * 255 + whole) / (2 * whole));
    }
    return picture;
  }

 private:
  // Floats are summed as 16 bits, limited to 0..1.
  [[nodiscard]] Sample shown_sample() const { return is_float(image_.sample) ? Sample::u16 : image_.sample; }

  template <class T>
  void add_row(const T* from, std::int64_t to_row) {
    const auto channels = static_cast<std::size_t>(image_.channels);
    for (std::int64_t x = 0; x < image_.width; ++x) {
      const auto to = static_cast<std::size_t>(to_row + x * small_.width / image_.width);
      for (std::size_t c = 0; c < channels; ++c) {
        if constexpr (kIsFloat<T>)
          sums_[to * channels + c] += converted<Sample16>(*from++);
        else
          sums_[to * channels + c] += *from++;
      }
      ++pixels_[to];
    }
  }

  Shape image_, small_;
  std::vector<std::uint64_t> sums_, pixels_;
};

std::int64_t scaled(std::int64_t side, std::int64_t longest, int most) {
  return std::max<std::int64_t>(1, longest <= most ? side : side * most / longest);
}

}  // namespace

Picture make_picture(Reader& reader, int max_side) {
  constexpr std::int64_t kRows = 64;
  const Shape& shape = reader.header().shape;
  const std::int64_t longest = std::max(shape.width, shape.height);
  Picture picture{.shape = shape,
                  .small = {scaled(shape.width, longest, max_side), scaled(shape.height, longest, max_side),
                            shape.channels},
                  .png = {},
                  .counts = {{}, shape.sample}};
  check_available(reader.working_bytes(false) + kRows * shape.row_bytes());
  AreaMeans means(shape, picture.small);
  Image rows({shape.width, std::min(kRows, shape.height), shape.channels, shape.sample});
  for (std::int64_t y = 0; y < shape.height; y += kRows) {
    HostView band = rows.untyped_view();
    band.height = std::min(kRows, shape.height - y);
    reader.read_rows(band);
    means.add(y, band);
    if (is_float(shape.sample)) continue;
    const Counts counted = count_image(band);
    if (picture.counts.values.empty()) picture.counts.values.resize(counted.values.size());
    std::ranges::transform(counted.values, picture.counts.values, picture.counts.values.begin(), std::plus());
  }
  const Image small = means.picture();
  const std::unique_ptr<Writer> writer = make_writer(Format::png, small.shape(), {.png_level = 9});
  HostThreads threads(1);
  Timeline unreported;
  picture.png = base64(encode_image(small.untyped_view(), *writer, threads, unreported).joined());
  return picture;
}

}  // namespace imgpipe
