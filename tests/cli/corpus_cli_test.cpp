// The program on real and hostile files from IMGPIPE_CORPUS.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "images/text.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::corpus_cli_test {
namespace {

namespace fs = std::filesystem;

// Every hostile file yields an image, or a one-line reason and no output, within 10 s and 1.5 GB; two runs
// give the same result.
TEST(CorpusCli, EveryFileIsHandledSafely) {
  IMGPIPE_NEED_CORPUS();
  TemporaryDirectory directory;
  int files = 0;
  for (const char* part : {"broken", "bombs", "other"}) {
    for (const fs::path& path : files_below(*corpus() / part)) {
      SCOPED_TRACE(path.string());
      std::string first_picture;
      std::string first_reason;
      for (int round = 0; round < 2; ++round) {
        const std::string target = directory.file("out.png");
        fs::remove(target);
        const RunResult run = run_imgpipe({path.string(), target, "-q", "--stages", "hist"});
        ASSERT_FALSE(run.signalled);
        ASSERT_FALSE(run.timed_out);
        EXPECT_LT(run.seconds, 10.0);
        if (!kSanitized) {
          EXPECT_LT(run.max_rss_bytes, 1'500'000'000);
        }
        const bool refused = run.exit_code == 2 &&
                             run.err.ends_with(": png cannot store float samples; add depth:8 or depth:16\n");
        ASSERT_TRUE(run.exit_code == 0 || run.exit_code == 1 || refused) << run.exit_code << ": " << run.err;
        const bool written = fs::exists(target);
        EXPECT_EQ(written, run.exit_code == 0);
        EXPECT_EQ(directory.names().size(), written ? 1U : 0U) << "a temporary file was left";
        if (run.exit_code == 1) {
          EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
          const std::string line = run.err.substr(0, run.err.size() - 1);
          EXPECT_EQ(printable(line), line);
          EXPECT_TRUE(line.starts_with("imgpipe: " + path.string() + ": ")) << line;
        }
        const std::string picture = written ? load_text(target) : "";
        if (round == 0) {
          first_picture = picture;
          first_reason = run.err;
        } else {
          EXPECT_EQ(picture, first_picture) << "two runs differ";
          EXPECT_EQ(run.err, first_reason);
        }
      }
      ++files;
    }
  }
  EXPECT_GT(files, 300);
}

}  // namespace
}  // namespace imgpipe::test::corpus_cli_test
