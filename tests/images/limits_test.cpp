// Memory limits, read from trees of files that resemble systems of all kinds.
#include <array>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "images/memory/available_memory.h"
#include "images/memory/control_groups.h"
#include "tests/support/system_tree.h"

namespace imgpipe::test::limits_test {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr const char* kNoLimitV1 = "9223372036854771712\n";
constexpr const char* kV1Mount = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

class Limits : public SystemTree {
 protected:
  // Makes a version 2 control group with sizes in MiB; `max` is the text of memory.max.
  void group_v2(const std::string& directory, const std::string& max, std::int64_t usage,
                std::int64_t inactive, std::int64_t active) const {
    make(directory + "/memory.max", max + "\n");
    make(directory + "/memory.high", "max\n");
    make(directory + "/memory.current", std::to_string(usage * kMiB) + "\n");
    make(directory + "/memory.stat", "anon 4096\ninactive_anon 1\ninactive_file " +
                                         std::to_string(inactive * kMiB) + "\nactive_file " +
                                         std::to_string(active * kMiB) + "\nslab 7\n");
  }
  // Lines without total_ describe the group alone, and must be ignored if there are lines with total_.
  void group_v1(const std::string& directory, const std::string& limit, std::int64_t usage,
                std::int64_t inactive, std::int64_t active,
                const std::string& hierarchical = kNoLimitV1) const {
    make(directory + "/memory.limit_in_bytes", limit + "\n");
    make(directory + "/memory.usage_in_bytes", std::to_string(usage * kMiB) + "\n");
    make(directory + "/memory.stat", "cache 0\ninactive_file 1\nactive_file 1\nhierarchical_memory_limit " +
                                         hierarchical + "\ntotal_inactive_file " +
                                         std::to_string(inactive * kMiB) + "\ntotal_active_file " +
                                         std::to_string(active * kMiB) + "\n");
  }
  [[nodiscard]] static std::string mib(std::int64_t count) { return std::to_string(count * kMiB); }

