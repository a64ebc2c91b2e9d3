#include "tests/support/tiff_file.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <tiffio.h>

namespace imgpipe::test {
namespace {

struct Memory {
  FileBytes bytes;
  std::size_t position = 0;
};

tmsize_t on_read(thandle_t self, void* out, tmsize_t count) {
  auto& memory = *static_cast<Memory*>(self);
  const std::size_t there = memory.bytes.size() - std::min(memory.bytes.size(), memory.position);
  const std::size_t taken = std::min(there, static_cast<std::size_t>(count));
  if (taken > 0) std::memcpy(out, memory.bytes.data() + memory.position, taken);
  memory.position += taken;
  return static_cast<tmsize_t>(taken);
}

tmsize_t on_write(thandle_t self, void* in, tmsize_t count) {
  auto& memory = *static_cast<Memory*>(self);
  const auto size = static_cast<std::size_t>(count);
  if (memory.bytes.size() < memory.position + size) memory.bytes.resize(memory.position + size);
  std::memcpy(memory.bytes.data() + memory.position, in, size);
  memory.position += size;
  return count;
}

toff_t on_seek(thandle_t self, toff_t offset, int from) {
  auto& memory = *static_cast<Memory*>(self);
  if (from == SEEK_CUR) offset += memory.position;
  if (from == SEEK_END) offset += memory.bytes.size();
  memory.position = offset;
  return offset;
}

int on_close(thandle_t) {
  return 0;
}

toff_t on_size(thandle_t self) {
  return static_cast<Memory*>(self)->bytes.size();
}

TIFF* open(Memory& memory, const std::string& mode) {
  TIFFSetWarningHandler(nullptr);  // about the old deflate code, which is also tested
  TIFF* tiff = TIFFClientOpen("test", mode.c_str(), &memory, on_read, on_write, on_seek, on_close, on_size,
                              nullptr, nullptr);
  if (tiff == nullptr) throw std::runtime_error("libtiff cannot open its file");
  return tiff;
}

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

void set_fields(TIFF* tiff, const TiffKind& kind) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kind.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, kind.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  if (kind.reversed_bits) TIFFSetField(tiff, TIFFTAG_FILLORDER, FILLORDER_LSB2MSB);
  if (kind.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, kind.predictor);
  if (kind.t4_options != 0) TIFFSetField(tiff, TIFFTAG_GROUP3OPTIONS, kind.t4_options);
  if (kind.photometric == PHOTOMETRIC_YCBCR) {
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, kind.subsampling, kind.subsampling);
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  if (!kind.description.empty()) TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, kind.description.c_str());
  if (kind.subfile != 0) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind.subfile);
  if (kind.orientation != 0) TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind.orientation);
  if (kind.tile_width != 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind.tile_width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind.tile_height);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind.rows_per_strip == 0 ? kind.height : kind.rows_per_strip);
  }
  if (!kind.extra.empty()) {
    std::vector<std::uint16_t> extra(kind.extra.begin(), kind.extra.end());
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(extra.size()), extra.data());
  }
  if (!kind.palette.empty()) {
    std::vector<std::uint16_t> map(kind.palette.begin(), kind.palette.end());
    const std::size_t colors = map.size() / 3;
    TIFFSetField(tiff, TIFFTAG_COLORMAP, map.data(), map.data() + colors, map.data() + 2 * colors);
  }
}

// Packs the rows of one chunk; 16 bits in this machine's byte order. `plane` < 0: all samples.
FileBytes chunk_of(const TiffKind& kind, const Values& samples, int x0, int y0, int width, int height,
                   int plane) {
  const int each = plane < 0 ? kind.samples : 1;
  const std::size_t row_bytes = (static_cast<std::size_t>(width * each * kind.bits) + 7) / 8;
  FileBytes out(row_bytes * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    std::size_t bit = 8 * row_bytes * static_cast<std::size_t>(y);
    for (int i = 0; i < width * each; ++i) {
      const int x = std::min(x0 + i / each, kind.width - 1);
      const int s = plane < 0 ? i % each : plane;
      const int row = std::min(y0 + y, kind.height - 1);
      const auto value =
          static_cast<unsigned>(samples[static_cast<std::size_t>((row * kind.width + x) * kind.samples + s)]);
      if (kind.bits == 16) {
        const auto wide = static_cast<std::uint16_t>(value);
        std::memcpy(out.data() + bit / 8, &wide, 2);
        bit += 16;
        continue;
      }
      for (int b = kind.bits - 1; b >= 0; --b, ++bit)
        if ((value >> b & 1U) != 0) out[bit / 8] |= static_cast<std::byte>(0x80U >> (bit % 8));
    }
  }
  return out;
}

