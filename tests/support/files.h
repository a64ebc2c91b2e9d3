// Directories and files for tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe::test {

// An empty directory that is removed with its object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }
  // Returns the names of everything in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::vector<std::byte> load(const std::filesystem::path& path);
[[nodiscard]] std::string load_text(const std::filesystem::path& path);
void save(const std::filesystem::path& path, std::span<const std::byte> bytes);
void save_text(const std::filesystem::path& path, std::string_view text);

// Returns the directory of real test images (IMGPIPE_CORPUS); nullopt if the variable is not set.
[[nodiscard]] std::optional<std::filesystem::path> corpus();
// Returns the regular files below a directory, sorted.
[[nodiscard]] std::vector<std::filesystem::path> files_below(const std::filesystem::path& directory);

}  // namespace imgpipe::test

// Reports the test as skipped without a corpus.
#define IMGPIPE_NEED_CORPUS() \
  if (!::imgpipe::test::corpus()) GTEST_SKIP() << "IMGPIPE_CORPUS is not set"
