#include "tests/support/files.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <stdlib.h>

namespace imgpipe::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "imgpipe-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryDirectory::names() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    found.push_back(entry.path().filename().string());
  std::ranges::sort(found);
  return found;
}

std::string load_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::byte> load(const std::filesystem::path& path) {
  const std::string text = load_text(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void save_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void save(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  save_text(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::optional<std::filesystem::path> corpus() {
  const char* directory = std::getenv("IMGPIPE_CORPUS");
  if (directory == nullptr || *directory == '\0') return std::nullopt;
  if (!std::filesystem::is_directory(directory)) throw std::runtime_error("IMGPIPE_CORPUS names no folder");
  return directory;
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace imgpipe::test