void write_image(TIFF* tiff, const TiffKind& kind, const Values& samples) {
  set_fields(tiff, kind);
  const int planes = kind.separate ? kind.samples : 1;
  const bool tiled = kind.tile_width != 0;
  const int width = tiled ? kind.tile_width : kind.width;
  const int rows = tiled ? kind.tile_height : kind.rows_per_strip == 0 ? kind.height : kind.rows_per_strip;
  std::uint32_t number = 0;
  for (int plane = 0; plane < planes; ++plane) {
    for (int y = 0; y < kind.height; y += rows) {
      for (int x = 0; x < kind.width; x += width) {
        const int height = tiled ? rows : std::min(rows, kind.height - y);
        FileBytes chunk = chunk_of(kind, samples, x, y, width, height, kind.separate ? plane : -1);
        const auto size = static_cast<tmsize_t>(chunk.size());
        const tmsize_t written = tiled ? TIFFWriteEncodedTile(tiff, number, chunk.data(), size)
                                       : TIFFWriteEncodedStrip(tiff, number, chunk.data(), size);
        require(written == size, "libtiff cannot write");
        ++number;
      }
    }
  }
}

// A file opened at one of its directories.
class Opened {
 public:
  Opened(const FileBytes& file, int page) : memory_{file}, tiff_(open(memory_, "r")) {
    require(TIFFSetDirectory(tiff_, static_cast<tdir_t>(page)) != 0, "libtiff does not find the page");
  }
  ~Opened() { TIFFClose(tiff_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  [[nodiscard]] TIFF* get() const { return tiff_; }

 private:
  Memory memory_;
  TIFF* tiff_;
};

}  // namespace

FileBytes make_tiff(const TiffKind& kind, const Values& samples) {
  return make_tiff_stack({{kind, samples}});
}

FileBytes make_tiff_stack(const std::vector<TiffPageSource>& pages) {
  Memory memory;
  const TiffKind& first = pages.front().kind;
  TIFF* tiff = open(memory, std::string("w") + (first.big ? "8" : "4") + (first.big_endian ? "b" : "l"));
  for (std::size_t i = 0; i < pages.size(); ++i) {
    write_image(tiff, pages[i].kind, pages[i].samples);
    if (i + 1 < pages.size()) require(TIFFWriteDirectory(tiff) != 0, "libtiff cannot write");
  }
  TIFFClose(tiff);
  return memory.bytes;
}

FileBytes make_imagej_stack(const std::vector<TiffPageSource>& pages) {
  const TiffKind& kind = pages.front().kind;
  MadeTiff made(kind.width, kind.height);
  const std::string text = "ImageJ=1.54f\nimages=" + std::to_string(pages.size()) +
                           "\nslices=" + std::to_string(pages.size()) + "\n";
  made.set(270, {}, 2);
  for (const char c : text) made.fields[270].values.push_back(static_cast<unsigned char>(c));
  made.fields[270].values.push_back(0);
  made.set(258, {static_cast<std::uint64_t>(kind.bits)});
  made.set(279, {static_cast<std::uint64_t>(kind.width * kind.height * kind.bits / 8)}, 4);
  made.pixels.clear();
  for (const TiffPageSource& page : pages) {
    const FileBytes pixels = chunk_of(kind, page.samples, 0, 0, kind.width, kind.height, -1);
    made.pixels.insert(made.pixels.end(), pixels.begin(), pixels.end());
  }
  return made.build();
}

int pages_by_libtiff(const FileBytes& file) {
  const Opened opened(file, 0);
  return static_cast<int>(TIFFNumberOfDirectories(opened.get()));
}

std::string description_by_libtiff(const FileBytes& file, int page) {
  const Opened opened(file, page);
  const char* text = nullptr;
  return TIFFGetField(opened.get(), TIFFTAG_IMAGEDESCRIPTION, &text) != 0 ? text : "";
}

Values rgba_by_libtiff(const FileBytes& file) {
  Memory memory{file};
  TIFF* tiff = open(memory, "r");
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  std::vector<std::uint32_t> raster(std::size_t{width} * height);
  require(TIFFReadRGBAImageOriented(tiff, width, height, raster.data(), ORIENTATION_TOPLEFT, 1) != 0,
          "libtiff cannot read");
  TIFFClose(tiff);
  Values values;
  for (const std::uint32_t pixel : raster) {
    for (int shift = 0; shift < 32; shift += 8) values.push_back(static_cast<int>(pixel >> shift & 255));
  }
  return values;
}

Values samples_by_libtiff(const FileBytes& file, int page) {
  const Opened opened(file, page);
  TIFF* const tiff = opened.get();
  std::uint32_t width = 0, height = 0, tile_width = 0, tile_height = 0;
  std::uint16_t samples = 1, bits = 8, planar = PLANARCONFIG_CONTIG;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  const bool tiled = TIFFIsTiled(tiff) != 0;
  if (tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &tile_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &tile_height);
  } else {
    tile_width = width;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &tile_height);
    tile_height = std::min(tile_height, height);
  }
  Values values(std::size_t{width} * height * samples, -1);
  const std::size_t sample_bytes = bits / 8;
  const std::uint32_t planes = planar == PLANARCONFIG_SEPARATE ? samples : 1, in_chunk = samples / planes;
  FileBytes chunk(std::size_t{tile_width} * tile_height * in_chunk * sample_bytes);
  std::uint32_t number = 0;
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    for (std::uint32_t y0 = 0; y0 < height; y0 += tile_height) {
      for (std::uint32_t x0 = 0; x0 < width; x0 += tile_width, ++number) {
        const auto size = static_cast<tmsize_t>(chunk.size());
        const tmsize_t got = tiled ? TIFFReadEncodedTile(tiff, number, chunk.data(), size)
                                   : TIFFReadEncodedStrip(tiff, number, chunk.data(), size);
        require(got > 0, "libtiff cannot read");
        for (std::uint32_t y = y0; y < std::min(height, y0 + tile_height); ++y) {
          for (std::uint32_t i = 0; i < (std::min(width, x0 + tile_width) - x0) * in_chunk; ++i) {
            const std::size_t at = (std::size_t{y - y0} * tile_width * in_chunk + i) * sample_bytes;
            std::uint16_t value = 0;
            std::memcpy(&value, chunk.data() + at, sample_bytes);
            values[((std::size_t{y} * width + x0) * in_chunk + i) * planes + plane] = value;
          }
        }
      }
    }
  }
  return values;
}

