// Tests how many processors a process may use, from trees of files that look like various systems.
#include "pipeline/threads/processor_limits.h"

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/system_tree.h"

namespace imgpipe::test::processor_limits_test {
namespace {

class ProcessorLimits : public SystemTree {
 protected:
  [[nodiscard]] ProcessorLimit fewest(int affinity = 64) const {
    return processor_limits(64, affinity, view_).front();
  }
};

TEST_F(ProcessorLimits, QuotaOfVersion2) {
  process_is_in("0::/a/b\n", kV2Mount);
  EXPECT_EQ(fewest().source, "the machine");
  EXPECT_EQ(fewest(12).source, "affinity");
  make("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(fewest().processors, 64);
  make("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
  EXPECT_EQ(fewest().processors, 1.5);
  EXPECT_EQ(fewest().source, "cgroup v2 cpu.max (" + view_.root + "/sys/fs/cgroup/a)");
  make("sys/fs/cgroup/cpu.max", "5000 10000\n");
  EXPECT_EQ(fewest().processors, 0.5);
  for (const char* text :
       {"", "max", "100000", "x 100000", "100000 x", "100000 0", "0 100000", "-1 100000"}) {
    make("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(fewest().processors, 1.5) << text;
  }
}

TEST_F(ProcessorLimits, QuotaOfVersion1) {
  process_is_in("3:cpu,cpuacct:/a\n4:memory:/\n",
                "9 1 0:9 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct\n");
  const std::string directory = "sys/fs/cgroup/cpu,cpuacct";
  make(directory + "/cpu.cfs_quota_us", "-1\n");
  make(directory + "/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(fewest().source, "the machine");
  make(directory + "/a/cpu.cfs_quota_us", "250000\n");
  EXPECT_EQ(fewest().source, "the machine");  // a quota without a period is ignored
  make(directory + "/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(fewest().processors, 2.5);
  make(directory + "/cpu.cfs_quota_us", "200000\n");
  EXPECT_EQ(fewest().processors, 2);
  EXPECT_EQ(fewest(1).source, "affinity");
}

TEST_F(ProcessorLimits, SlurmTask) {
  variables_ = {{"SLURM_CPUS_PER_TASK", "4"}};
  EXPECT_EQ(fewest().source, "the machine");  // the batch script may use all processors of the job
  variables_["SLURM_STEP_NUM_TASKS"] = "8";
  EXPECT_EQ(fewest().processors, 4);
  EXPECT_EQ(fewest().source, "SLURM_CPUS_PER_TASK");
  variables_["SLURM_CPUS_PER_TASK"] = "0";
  EXPECT_EQ(fewest().source, "the machine");
}

TEST(ThreadsFor, RoundsUpToAtLeastOne) {
  EXPECT_EQ(threads_for({{"", 0.01}}), 1);
  EXPECT_EQ(threads_for({{"", 1}}), 1);
  EXPECT_EQ(threads_for({{"", 1.01}}), 2);
  EXPECT_EQ(threads_for({{"", 64}}), 64);
  EXPECT_EQ(threads_for({{"", 1e300}}), 1'000'000);
}

TEST(Affinity, SupportsMoreThanAThousandProcessors) {
  std::vector<std::size_t> asked;
  const auto of_5000 = [&](std::size_t bytes, cpu_set_t* set) {
    asked.push_back(bytes);
    if (bytes * 8 < 5000) {
      errno = EINVAL;
      return -1;
    }
    for (std::size_t i = 0; i < 5000; i += 2) CPU_SET_S(i, bytes, set);
    return 0;
  };
  EXPECT_EQ(processors_by_affinity(of_5000), 2500);
  EXPECT_EQ(asked, (std::vector<std::size_t>{128, 256, 512, 1024}));
}

TEST(Affinity, DefaultsToOneProcessorIfUnknown) {
  int calls = 0;
  const auto failing = [&](std::size_t, cpu_set_t*) {
    ++calls;
    errno = calls == 1 ? EPERM : EINVAL;
    return -1;
  };
  EXPECT_EQ(processors_by_affinity(failing), 1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(processors_by_affinity(failing), 1);  // the search ends even if every call fails with EINVAL
}

}  // namespace
}  // namespace imgpipe::test::processor_limits_test
