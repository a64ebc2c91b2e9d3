// A batch into one file of tensors: the same bytes with any number of jobs, any engine and failing lanes.
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/tensor_file.h"
#include "tests/support/batch_folder.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/tensor_reader.h"

namespace imgpipe::test::tensor_batch_test {
namespace {

constexpr const char* kStages = "resize:20:15,normalize:clip";

class TensorBatch : public BatchTest {
 protected:
  // Grey images fail, because CLIP's channels differ.
  [[nodiscard]] static bool fails(const BatchResult& result) { return result.header.shape.channels == 1; }

  // Returns the file that a batch with these settings writes.
  std::vector<std::byte> file_of(BatchSettings with) {
    const std::string path = out_.file("t.npy");
    TensorFile tensors(
        {.path = path, .inputs = names_.size(), .name = [this](std::size_t input) { return names_[input]; }});
    with.stages = parse_stages(kStages);
    with.make_row_consumer = [&tensors](const ImageFiles& files, const Plan& plan) {
      return tensors.consume_image(files, plan);
    };
    {
      Batch batch(items(), std::move(with));
      const std::map<std::size_t, BatchResult> results = run(batch);
      EXPECT_EQ(results.size(), names_.size());
      EXPECT_FALSE(batch.fatal());
      for (const auto& [item, result] : results) {
        EXPECT_EQ(result.failed.has_value(), fails(result)) << result.reason;
        EXPECT_EQ(result.output_bytes, result.failed ? 0 : 3 * 20 * 15 * 4) << names_[item];
      }
    }
    tensors.finish();
    rows_ = tensors.rows();
    return load(path);
  }

  std::int64_t rows_ = 0;  // of the last file
};

TEST_F(TensorBatch, BytesDoNotDependOnJobsAndDevices) {
  BatchSettings reference = settings(1);
  reference.make_engine = make_reference_engine;
  const std::vector<std::byte> expected = file_of(std::move(reference));
  EXPECT_EQ(read_npy(expected).shape, (std::vector<std::int64_t>{rows_, 3, 15, 20}));
  EXPECT_GT(rows_, 0);
  EXPECT_LT(rows_, static_cast<std::int64_t>(names_.size()));
  for (const auto& [jobs, threads] : {std::pair{1, 1}, {1, 3}, {4, 4}}) {
    EXPECT_EQ(file_of(settings(jobs, threads)), expected) << jobs << " jobs, " << threads << " threads";
  }
  for (const LaneFaults& fault : {LaneFaults{}, LaneFaults{.group = 3, .codecs = true},
                                  LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2},
                                  LaneFaults{.no_memory_in_launch = 2}, LaneFaults{.room_bytes = 20'000}}) {
    BatchSettings with = settings(3);
    with.find_lanes = offering(lanes({fault, {}}));
    EXPECT_TRUE(file_of(std::move(with)) == expected)
        << "lane with codecs " << fault.codecs << ", breaks in launch " << fault.breaks_in_launch
        << ", in finish " << fault.breaks_in_finish << ", memory " << fault.room_bytes;
  }
}

}  // namespace
}  // namespace imgpipe::test::tensor_batch_test
