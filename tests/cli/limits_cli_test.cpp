// The program in its own control groups and under limits of the shell. Making groups needs root and a
// writable hierarchy; otherwise these tests are skipped.
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <unistd.h>

#include "images/memory/control_groups.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::limits_cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t kMiB = 1 << 20;

// A control group below that of this process; the destructor removes it.
class TemporaryControlGroup {
 public:
  explicit TemporaryControlGroup(const std::string& controller) {
    const std::vector<ControlGroup> groups = control_groups(controller, {});
    if (groups.empty()) return;
    const std::string directory = groups.front().directory + "/imgpipe-test-" + std::to_string(::getpid());
    std::error_code refused;
    if (!fs::create_directory(directory, refused)) return;
    group_ = {groups.front().version, directory};
    for (const ControlGroup& group : groups) {
      if (group.version == group_->version) mount_point_ = group.directory;
    }
  }
  ~TemporaryControlGroup() {
    // Processes in the group may still be exiting. Removing the directory removes its files.
    for (int i = 0; group_ && ::rmdir(group_->directory.c_str()) != 0 && i < 100; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  TemporaryControlGroup(const TemporaryControlGroup&) = delete;
  TemporaryControlGroup& operator=(const TemporaryControlGroup&) = delete;

  // Returns false if the group has no such file or rejects the value.
  [[nodiscard]] bool set(const std::string& name, const std::string& value) const {
    if (!group_ || !fs::exists(group_->directory + "/" + name)) return false;
    std::ofstream file(group_->directory + "/" + name);
    file << value << std::flush;
    return static_cast<bool>(file);
  }
  [[nodiscard]] bool limit_memory(std::int64_t bytes) const {
    const bool old = group_ && group_->version == 1;
    return set(old ? "memory.limit_in_bytes" : "memory.max", std::to_string(bytes));
  }
  [[nodiscard]] bool limit_processors_to_a_half() const {
    if (group_ && group_->version == 1)
      return set("cpu.cfs_period_us", "100000") && set("cpu.cfs_quota_us", "50000");
    return set("cpu.max", "50000 100000");
  }
  [[nodiscard]] std::string directory() const { return group_ ? group_->directory : ""; }
  [[nodiscard]] const std::string& mount_point() const { return mount_point_; }
  // Returns the beginning of a bash line that moves the shell into the group.
  [[nodiscard]] std::string enter() const {
    return "echo $$ >'" + directory() + "/cgroup.procs' || exit 99; ";
  }

 private:
  std::optional<ControlGroup> group_;
  std::string mount_point_;
};

class LimitsCli : public testing::Test {
 protected:
  [[nodiscard]] int bash(const std::string& line) const { return run_bash(line, directory_.path().string()); }
  [[nodiscard]] Json cpu(const std::string& before) const {
    EXPECT_EQ(bash(before + "$I devices --json >devices.json"), 0);
    return Json::parse(load_text(directory_.file("devices.json")))["cpu"];
  }
  void make_images(int count, const std::string& size) const {
    fs::create_directory(directory_.file("in"));
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(
          bash("$I synth in/" + std::to_string(i) + ".png --pattern photo --png-level 1 --size " + size), 0);
  }
  [[nodiscard]] std::size_t written() const {
    return fs::exists(directory_.file("out")) ? files_below(directory_.file("out")).size() : 0;
  }

  TemporaryDirectory directory_;
};

#define NEED_GROUP(made) \
  if (!(made)) GTEST_SKIP() << "no control group with a limit can be made here"

TEST_F(LimitsCli, LimitBelowTheMountIsRespected) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts in the group";
  const TemporaryControlGroup group("memory");
  NEED_GROUP(group.limit_memory(200 * kMiB));
  const Json limit = cpu(group.enter())["memory_limits"][0];
  EXPECT_NE(limit["source"].get<std::string>().find(group.directory()), std::string::npos);
  EXPECT_EQ(limit["limit_bytes"], 200 * kMiB);
  EXPECT_LE(limit["available_bytes"], 200 * kMiB);
  // Twelve at once exceed the group's limit, and the kernel would kill the run.
  make_images(12, "3000x2000");
  EXPECT_EQ(bash(group.enter() + "$I in out --jobs 12 --png-level 1 -q"), 0);
  EXPECT_EQ(written(), 12U);
}

TEST_F(LimitsCli, PageCacheDoesNotCountAsUsedMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts in the group";
  const TemporaryControlGroup group("memory");
  NEED_GROUP(group.limit_memory(160 * kMiB));
  make_images(4, "3000x2000");
  const std::string fill = group.enter() + "head -c 200M /dev/zero >large; ";
  EXPECT_EQ(bash(fill + "$I in out --jobs 4 --png-level 1 -q"), 0);
  EXPECT_EQ(written(), 4U);
}

// In a container, the group is the root of the mount, but /proc/self/cgroup has the path outside.
TEST_F(LimitsCli, PageCacheInAContainer) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts in the group";
  const TemporaryControlGroup group("memory");
  NEED_GROUP(group.limit_memory(160 * kMiB));
  save_text(directory_.file("inside.sh"),
            "mount --bind '" + group.directory() + "' '" + group.mount_point() + "' && \"$@\"");
  const std::string inside = "unshare -m bash inside.sh ";
  if (bash(inside + "true 2>error") != 0) GTEST_SKIP() << "no mount namespace can be made here";
  make_images(4, "3000x2000");
  const Json limit = cpu(group.enter() + inside)["memory_limits"][0];
  EXPECT_EQ(limit["limit_bytes"], 160 * kMiB);
  EXPECT_EQ(limit["source"].get<std::string>().find("imgpipe-test"), std::string::npos);
  const std::string fill = group.enter() + "head -c 200M /dev/zero >large; ";
  EXPECT_EQ(bash(fill + inside + "$I in out --jobs 4 --png-level 1 -q"), 0);
  EXPECT_EQ(written(), 4U);
}

