#include "images/codecs/animation.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "images/error.h"
#include "images/files/input_file.h"
#include "images/image.h"
#include "images/memory/available_memory.h"
#include "images/unreachable.h"

namespace imgpipe {
namespace {

using FileBytes = std::shared_ptr<const std::vector<std::byte>>;
using Disposal = AnimationFrame::Disposal;

// Puts pixels over those of the canvas; neither is premultiplied (PNG specification, 3rd edition, 13.16).
// Both results are exact quotients, rounded half up.
template <class T>
void blend_exactly(const T* from, std::int64_t pixels, int channels, T* canvas) {
  constexpr std::uint64_t kMost = kLargest<T>;
  const int alpha = channels - 1;
  for (std::int64_t x = 0; x < pixels; ++x, from += channels, canvas += channels) {
    if (from[alpha] == 0) continue;
    const std::uint64_t over = from[alpha] * kMost, under = canvas[alpha] * (kMost - from[alpha]);
    const std::uint64_t total = over + under;
    for (int c = 0; c < alpha; ++c)
      canvas[c] = static_cast<T>((from[c] * over + canvas[c] * under + total / 2) / total);
    canvas[alpha] = static_cast<T>((total + kMost / 2) / kMost);
  }
}

// Copies rows; adds opaque alpha, or drops alpha, if the channels differ by it.
void copy_rows(ConstHostView from, HostView to) {
  if (from.channels == to.channels) return copy_pixels(from, to);
  visit_sample(from.sample, [&]<class T>(T) {
    const int colors = std::min(from.channels, to.channels);
    for (std::int64_t y = 0; y < from.height; ++y) {
      const T* in = from.as<T>().row(y);
      T* out = to.as<T>().row(y);
      for (std::int64_t x = 0; x < from.width; ++x, in += from.channels, out += to.channels) {
        std::copy_n(in, colors, out);
        if (to.channels > colors) out[colors] = static_cast<T>(kLargest<T>);
      }
    }
  });
}

class Animation {
 public:
  // `still`: the header of the first frame as a single image.
  Animation(FileBytes file, const AnimationCodec& codec, std::vector<AnimationFrame> frames,
            const ImageHeader& still, const DecodeOptions& options)
      : file_(std::move(file)),
        codec_(codec),
        frames_(std::move(frames)),
        options_(options),
        header_(still),
        canvas_shape_(still.shape) {
    const int colors = still.shape.color_channels();
    header_.more_images = false;
    if (may_be_transparent()) header_.shape.channels = colors + 1;
    canvas_shape_.channels = colors + 1;
  }

  [[nodiscard]] const ImageHeader& header() const { return header_; }  // of every page
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(frames_.size()); }

  // Opens a frame's area alone. Throws Error(input).
  [[nodiscard]] OpenFrame open(std::size_t index) const {
    const AnimationFrame& frame = frames_[index];
    if (!frame.fault.empty()) throw Error(ErrorKind::input, frame.fault);
    OpenFrame opened = codec_.open(*file_, frame, options_);
    const Shape& shape = opened.reader->header().shape;
    if (shape.width != frame.area.width || shape.height != frame.area.height ||
        shape.sample != canvas_shape_.sample || shape.color_channels() != canvas_shape_.color_channels())
      throw Error(ErrorKind::usage, "the reader of a frame has another shape than the frame");
    return opened;
  }

  // The bytes held for all frames: the file, and at most three canvases.
  [[nodiscard]] std::int64_t held_bytes() const {
    return static_cast<std::int64_t>(file_->size()) + 3 * canvas_shape_.bytes();
  }

  // Copies the canvas that shows a frame. Adds warnings about the frames that it decodes. Thread-safe.
  void compose(std::size_t index, HostView out, std::vector<std::string>& warnings) {
    const std::lock_guard lock(mutex_);
    if (shown_ != index) {
      std::size_t next = index;
      while (!(shown_ && *shown_ + 1 == next) && !is_start(next)) --next;
      for (; next <= index; ++next) draw(next, index, warnings);
    }
    copy_rows(std::as_const(canvas_).untyped_view(), out);
  }

 private:
  [[nodiscard]] FrameArea whole() const { return {0, 0, canvas_shape_.width, canvas_shape_.height}; }
  [[nodiscard]] bool covers(const FrameArea& area) const {
    return area.covers(canvas_shape_.width, canvas_shape_.height);
  }

  // Whether no earlier frame is visible in this one or, when it is undone, in a later one.
  [[nodiscard]] bool is_start(std::size_t index) const {
    if (index == 0) return true;
    const AnimationFrame &frame = frames_[index], &previous = frames_[index - 1];
    const bool replaces_all =
        covers(frame.area) && (frame.opaque || !frame.blends) && frame.disposal != Disposal::restore;
    return replaces_all || (covers(previous.area) && previous.disposal == Disposal::clear);
  }

