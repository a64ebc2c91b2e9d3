#include "images/codecs/jpeg/library_check.h"

#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <jpeglib.h>

#include "images/codecs/jpeg/baseline_reader.h"
#include "images/image.h"

namespace imgpipe {
namespace {

constexpr JDIMENSION kWidth = 37, kHeight = 21;  // some MCUs, none whole at the edges

struct ErrorState {
  jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
};

[[noreturn]] void on_error(j_common_ptr info) {
  std::longjmp(reinterpret_cast<ErrorState*>(info->err)->jump, 1);
}

void on_message(j_common_ptr, int) {}

// What libjpeg allocates.
struct EncodedImage {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  EncodedImage() = default;
  ~EncodedImage() { std::free(bytes); }
  EncodedImage(const EncodedImage&) = delete;
  EncodedImage& operator=(const EncodedImage&) = delete;
};

// Noise in every sample. No object with a destructor in here: libjpeg may jump back into it.
bool try_encode(Sampling sampling, jpeg_compress_struct& encoder, ErrorState& errors, EncodedImage& file) {
  if (setjmp(errors.jump) != 0) return false;
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &file.bytes, &file.size);
  encoder.image_width = kWidth;
  encoder.image_height = kHeight;
  encoder.input_components = sampling == Sampling::grey ? 1 : 3;
  encoder.in_color_space = sampling == Sampling::grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 90, TRUE);
  const bool half_width = sampling == Sampling::s422 || sampling == Sampling::s420;
  const bool half_height = sampling == Sampling::s440 || sampling == Sampling::s420;
  encoder.comp_info[0].h_samp_factor = half_width ? 2 : 1;
  encoder.comp_info[0].v_samp_factor = half_height ? 2 : 1;
  jpeg_start_compress(&encoder, TRUE);
  std::uint32_t noise = 1;
  for (JDIMENSION y = 0; y < kHeight; ++y) {
    JSAMPLE row[std::size_t{kWidth} * 3];
    for (JSAMPLE& sample : row) {
      noise = noise * 1664525 + 1013904223;  // Numerical Recipes
      sample = static_cast<JSAMPLE>(noise >> 24);
    }
    JSAMPROW rows[] = {row};
    jpeg_write_scanlines(&encoder, rows, 1);
  }
  jpeg_finish_compress(&encoder);
  return true;
}

bool encode(Sampling sampling, EncodedImage& file) {
  jpeg_compress_struct encoder{};
  ErrorState errors{};
  encoder.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = on_error;
  errors.base.emit_message = on_message;
  const bool made = try_encode(sampling, encoder, errors, file);
  jpeg_destroy_compress(&encoder);
  return made;
}

Image decoded(Reader& reader) {
  Image image(reader.header().shape);
  reader.read_rows(image.untyped_view());
  return image;
}

bool check(Sampling sampling) {
  EncodedImage encoded;
  if (!encode(sampling, encoded)) return false;
  const Bytes file = std::as_bytes(std::span(encoded.bytes, encoded.size));
  try {
    const Image theirs = decoded(*open_library_jpeg(file, {}));
    const std::unique_ptr<Reader> reader = make_baseline_reader(open_library_jpeg(file, {}), kPieceBytes);
    const Image ours = decoded(*reader);
    return reader->has_bands() && std::memcmp(ours.view().data, theirs.view().data, ours.size_bytes()) == 0;
  } catch (const std::exception&) {
    return false;  // the library shall do what it can
  }
}

}  // namespace

bool library_agrees(Sampling sampling) {
  struct Answer {
    std::once_flag asked;
    bool agrees = false;
  };
  static std::array<Answer, 5> answers;
  Answer& answer = answers[static_cast<std::size_t>(sampling)];
  std::call_once(answer.asked, [&] { answer.agrees = check(sampling); });
  return answer.agrees;
}

}  // namespace imgpipe