TEST_F(LimitsCli, ProcessorQuotaSetsDefaultThreadsAndJobs) {
  const TemporaryControlGroup group("cpu");
  NEED_GROUP(group.limit_processors_to_a_half());
  const Json limited = cpu(group.enter());
  EXPECT_EQ(limited["threads"], 1);
  EXPECT_EQ(limited["processor_limits"][0]["processors"], 0.5);
  ASSERT_EQ(bash(group.enter() + "$I devices >table"), 0);
  EXPECT_NE(load_text(directory_.file("table")).find(" 1 thread by cgroup v"), std::string::npos);
  make_images(3, "64x64");
  EXPECT_EQ(bash(group.enter() + "$I in out -q --report report.json"), 0);
  EXPECT_EQ(Json::parse(load_text(directory_.file("report.json")))["jobs"], 1);
}

TEST_F(LimitsCli, AffinitySetsDefaultThreads) {
  ASSERT_EQ(::system("command -v taskset >/dev/null"), 0);
  EXPECT_EQ(cpu("first=$(taskset -cp $$ | sed 's/.*: *//; s/[^0-9].*//'); taskset -c $first ")["threads"], 1);
}

TEST_F(LimitsCli, UlimitLimitsMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer maps far more than any limit";
  for (const auto& [option, source] : {std::pair{"-v", "ulimit -v"}, {"-d", "ulimit -d"}}) {
    const Json limit = cpu("ulimit " + std::string(option) + " 2000000; ")["memory_limits"][0];
    EXPECT_EQ(limit["source"], source);
    EXPECT_EQ(limit["limit_bytes"], 2'000'000 * 1024);
    EXPECT_LT(limit["available_bytes"], 2'000'000 * 1024);
  }
}

TEST_F(LimitsCli, SlurmLimitsMemory) {
  EXPECT_EQ(cpu("export SLURM_MEM_PER_NODE=300; ")["memory_limits"][0]["limit_bytes"], 300 * kMiB);
  EXPECT_EQ(cpu("export SLURM_MEM_PER_CPU=100 SLURM_CPUS_ON_NODE=4; ")["memory_limits"][0]["limit_bytes"],
            400 * kMiB);
  ASSERT_EQ(bash("SLURM_MEM_PER_NODE=300 $I devices >table"), 0);
  EXPECT_NE(load_text(directory_.file("table")).find("memory limit of SLURM_MEM_PER_NODE: "),
            std::string::npos);
  make_images(1, "4000x3000");
  EXPECT_EQ(bash("SLURM_MEM_PER_NODE=20 $I in/0.png out.png -q 2>error"), 1);
  EXPECT_NE(load_text(directory_.file("error")).find("not enough memory"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::limits_cli_test
