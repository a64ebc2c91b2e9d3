// --shard auto in the program: a job's work is done once, and each process reports its part.
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"
#include "tests/support/launchers.h"

namespace imgpipe::test::launcher_cli_test {
namespace {

using Json = nlohmann::json;

class LauncherCli : public BatchCli {
 protected:
  void SetUp() override {
    BatchCli::SetUp();
    // The tests may themselves run in a launcher's job.
    for (const char* variable :
         {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
          "SLURM_ARRAY_TASK_ID", "SGE_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX",
          "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX", "JOB_COMPLETION_INDEX"})
      ::unsetenv(variable);
    for (int i = 0; i < 20; ++i) write("in/n" + std::to_string(i) + ".ppm", 1, 3);
  }

  [[nodiscard]] RunResult run(const Variables& variables, std::vector<std::string> options) const {
    options.insert(options.begin(), {in(), out()});
    RunOptions environment;
    environment.environment = variables;
    return run_imgpipe(options, environment);
  }
};

TEST_F(LauncherCli, JobIsDoneOnce) {
  std::vector<Variables> processes;
  for (int task = 1; task <= 2; ++task) {
    for (int rank = 0; rank < 2; ++rank) processes.push_back(srun(rank, 2, array_task(task, 1, 2, 2)));
  }
  std::size_t done = 0;
  int reports = 0;
  for (const Variables& process : processes) {
    const std::string report = file("r" + std::to_string(reports++) + ".json");
    const RunResult result = run(process, {"--shard", "auto", "--report", report});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    done += Json::parse(load_text(report))["done"].get<std::size_t>();
    // A requeued task finds that its part is done.
    EXPECT_EQ(run(process, {"--shard", "auto", "--skip-existing", "--report", report}).exit_code, 0);
    EXPECT_EQ(Json::parse(load_text(report))["done"], 0);
  }
  EXPECT_EQ(done, 23U);
  EXPECT_EQ(written().size(), 23U);
}

TEST_F(LauncherCli, PartIsAlwaysReported) {
  const std::string text = "shard 2 of 4, by SLURM_PROCID=1 (0 to 3); balance hash";
  for (const char* talk : {"-q", "-v", "--no-color"}) {
    const RunResult result = run(srun(1, 4), {"--shard", "auto", talk, "--report", file("r.json")});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.err.starts_with("imgpipe: " + text + "\n")) << result.err;
    EXPECT_EQ(result.out.find(text) == std::string::npos, std::string(talk) == "-q") << result.out;
  }
  const Json shard = Json::parse(load_text(file("r.json")))["shard"];
  const Json expected{{"variable", "SLURM_PROCID"}, {"value", 1}, {"first", 0}, {"last", 3}};
  EXPECT_EQ(shard["index"], 2);
  EXPECT_EQ(shard["count"], 4);
  EXPECT_EQ(shard["given"], false);
  EXPECT_EQ(shard["by"], Json::array({expected}));
  const RunResult plan = run(srun(1, 4), {"--shard", "auto", "--dry-run"});
  EXPECT_NE(plan.out.find("\n" + text + "\n"), std::string::npos) << plan.out;
  EXPECT_EQ(plan.err, "imgpipe: " + text + "\n");
}

TEST_F(LauncherCli, ExplicitPart) {
  const RunResult result = run(srun(1, 4), {"--shard", "3/5", "-q", "--report", file("r.json")});
  EXPECT_EQ(result.err, "imgpipe: shard 3 of 5, given; balance hash\n");
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["shard"]["given"], true);
  EXPECT_EQ(report["shard"]["by"], Json::array());
  EXPECT_EQ(report["images"].get<int>() + report["shard"]["files_of_others"].get<int>(), 23);
  EXPECT_EQ(run({}, {"-q", "--report", file("r.json")}).err, "");
  EXPECT_EQ(Json::parse(load_text(file("r.json")))["shard"], nullptr);
}

TEST_F(LauncherCli, BatchScriptOfSeveralTasksIsRejected) {
  expect_refused(run(batch_script(4), {"--shard", "auto"}), "start imgpipe with srun");
  expect_refused(run(array_task(3, 3, 3, 1), {"--shard", "auto"}), "use auto/N");
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace imgpipe::test::launcher_cli_test