  // Derived from the headers, so that the type of every page is known before any is decoded.
  [[nodiscard]] bool may_be_transparent() const {
    if (header_.shape.has_alpha()) return true;
    bool below = true;  // the canvas below the next frame is opaque; open_reader() has decided on the first
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      const bool before = i > 0 && below;
      const AnimationFrame &frame = frames_[i], &next = frames_[i + 1];
      switch (frame.disposal) {
        case Disposal::keep:
          below = true;
          break;
        case Disposal::clear:
          below = false;
          break;
        case Disposal::restore:
          below = before;
          break;
      }
      const bool stays_opaque = below && (next.opaque || next.blends);
      if (!stays_opaque && !(covers(next.area) && next.opaque)) return true;
    }
    return false;
  }

  [[nodiscard]] Image pixels_of(std::size_t index, std::vector<std::string>& warnings) const {
    const OpenFrame opened = open(index);
    Reader& reader = *opened.reader;
    const Shape& stored = reader.header().shape;
    Shape shape = stored;
    shape.channels = canvas_shape_.channels;
    check_available(shape.bytes() + reader.working_bytes(true));
    Image pixels(shape);
    if (stored == shape) {
      reader.read_rows(pixels.untyped_view());
    } else {
      constexpr std::int64_t kRowsAtOnce = 16;
      Image band({stored.width, std::min(stored.height, kRowsAtOnce), stored.channels, stored.sample});
      for (std::int64_t y = 0; y < stored.height; y += kRowsAtOnce) {
        const std::int64_t count = std::min(kRowsAtOnce, stored.height - y);
        reader.read_rows(band.untyped_view().rows(0, count));
        copy_rows(std::as_const(band).untyped_view().rows(0, count), pixels.untyped_view().rows(y, count));
      }
    }
    warnings.insert(warnings.end(), reader.warnings().begin(), reader.warnings().end());
    return pixels;
  }

  [[nodiscard]] HostView part(const FrameArea& area) {
    const HostView rows = canvas_.untyped_view().rows(area.y, area.height);
    Shape shape = canvas_shape_;
    shape.width = area.width;
    shape.height = area.height;
    const std::int64_t pixel_bytes = canvas_shape_.row_bytes() / canvas_shape_.width;
    return {rows.data + area.x * pixel_bytes, shape, rows.stride_bytes};
  }

  void clear(const FrameArea& area) {
    const HostView rows = part(area);
    for (std::int64_t y = 0; y < rows.height; ++y)
      std::memset(rows.row(y), 0, static_cast<std::size_t>(rows.row_bytes()));
  }

  void dispose_of(const AnimationFrame& frame) {
    switch (frame.disposal) {
      case Disposal::keep:
        cleared_ = {};
        return;
      case Disposal::clear:
        clear(frame.area);
        if (!covers(cleared_)) cleared_ = frame.area;
        return;
      case Disposal::restore:
        copy_pixels(std::as_const(covered_).untyped_view(), part(frame.area));
        return;
    }
    unreachable();
  }

  // Draws a frame on the canvas of the previous one, on the path to frame `wanted`. Changes nothing if its
  // pixels are damaged.
  void draw(std::size_t index, std::size_t wanted, std::vector<std::string>& warnings) {
    const AnimationFrame& frame = frames_[index];
    const Image pixels =
        index == wanted ? pixels_of(index, warnings)
                        : naming("an earlier frame is damaged", [&] { return pixels_of(index, warnings); });
    Image covered;
    if (frame.disposal == Disposal::restore) covered = Image(pixels.shape());
    if (canvas_.empty()) canvas_ = Image(canvas_shape_);
    if (is_start(index)) {
      clear(whole());
      cleared_ = whole();
    } else {
      dispose_of(frames_[index - 1]);
    }
    if (!covered.empty()) copy_pixels(part(frame.area), covered.untyped_view());
    covered_ = std::move(covered);
    put(pixels.untyped_view(), frame);
    shown_ = index;
  }

  // Where the canvas was cleared just before, pixels replace it. As in libwebp's animation decoder, this
  // preserves the colours of transparent pixels.
  void put(ConstHostView pixels, const AnimationFrame& frame) {
    const HostView to = part(frame.area);
    if (!frame.blends) return copy_pixels(pixels, to);
    const std::int64_t from = std::clamp<std::int64_t>(cleared_.x - frame.area.x, 0, to.width);
    const std::int64_t end = std::clamp(cleared_.x + cleared_.width - frame.area.x, from, to.width);
    const std::int64_t pixel_bytes = to.row_bytes() / to.width;
    for (std::int64_t y = 0; y < to.height; ++y) {
      const std::int64_t canvas_y = frame.area.y + y;
      const bool cleared = canvas_y >= cleared_.y && canvas_y < cleared_.y + cleared_.height;
      const std::int64_t first = cleared ? from : 0, last = cleared ? end : 0;
      blend(pixels.row(y), first, to.row(y));
      std::memcpy(to.row(y) + first * pixel_bytes, pixels.row(y) + first * pixel_bytes,
                  static_cast<std::size_t>((last - first) * pixel_bytes));
      blend(pixels.row(y) + last * pixel_bytes, to.width - last, to.row(y) + last * pixel_bytes);
    }
  }

