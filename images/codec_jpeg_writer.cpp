// JPEG by libjpeg-turbo: baseline, rows taken as they come.
//
// As in codec_jpeg.cpp, the functions that libjpeg jumps back into hold no object with a destructor.
#include <csetjmp>
#include <cstdio>
#include <new>

#include <jpeglib.h>

#include "images/codec_parts.h"
#include "images/error.h"
#include "images/mark.h"

namespace imgpipe {
namespace {

// Up to this quality the colour planes have half the image's size each way, above it the full one: what
// stb_image_write does too.
constexpr int kLastHalvedQuality = 90;

struct ErrorState {
  jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr info) {
  auto* state = reinterpret_cast<ErrorState*>(info->err);
  info->err->format_message(info, state->message);
  std::longjmp(state->jump, 1);
}

void on_message(j_common_ptr, int) {}

// Where the bytes go: parts of one size, the last cut short at the end.
struct Parts {
  jpeg_destination_mgr base;  // first: libjpeg hands back a pointer to it
  EncodedFile* file;
};

constexpr std::size_t kPartBytes = std::size_t{1} << 20;

// Runs inside libjpeg, which knows no exceptions.
boolean add_part(j_compress_ptr encoder) {
  auto* parts = reinterpret_cast<Parts*>(encoder->dest);
  bool added = false;
  try {
    parts->file->parts.emplace_back(kPartBytes);
    added = true;
  } catch (const std::bad_alloc&) {
    added = false;
  }
  if (!added) {
    auto* errors = reinterpret_cast<ErrorState*>(encoder->err);
    std::snprintf(errors->message, sizeof errors->message, "not enough memory");
    std::longjmp(errors->jump, 1);
  }
  std::vector<std::byte>& part = parts->file->parts.back();
  parts->base.next_output_byte = reinterpret_cast<JOCTET*>(part.data());
  parts->base.free_in_buffer = part.size();
  return TRUE;
}

void start_parts(j_compress_ptr encoder) {
  (void)add_part(encoder);
}

void end_parts(j_compress_ptr encoder) {
  auto* parts = reinterpret_cast<Parts*>(encoder->dest);
  std::vector<std::byte>& part = parts->file->parts.back();
  part.resize(part.size() - parts->base.free_in_buffer);
}

class JpegWriter final : public Writer {
 public:
  JpegWriter(Shape shape, const EncodeOptions& options) : mark_(mark_text(options.mark)) {
    encoder_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = on_error;
    errors_.base.emit_message = on_message;
    parts_.base.init_destination = start_parts;
    parts_.base.empty_output_buffer = add_part;
    parts_.base.term_destination = end_parts;
    parts_.file = &file_;
    if (!try_start(shape, options.quality)) {
      jpeg_destroy_compress(&encoder_);
      fail();
    }
  }

  ~JpegWriter() override { jpeg_destroy_compress(&encoder_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  void write_rows(ConstHostPlane rows) override {
    if (!try_write(rows)) fail();
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    const std::int64_t samples =
        std::int64_t{encoder_.image_width} * encoder_.image_height * encoder_.input_components;
    return samples + samples / 8;
  }

  EncodedFile finish() override {
    if (!try_finish()) fail();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::memory, "the JPEG encoder failed: " + std::string(errors_.message));
  }

  bool try_start(Shape shape, int quality) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&encoder_);
    encoder_.dest = &parts_.base;
    encoder_.image_width = static_cast<JDIMENSION>(shape.width);
    encoder_.image_height = static_cast<JDIMENSION>(shape.height);
    encoder_.input_components = shape.channels;
    encoder_.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&encoder_);  // halves the colour planes both ways
    jpeg_set_quality(&encoder_, quality, TRUE);
    encoder_.dct_method = JDCT_ISLOW;
    if (shape.channels == 3 && quality > kLastHalvedQuality) {
      encoder_.comp_info[0].h_samp_factor = 1;
      encoder_.comp_info[0].v_samp_factor = 1;
    }
    return true;
  }

  bool try_write(ConstHostPlane rows) {
    if (setjmp(errors_.jump) != 0) return false;
    if (!started_) {
      jpeg_start_compress(&encoder_, TRUE);
      if (!mark_.empty()) {
        jpeg_write_marker(&encoder_, JPEG_COM, reinterpret_cast<const JOCTET*>(mark_.data()),
                          static_cast<unsigned>(mark_.size()));
      }
    }
    started_ = true;
    for (std::int64_t y = 0; y < rows.height; ++y) {
      // The library takes its input through a pointer to non-const and does not write to it.
      auto* row = const_cast<JSAMPLE*>(rows.row(y));
      jpeg_write_scanlines(&encoder_, &row, 1);
    }
    return true;
  }

  bool try_finish() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_finish_compress(&encoder_);
    return true;
  }

  jpeg_compress_struct encoder_{};
  ErrorState errors_{};
  Parts parts_{};
  EncodedFile file_;
  std::string_view mark_;
  bool started_ = false;
};

}  // namespace

std::unique_ptr<Writer> make_jpeg_writer(Shape shape, const EncodeOptions& options) {
  if (shape.width > JPEG_MAX_DIMENSION || shape.height > JPEG_MAX_DIMENSION) {
    throw Error(ErrorKind::usage,
                "jpeg holds at most " + std::to_string(JPEG_MAX_DIMENSION) + " pixels a side");
  }
  return std::make_unique<JpegWriter>(shape, options);
}

}  // namespace imgpipe