  [[nodiscard]] MemoryBound tightest() const {
    const std::vector<MemoryBound> bounds = AvailableMemory(view_).bounds();
    return bounds.empty() ? MemoryBound{"none", kMost, kMost} : bounds.front();
  }
  // Returns the MiB available according to a control group; -1 if the machine sets the limit.
  [[nodiscard]] std::int64_t by_group() const {
    const MemoryBound bound = tightest();
    return bound.source.starts_with("cgroup") ? bound.available_bytes / kMiB : -1;
  }
};

TEST_F(Limits, MachineAppliesWithoutGroups) {
  EXPECT_EQ(tightest().source, "the machine");
  EXPECT_EQ(tightest().available_bytes, std::int64_t{8} << 30);
  EXPECT_EQ(tightest().limit_bytes, std::int64_t{16} << 30);
  variables_["SLURM_MEM_PER_NODE"] = "100";
  make("proc/self/statm", "");  // no known usage
  EXPECT_EQ(tightest().available_bytes, 100 * kMiB);
  make("proc/self/statm", "1");
  EXPECT_EQ(tightest().available_bytes, 100 * kMiB);
  variables_.clear();
  fs::remove_all(directory_.path() / "proc");
  EXPECT_EQ(AvailableMemory(view_).bytes(), kMost);
}

TEST_F(Limits, PageCacheDoesNotCountInVersion2) {
  process_is_in("0::/\n", kV2Mount);
  group_v2("sys/fs/cgroup", mib(1000), 990, 600, 300);
  EXPECT_EQ(by_group(), 1000 - (990 - 900));
  EXPECT_EQ(tightest().limit_bytes, 1000 * kMiB);
  EXPECT_EQ(tightest().source, "cgroup v2 memory.max (" + view_.root + "/sys/fs/cgroup)");
}

TEST_F(Limits, PageCacheDoesNotCountInVersion1) {
  process_is_in("4:memory:/\n", kV1Mount);
  group_v1("sys/fs/cgroup/memory", mib(1000), 990, 600, 300);
  EXPECT_EQ(by_group(), 910);
  EXPECT_EQ(tightest().source, "cgroup v1 memory.limit_in_bytes (" + view_.root + "/sys/fs/cgroup/memory)");
}

TEST_F(Limits, TightestParentAppliesWithItsOwnUsage) {
  process_is_in("0::/slurm/job_7/step_0\n", kV2Mount);
  group_v2("sys/fs/cgroup/slurm/job_7/step_0", mib(4000), 100, 0, 0);
  group_v2("sys/fs/cgroup/slurm/job_7", mib(2000), 1800, 500, 100);  // 800 left: other steps use the rest
  group_v2("sys/fs/cgroup/slurm", "max", 3000, 0, 0);
  EXPECT_EQ(by_group(), 800);
  EXPECT_EQ(tightest().source, "cgroup v2 memory.max (" + view_.root + "/sys/fs/cgroup/slurm/job_7)");
  group_v2("sys/fs/cgroup/slurm", mib(3500), 3000, 0, 200);
  EXPECT_EQ(by_group(), 700);
  group_v2("sys/fs/cgroup/slurm/job_7/step_0", mib(650), 100, 0, 30);
  EXPECT_EQ(by_group(), 580);
}

TEST_F(Limits, TightestParentAppliesInVersion1) {
  process_is_in("9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n", kV1Mount);
  group_v1("sys/fs/cgroup/memory/a/b", mib(900), 100, 0, 50);
  group_v1("sys/fs/cgroup/memory/a", mib(700), 400, 100, 0);
  group_v1("sys/fs/cgroup/memory", "9223372036854771712", 9000, 0, 0);
  EXPECT_EQ(by_group(), 400);
  // A parent that does not count its children does not limit them, nor do its own parents.
  make("sys/fs/cgroup/memory/a/memory.use_hierarchy", "0\n");
  EXPECT_EQ(by_group(), 850);
  make("sys/fs/cgroup/memory/a/memory.use_hierarchy", "1\n");
  EXPECT_EQ(by_group(), 400);
}

TEST_F(Limits, HierarchicalLimitCoversParentsOutsideTheContainer) {
  process_is_in("4:memory:/docker/1f\n",
                "35 31 0:32 /docker/1f /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  group_v1("sys/fs/cgroup/memory", "9223372036854771712", 100, 40, 20, mib(500));
  EXPECT_EQ(by_group(), 460);
  EXPECT_NE(tightest().source.find("hierarchical_memory_limit"), std::string::npos);
}

TEST_F(Limits, HybridSystemsUseEitherVersion) {
  const std::string unified = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
  process_is_in("4:memory:/a\n0::/user\n", kV1Mount + unified);
  group_v1("sys/fs/cgroup/memory/a", mib(300), 100, 0, 0);
  make("sys/fs/cgroup/unified/user/cgroup.procs", "");
  EXPECT_EQ(by_group(), 200);
  process_is_in("2:cpu:/\n0::/user\n", unified);
  group_v2("sys/fs/cgroup/unified/user", mib(150), 100, 0, 0);
  EXPECT_EQ(by_group(), 50);
}

TEST_F(Limits, MountMayShowOnlyASubtree) {
  // The path is the host's, and the mount's root is that group (Docker without a cgroup namespace).
  process_is_in("0::/docker/1f\n", "41 31 0:38 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup"}));
  // The process is in a subgroup.
  process_is_in("0::/docker/1f/job/x\n", "41 31 0:38 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  EXPECT_EQ(groups("memory"),
            (Names{"v2 /sys/fs/cgroup/job/x", "v2 /sys/fs/cgroup/job", "v2 /sys/fs/cgroup"}));
  // /docker/1f is not a parent of /docker/1fe, so only the mount's root is known.
  process_is_in("0::/docker/1fe\n", "41 31 0:38 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup"}));
}

TEST_F(Limits, CgroupNamespaceHidesParents) {
  process_is_in("0::/\n", kV2Mount);
  EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup"}));
  process_is_in("0::/job\n", kV2Mount);
  EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup/job", "v2 /sys/fs/cgroup"}));
  // Outside the namespace's root: no path may leave the mount.
  for (const char* own : {"/..", "/../..", "/../other/job"}) {
    process_is_in("0::" + std::string(own) + "\n", kV2Mount);
    EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup"})) << own;
  }
  // A mount from before the cgroup namespace: its root is above the namespace's root, hence the /.. in
  // mountinfo.
  process_is_in("0::/\n", "41 31 0:38 /../.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup"}));
  process_is_in("0::/../job\n", "41 31 0:38 /.. /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
  EXPECT_EQ(groups("memory"), (Names{"v2 /sys/fs/cgroup/job", "v2 /sys/fs/cgroup"}));
}