MadeTiff::MadeTiff(int width, int height) {
  const auto w = static_cast<std::uint64_t>(width);
  const auto h = static_cast<std::uint64_t>(height);
  set(256, {w});
  set(257, {h});
  set(258, {8});
  set(259, {1});
  set(262, {1});
  set(273, {8}, 4);
  set(277, {1});
  set(278, {h});
  set(279, {w * h}, 4);
  for (std::uint64_t i = 0; i < w * h; ++i) pixels.push_back(static_cast<std::byte>(i * 7));
}

FileBytes MadeTiff::build() const {
  FileBytes file;
  const auto put = [&](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) file.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  const std::size_t wide = big ? 8 : 4;
  const std::size_t header = big ? 16 : 8;
  std::vector<std::pair<int, Field>> all(fields.begin(), fields.end());
  all.insert(all.end(), more_fields.begin(), more_fields.end());
  const auto each = [](const Field& field) -> std::size_t {
    return field.type == 3 ? 2 : field.type == 4 ? 4 : field.type == 16 ? 8 : 1;
  };
  const std::size_t directory = header + pixels.size();
  std::size_t outside = directory + (big ? 8 + 20 * all.size() + 8 : 2 + 12 * all.size() + 4);
  file = {std::byte{'I'}, std::byte{'I'}};
  put(big ? 43 : 42, 2);
  if (big) put(8, 4);
  put(directory, wide);
  file.insert(file.end(), pixels.begin(), pixels.end());
  put(all.size(), big ? 8 : 2);
  for (const auto& [tag, field] : all) {
    put(static_cast<std::uint64_t>(tag), 2);
    put(static_cast<std::uint64_t>(field.type), 2);
    put(field.values.size(), wide);
    const std::size_t bytes = field.values.size() * each(field);
    if (bytes > wide) {
      put(outside, wide);
      outside += bytes;
      continue;
    }
    for (const std::uint64_t value : field.values) put(value, each(field));
    put(0, wide - bytes);
  }
  put(next, wide);
  for (const auto& [tag, field] : all) {
    if (field.values.size() * each(field) <= wide) continue;
    for (const std::uint64_t value : field.values) put(value, each(field));
  }
  return file;
}

}  // namespace imgpipe::test