  void blend(const std::byte* from, std::int64_t count, std::byte* to) const {
    visit_sample(canvas_shape_.sample, [&]<class T>(T) {
      const auto* in = reinterpret_cast<const T*>(from);
      auto* out = reinterpret_cast<T*>(to);
      if constexpr (!kIsWide<T>) {
        if (codec_.blend != nullptr) return codec_.blend(in, count, out);
      }
      blend_exactly(in, count, canvas_shape_.channels, out);
    });
  }

  const FileBytes file_;
  const AnimationCodec codec_;
  const std::vector<AnimationFrame> frames_;
  const DecodeOptions options_;
  ImageHeader header_;
  Shape canvas_shape_;  // with alpha

  std::mutex mutex_;  // guards the rest
  Image canvas_;
  std::optional<std::size_t> shown_;  // the frame that the canvas shows
  FrameArea cleared_;                 // what was transparent, by disposal, before that frame was drawn
  Image covered_;                     // the canvas below that frame, if it will be restored
};

class FrameReader final : public WholeImageReader {
 public:
  FrameReader(std::shared_ptr<Animation> animation, std::size_t index,
              const std::vector<std::string>& warnings, const DecodeOptions& options)
      : WholeImageReader(options.memory), animation_(std::move(animation)), index_(index) {
    header_ = animation_->header();
    warnings_ = warnings;
    const OpenFrame opened = animation_->open(index_);
    frame_bytes_ = opened.reader->working_bytes(true) + static_cast<std::int64_t>(opened.file.size());
    library_bytes_ = opened.reader->library_bytes(true);
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return WholeImageReader::working_bytes(whole) + animation_->held_bytes() + frame_bytes_;
  }
  [[nodiscard]] std::int64_t library_bytes(bool) const override { return library_bytes_; }

 protected:
  void decode(HostView whole) override { animation_->compose(index_, whole, warnings_); }

 private:
  std::shared_ptr<Animation> animation_;
  std::size_t index_;
  std::int64_t frame_bytes_ = 0, library_bytes_ = 0;
};

class AnimationPages final : public Pages {
 public:
  AnimationPages(std::shared_ptr<Animation> animation, FileBytes metadata, std::vector<std::string> warnings,
                 std::string warning)
      : animation_(std::move(animation)), metadata_(std::move(metadata)), warnings_(std::move(warnings)) {
    warning_ = std::move(warning);
  }

  [[nodiscard]] std::int64_t size() const override { return animation_->size(); }

  [[nodiscard]] InputFile page(std::int64_t index, Part) const override {
    return {metadata_, [animation = animation_, index, warnings = warnings_](const DecodeOptions& options) {
              std::unique_ptr<Reader> reader = std::make_unique<FrameReader>(
                  animation, static_cast<std::size_t>(index), warnings, options);
              if (!options.orient || reader->header().orientation == Orientation::upright) return reader;
              return make_oriented_reader(std::move(reader), options.memory);
            }};
  }

 private:
  std::shared_ptr<Animation> animation_;
  FileBytes metadata_;
  std::vector<std::string> warnings_;  // of the reader of the first frame as a single image
};

FileBytes whole_file(const InputFile& file, const DecodeOptions& options) {
  const std::int64_t size = file.size_bytes();
  if (size > max_file_bytes(options))
    throw Error(ErrorKind::input, "too long: " + std::to_string(size) + " bytes, the limit is " +
                                      std::to_string(max_file_bytes(options)));
  check_available(size);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  bytes.resize(file.read_at(0, bytes));
  return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

}  // namespace

std::unique_ptr<Pages> open_animation(const InputFile& file, const DecodeOptions& options,
                                      const AnimationCodec& codec) {
  FileBytes bytes = whole_file(file, options);
  DecodeOptions still = options;
  still.orient = false;
  still.codec = CodecChoice::automatic;
  const std::unique_ptr<Reader> first = open_reader(*bytes, still);
  FrameList list = codec.frames(*bytes);
  if (list.frames.size() < 2) return nullptr;
  if (list.frames.size() > kMaxFrames)
    throw Error(ErrorKind::input, "more than " + std::to_string(kMaxFrames) + " frames");
  if (!list.fault.empty() && !options.lenient()) throw Error(ErrorKind::input, list.fault);
  auto metadata = std::make_shared<const std::vector<std::byte>>(codec.metadata_file(*bytes));
  auto animation =
      std::make_shared<Animation>(std::move(bytes), codec, std::move(list.frames), first->header(), still);
  return std::make_unique<AnimationPages>(std::move(animation), std::move(metadata), first->warnings(),
                                          std::move(list.fault));
}

}  // namespace imgpipe