TEST_F(Limits, MostCompleteMountIsChosen) {
  const std::string container = "41 31 0:38 /pod/c /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  const std::string host = "42 31 0:38 / /host/sys/fs/cgroup ro - cgroup2 cgroup rw\n";
  fs::create_directories(directory_.path() / "sys/fs/cgroup");
  process_is_in("0::/pod/c\n", container + host);
  EXPECT_EQ(groups("memory").front(), "v2 /sys/fs/cgroup");  // not the host's
  fs::create_directories(directory_.path() / "host/sys/fs/cgroup/pod/c");
  EXPECT_EQ(groups("memory"),
            (Names{"v2 /host/sys/fs/cgroup/pod/c", "v2 /host/sys/fs/cgroup/pod", "v2 /host/sys/fs/cgroup"}));
  process_is_in("0::/pod/c\n", host + container);
  EXPECT_EQ(groups("memory").size(), 3U);
}

TEST_F(Limits, MountPointsWithBlanksAndControllersInOneMount) {
  process_is_in("3:cpu,cpuacct:/a b\n",
                "9 1 0:9 / /my\\040groups/cpu\\134x rw - cgroup none rw,cpuacct,cpu\n");
  EXPECT_EQ(groups("cpu"), (Names{"v1 /my groups/cpu\\x/a b", "v1 /my groups/cpu\\x"}));
  EXPECT_EQ(groups("memory"), Names{});
  EXPECT_EQ(groups("cp"), Names{});
}

TEST_F(Limits, DefaultPathsApplyWithoutMountinfo) {
  group_v2("sys/fs/cgroup", mib(1000), 400, 0, 0);
  EXPECT_EQ(by_group(), 600);
  group_v1("sys/fs/cgroup/memory", mib(500), 400, 0, 0);
  EXPECT_EQ(by_group(), 100);
}

TEST_F(Limits, NonNumericLimitsAreIgnored) {
  process_is_in("0::/g\n", kV2Mount);
  for (const char* text : {"max", "", "garbage", "-5", "12x", "99999999999999999999", " 7",
                           "9223372036854771712", "9223372036854775807", "0x10", "1.5"}) {
    group_v2("sys/fs/cgroup/g", text, 100, 0, 0);
    EXPECT_EQ(by_group(), -1) << text;
  }
  group_v2("sys/fs/cgroup/g", mib(100), 30, 0, 0);
  EXPECT_EQ(by_group(), 70);
  make("sys/fs/cgroup/g/memory.current", "what\n");
  EXPECT_EQ(by_group(), -1);
  fs::remove(directory_.path() / "sys/fs/cgroup/g/memory.current");
  EXPECT_EQ(by_group(), -1);
  // Directories in place of files, and unreadable tables.
  fs::create_directories(directory_.path() / "sys/fs/cgroup/g/memory.current");
  fs::remove(directory_.path() / "proc/self/cgroup");
  fs::create_directories(directory_.path() / "proc/self/cgroup");
  EXPECT_EQ(by_group(), -1);
}

TEST_F(Limits, AllUsageCountsWithoutStatistics) {
  process_is_in("0::/\n", kV2Mount);
  group_v2("sys/fs/cgroup", mib(1000), 400, 100, 100);
  make("sys/fs/cgroup/memory.stat", "inactive_file\nactive_file x\ninactive_file_of_others 5\n");
  EXPECT_EQ(by_group(), 600);
}

TEST_F(Limits, AvailableIsBetweenZeroAndTheLimit) {
  process_is_in("0::/\n", kV2Mount);
  group_v2("sys/fs/cgroup", mib(1000), 1200, 0, 0);
  EXPECT_EQ(by_group(), 0);
  group_v2("sys/fs/cgroup", mib(1000), 100, 90, 90);  // the two files are not read at the same moment
  EXPECT_EQ(by_group(), 1000);
  group_v2("sys/fs/cgroup", "0", 0, 0, 0);
  EXPECT_EQ(by_group(), 0);
}

