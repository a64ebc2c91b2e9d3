#include "tests/support/psd_file.h"

namespace imgpipe::test {
namespace {

void put_all(Bytes& file, const Bytes& more) {
  file.insert(file.end(), more.begin(), more.end());
}

Bytes row_bytes(const Psd& psd, const Values& values, int y) {
  Bytes row;
  // A header may claim more samples than there are.
  const auto at = [&](int x) {
    const auto i = static_cast<std::size_t>(y * psd.width + x);
    return i < values.size() ? values[i] : 0;
  };
  if (psd.depth == 1) {
    row.resize(static_cast<std::size_t>((psd.width + 7) / 8));
    for (int x = 0; x < psd.width; ++x)
      row[static_cast<std::size_t>(x / 8)] |= static_cast<std::byte>(at(x) << (7 - x % 8));
  } else {
    for (int x = 0; x < psd.width; ++x) put(row, at(x), psd.depth / 8);
  }
  return row;
}

// PackBits: encodes runs of three and more, the rest literally, up to 128 of either.
Bytes pack(const Bytes& row) {
  Bytes out;
  for (std::size_t i = 0; i < row.size();) {
    std::size_t run = 1;
    while (i + run < row.size() && run < 128 && row[i + run] == row[i]) ++run;
    if (run >= 3) {
      put(out, 257 - static_cast<std::int64_t>(run), 1);
      out.push_back(row[i]);
      i += run;
      continue;
    }
    std::size_t count = 1;
    while (i + count < row.size() && count < 128 &&
           !(i + count + 2 < row.size() && row[i + count] == row[i + count + 1] &&
             row[i + count] == row[i + count + 2]))
      ++count;
    put(out, static_cast<std::int64_t>(count) - 1, 1);
    out.insert(out.end(), row.begin() + static_cast<std::ptrdiff_t>(i),
               row.begin() + static_cast<std::ptrdiff_t>(i + count));
    i += count;
  }
  return out;
}

}  // namespace

void put(Bytes& file, std::int64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) file.push_back(static_cast<std::byte>(value >> (8 * i) & 255));
}

void put_text(Bytes& file, std::string_view text) {
  for (const char c : text) file.push_back(static_cast<std::byte>(c));
}

Bytes layer_count(int count, int version) {
  Bytes section;
  put(section, 2, version == 2 ? 8 : 4);
  put(section, count, 2);
  return section;
}

Bytes make_psd(const Psd& psd) {
  Bytes file;
  put_text(file, "8BPS");
  put(file, psd.version, 2);
  put(file, 0, 6);
  put(file, static_cast<std::int64_t>(psd.channels.size()), 2);
  put(file, psd.height, 4);
  put(file, psd.width, 4);
  put(file, psd.depth, 2);
  put(file, psd.mode, 2);
  put(file, static_cast<std::int64_t>(psd.palette.size()), 4);
  put_all(file, psd.palette);
  put(file, static_cast<std::int64_t>(psd.resources.size()), 4);
  put_all(file, psd.resources);
  put(file, static_cast<std::int64_t>(psd.layers.size()), psd.version == 2 ? 8 : 4);
  put_all(file, psd.layers);
  put(file, psd.compression, 2);
  Bytes data;
  for (const Values& values : psd.channels) {
    for (int y = 0; y < psd.height; ++y) {
      const Bytes row = row_bytes(psd, values, y);
      const Bytes packed = psd.compression == 1 ? pack(row) : row;
      if (psd.compression == 1) put(file, static_cast<std::int64_t>(packed.size()), psd.version == 2 ? 4 : 2);
      put_all(data, packed);
    }
  }
  put_all(file, data);
  return file;
}

}  // namespace imgpipe::test
