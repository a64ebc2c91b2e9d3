#include "app/verify/file_check.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "app/report/decoding_text.h"
#include "images/codecs/file_details.h"
#include "images/formats/image_inspection.h"
#include "images/formats/pending_input.h"
#include "images/image.h"
#include "images/memory/available_memory.h"
#include "images/pixel_digest.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/jobs/item_list.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxPixels = std::int64_t{1} << 34;  // the greatest value of --max-pixels

void add_pixels(PixelDigest& digest, const InputFile& file, const DecodeOptions& options) {
  constexpr std::int64_t kBandBytes = std::int64_t{1} << 20;
  const std::unique_ptr<Reader> reader = open_reader(file, options);
  Shape band = reader->header().shape;
  const std::int64_t height = band.height;
  band.height = std::clamp<std::int64_t>(kBandBytes / band.row_bytes(), 1, height);
  check_available(reader->working_bytes(false) + band.bytes());
  Image rows(band);
  for (std::int64_t y = 0; y < height; y += band.height) {
    const HostView part = rows.untyped_view().rows(0, std::min(band.height, height - y));
    reader->read_rows(part);
    digest.add(part);
  }
}

// Outputs are decoded as they are stored, all pages.
Decoding decoding_of(const HashedFile& file) {
  Decoding decoding = parse_decoding(file.decoding);
  decoding.options.max_pixels = kMaxPixels;
  if (file.decoding.empty()) {
    decoding.options.orient = false;
    decoding.pages.emplace();
  }
  return decoding;
}

std::string pixels_on_disk(const std::string& path, const Decoding& decoding) {
  PixelDigest digest;
  if (!decoding.pages) {
    add_pixels(digest, open_input(path, decoding.options, InputKind::regular_only), decoding.options);
    return digest.hex();
  }
  ItemList pages({{path, printable(path)}}, *decoding.pages, decoding.options, [](const std::string&) {});
  while (const std::optional<ImageItem> page = pages.next()) add_pixels(digest, page->file, decoding.options);
  return digest.hex();
}

// Whether the file of an output has other pixels than those that were written.
bool is_lossy(InputFile file) {
  const ImageInspection image = inspect_image(std::move(file), {.max_pixels = kMaxPixels, .max_bits = 32});
  return image.header.format == Format::jpeg || image.details.compression.starts_with("lossy");
}

void compare(const std::string& name, const char* what, const std::string& found, const std::string& expected,
             FileCheck& check) {
  if (!expected.empty() && found != expected)
    check.differences.push_back(name + ": " + what + " differ: SHA-256 is " + found + ", the report has " +
                                expected);
}

// `hash`, `open` and `pixels` read the file.
template <class Hash, class Open, class Pixels>
FileCheck check_parts(const HashedFile& file, const std::string& name, const Hash& hash, const Open& open,
                      const Pixels& pixels) {
  FileCheck check;
  check.unreadable = error_of([&] {
    naming(name, [&] {
      if (!file.hashes.bytes.empty()) compare(name, "bytes", hash(), file.hashes.bytes, check);
    });
  });
  if (check.unreadable || file.hashes.pixels.empty()) return check;
  std::optional<Error> error = error_of([&] {
    const Decoding decoding = decoding_of(file);
    if (file.decoding.empty() && is_lossy(open())) return;
    compare(name, "pixels", pixels(decoding), file.hashes.pixels, check);
  });
  if (!error) return check;
  const std::string text = error->what();
  if (check.differences.empty()) {
    check.unreadable.emplace(ErrorKind::input, text.starts_with(name) ? text : name + ": " + text);
  } else {
    check.differences.front() += "; its pixels cannot be decoded";
  }
  return check;
}

// Replaces each \xHH by its byte.
std::string unescaped(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string hex = text.substr(std::min(i + 2, text.size()), 2);
    const bool is_escape = text.compare(i, 2, "\\x") == 0 && hex.size() == 2 &&
                           hex.find_first_not_of("0123456789ABCDEFabcdef") == std::string::npos;
    bytes += is_escape ? static_cast<char>(std::stoi(hex, nullptr, 16)) : text[i];
    if (is_escape) i += 3;
  }
  return bytes;
}

// Returns the archive that `path` is in, if there is one.
std::optional<FoundFile> archive_member(const std::string& path) {
  std::error_code error;
  for (std::size_t end = path.rfind('/'); end != std::string::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    const std::string parent = path.substr(0, end);
    if (fs::is_regular_file(parent, error)) return FoundFile{parent, path.substr(end + 1)};
    if (fs::exists(parent, error)) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

FoundFile find_file(const HashedFile& file, const std::string& base) {
  std::error_code error;
  std::vector<std::string> names{file.path};
  if (file.may_be_escaped) names.push_back(unescaped(file.path));
  const auto in_base = [&](const std::string& name) {
    return base.empty() ? name : (fs::path(base) / name).string();
  };
  for (const std::string& name : names)
    if (fs::exists(in_base(name), error)) return {in_base(name)};
  for (const std::string& name : names)
    if (std::optional<FoundFile> member = archive_member(in_base(name))) return *member;
  return {in_base(file.path)};
}

FileCheck check_file(const HashedFile& file, const std::string& path) {
  return check_parts(
      file, printable(path),
      [&] {
        const std::optional<InputFile> opened = open_on_disk(path, 0);
        std::error_code error;
        if (!opened)
          throw Error(ErrorKind::input,
                      fs::exists(path, error) ? "cannot open, or not a regular file" : "no such file");
        return opened->sha256();
      },
      [&] {
        return open_for_inspection(path, {.max_pixels = kMaxPixels, .max_bits = 32}, InputKind::regular_only);
      },
      [&](const Decoding& decoding) { return pixels_on_disk(path, decoding); });
}

FileCheck check_bytes(const HashedFile& file, const std::string& name, std::vector<std::byte> bytes) {
  const auto content = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return check_parts(
      file, name, [&] { return InputFile(content).sha256(); }, [&] { return InputFile(content); },
      [&](const Decoding& decoding) {
        PixelDigest digest;
        add_pixels(digest, InputFile(content), decoding.options);
        return digest.hex();
      });
}

}  // namespace imgpipe
