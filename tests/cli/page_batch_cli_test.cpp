// Tests batches of stacks: on a CUDA device, and with a damaged page.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/batch_cli.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::page_batch_cli_test {
namespace {

class PageBatchCli : public BatchCli {
 protected:
  void SetUp() override {
    fs::create_directories(file("in/sub"));
    save_stack("in/a.tif", 3);
    save_stack("in/sub/b.tiff", 2);
    write("in/c.png", 3);
  }
  static TiffPageSource page(int number) {
    const TiffKind kind{.width = 12, .height = 9, .compression = 8};
    Values values(108);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 10 * number + static_cast<int>(i % 100);
    return {kind, values};
  }
  void save_stack(const std::string& name, int pages) const {
    std::vector<TiffPageSource> all;
    for (int i = 0; i < pages; ++i) all.push_back(page(i));
    save(file(name), make_tiff_stack(all));
  }
  [[nodiscard]] RunResult run(std::vector<std::string> more) const {
    std::vector<std::string> arguments{in(), out(), "--recursive", "-q", "--stages", "invert"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_imgpipe(arguments);
  }
};

TEST_F(PageBatchCli, CudaWritesTheSameStacks) {
  IMGPIPE_NEED_CUDA();
  for (const char* device : {"cpu", "cuda"}) {
    const RunResult result = run({"--pages", "all", "--format", "tiff", "--device", device, "--overwrite"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    fs::rename(out(), file(device));
  }
  EXPECT_EQ(contents(file("cuda")), contents(file("cpu")));
}

TEST_F(PageBatchCli, BadPageAffectsOnlyItsStack) {
  FileBytes bytes = load(file("in/a.tif"));
  const FileBytes second = make_tiff(page(1).kind, page(1).samples);
  const auto at = std::search(bytes.begin(), bytes.end(), second.begin() + 8, second.begin() + 30);
  ASSERT_NE(at, bytes.end());
  std::fill_n(at, 4, std::byte{0xFF});
  save(file("in/a.tif"), bytes);
  for (const auto& [format, left] :
       {std::pair{"png", Names{"c_0001.png", "sub/b_0001.png", "sub/b_0002.png"}},
        {"tiff", Names{"c.tif", "sub/b.tiff"}}}) {
    fs::remove_all(out());
    const RunResult result = run({"--pages", "all", "--format", format, "--failed-out", file("f.txt")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(file("in/a.tif") + ", page 2: "), std::string::npos) << result.err;
    EXPECT_EQ(written(), left);
    EXPECT_EQ(load_text(file("f.txt")), "a.tif\n");
  }
}

}  // namespace
}  // namespace imgpipe::test::page_batch_cli_test