TEST_F(Limits, MemoryHighCountsAndSwapDoesNot) {
  process_is_in("0::/\n", kV2Mount);
  group_v2("sys/fs/cgroup", mib(1000), 100, 0, 0);
  make("sys/fs/cgroup/memory.high", mib(400));
  make("sys/fs/cgroup/memory.swap.max", "0\n");
  make("sys/fs/cgroup/memory.swap.current", mib(900));
  EXPECT_EQ(by_group(), 300);
  EXPECT_NE(tightest().source.find("memory.high"), std::string::npos);
}

TEST_F(Limits, SlurmLimitsPerNodeAndPerCpu) {
  const std::int64_t resident = 2560 * ::sysconf(_SC_PAGESIZE);
  variables_["SLURM_MEM_PER_NODE"] = "2048";
  EXPECT_EQ(tightest().source, "SLURM_MEM_PER_NODE");
  EXPECT_EQ(tightest().available_bytes, 2048 * kMiB - resident);
  variables_ = {{"SLURM_MEM_PER_CPU", "300"}, {"SLURM_CPUS_ON_NODE", "4"}};
  EXPECT_EQ(tightest().source, "SLURM_MEM_PER_CPU");
  EXPECT_EQ(tightest().available_bytes, 1200 * kMiB - resident);
  EXPECT_EQ(tightest().limit_bytes, 1200 * kMiB);
  variables_ = {{"SLURM_MEM_PER_CPU", "300"}};
  EXPECT_EQ(tightest().limit_bytes, 300 * kMiB);
  variables_ = {{"SLURM_MEM_PER_NODE", "1G"}};
  EXPECT_EQ(tightest().limit_bytes, 1024 * kMiB);
  variables_ = {{"SLURM_MEM_PER_NODE", "1"}};  // less than is resident
  EXPECT_EQ(tightest().available_bytes, 0);
  for (const char* text : {"0", "", "G", "much", "-1", "99999999999999999999", "8000000000000T"}) {
    variables_ = {{"SLURM_MEM_PER_NODE", text}};
    EXPECT_EQ(tightest().source, "the machine") << text;
  }
}

TEST_F(Limits, ReadingIsReusedForATenthOfASecondUnlessMoreIsNeeded) {
  process_is_in("0::/\n", kV2Mount);
  group_v2("sys/fs/cgroup", mib(1000), 400, 0, 0);
  AvailableMemory memory(view_);
  using std::chrono::milliseconds;
  const AvailableMemory::Clock::time_point start{};
  EXPECT_EQ(memory.bytes_for(1, start), 600 * kMiB);
  group_v2("sys/fs/cgroup", mib(1000), 900, 0, 0);
  EXPECT_EQ(memory.bytes_for(500 * kMiB, start + milliseconds(99)), 600 * kMiB);
  EXPECT_EQ(memory.bytes_for(500 * kMiB, start + milliseconds(100)), 100 * kMiB);
  // Newly freed memory is seen at once if the last reading would refuse a request.
  group_v2("sys/fs/cgroup", mib(1000), 200, 0, 0);
  EXPECT_EQ(memory.bytes_for(50 * kMiB, start + milliseconds(101)), 100 * kMiB);
  EXPECT_EQ(memory.bytes_for(101 * kMiB, start + milliseconds(101)), 800 * kMiB);
  group_v2("sys/fs/cgroup", mib(1000), 300, 0, 0);
  EXPECT_EQ(memory.bytes(start + milliseconds(102)), 700 * kMiB);
  EXPECT_EQ(memory.bytes_for(1, start + milliseconds(150)), 700 * kMiB);
}

TEST_F(Limits, ManyThreadsReadConcurrently) {
  process_is_in("0::/\n", kV2Mount);
  group_v2("sys/fs/cgroup", mib(1000), 400, 0, 0);
  AvailableMemory memory(view_);
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::array<int, 8> wrong{};
  for (int& count : wrong) {
    threads.emplace_back([&memory, &count] {
      for (int i = 0; i < 200; ++i) count += memory.bytes_for(i % 10 == 0 ? kMost : 1) != 600 * kMiB ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, 8>{}));
}

}  // namespace
}  // namespace imgpipe::test::limits_test
