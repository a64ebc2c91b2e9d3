// imgpipe bench --with on a device: correct variants become rows of the ladder, faults are reported.
#include <cstdlib>
#include <map>
#include <string>

#include "lab/bench/kernel_template.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/user_kernel.h"

namespace imgpipe::test::own_kernel_cuda_test {
namespace {

class UserKernelOnCuda : public UserKernel {
 protected:
  // Runs the variants in `code`.
  RunResult run_one(const std::string& code, Words more = {}) const {
    Words arguments{"--with",    save_source("my.cu", with_header(code)),
                    "--variant", "mine",
                    "--size",    "301x203",
                    "--repeat",  "2",
                    "--format",  "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  void expect_wrong(const std::string& code, const std::string& why) const {
    const RunResult result = run_one(code);
    EXPECT_EQ(result.exit_code, 5) << result.err;
    std::map<std::string, Json> rows = rows_of(result);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows["mine"]["status"], "WRONG");
    EXPECT_TRUE(rows["mine"]["median_us"].is_null()) << "it was timed";
    EXPECT_TRUE(has(rows["mine"]["checked"], why)) << rows["mine"];
  }
};

#define IMGPIPE_NEED_CUDA_AND_NVCC() \
  IMGPIPE_NEED_CUDA();               \
  IMGPIPE_NEED_NVCC()

// Returns the code of hist with `kernel` as the counting kernel and `launch` as its host code.
std::string hist_code(const std::string& kernel, const std::string& launch) {
  return "__global__ void count(const uint8_t* in, size_t pitch, int width, int height, unsigned long long* "
         "counts) {\n"
         "  const int x = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         kernel +
         "}\n"
         "IMGPIPE_HIST(mine, \"x\") {\n"
         "  const dim3 grid((call.width + 255) / 256, min(call.height, 65535));\n" +
         launch + "}";
}
const std::string kCount =
    "  if (x >= width) return;\n"
    "  for (int y = blockIdx.y; y < height; y += gridDim.y) atomicAdd(&counts[in[y * pitch + x]], 1ull);\n";
const std::string kClear = "  cudaMemsetAsync(call.counts, 0, 256 * 8, call.stream);\n";
const std::string kLaunch =
    "  count<<<grid, 256, 0, call.stream>>>(call.in, call.in_pitch, call.width, call.height, call.counts);\n";

TEST_F(UserKernelOnCuda, EveryTemplateIsRightAndTimed) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  Words arguments{"--variant", "mine", "--size", "301x203", "--repeat", "3", "--format", "json"};
  Words stages = template_names();
  stages.pop_back();  // header
  for (const std::string& stage : stages)
    arguments.insert(arguments.end(), {"--with", save_source(stage + ".cu", kernel_template(stage))});
  const RunResult result = run(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["tables"].size(), stages.size());
  for (const Json& table : json["tables"]) {
    const Json& row = table["rows"][0];
    EXPECT_EQ(row["status"], "right") << row;
    EXPECT_EQ(row["checked"], "exact");
    EXPECT_EQ(row["runs"], 3);
    EXPECT_GT(row["median_us"].get<double>(), 0);
    EXPECT_TRUE(has(table["notes"].back(), "small test images")) << table["notes"];
  }
}

TEST_F(UserKernelOnCuda, GuideStepsAreRight) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  const RunResult result =
      run({"--with", save_source("my.cu", file_of_the_guide()), "--variant", "shared,production", "--size",
           "1920x1080", "--repeat", "9", "--format", "json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, Json> rows = rows_of(result);
  ASSERT_EQ(rows.size(), 5U);
  for (auto& [name, row] : rows) EXPECT_EQ(row["status"], "right") << row;
}

TEST_F(UserKernelOnCuda, AppearsInTheLadderInEveryFormat) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  const std::string source = save_source("my.cu", kernel_template("hist"));
  const std::string page = directory_.file("page.html");
  const std::string plot = directory_.file("plot.svg");
  const RunResult table =
      run({"--with", source, "--size", "640x426", "--repeat", "2", "--html", page, "--plot", plot});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_TRUE(has(table.out, "\n mine ")) << table.out;
  EXPECT_TRUE(has(table.out, "mine takes ")) << "beside production";
  const std::string html = load_text(page);
  EXPECT_TRUE(has(html, "<h4>mine, "));
  EXPECT_TRUE(has(html, "user-provided, on CUDA"));
  EXPECT_TRUE(has(html, "__global__ void count_pixels("));
  EXPECT_TRUE(has(load_text(plot), ">mine<"));
  const RunResult csv = run({"--with", source, "--size", "640x426", "--repeat", "2", "--format", "csv"});
  EXPECT_TRUE(has(csv.out, ",cuda,mine,")) << csv.out;
}

TEST_F(UserKernelOnCuda, WrongResultIsLocatedAndNotTimed) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  expect_wrong(hist_code(kCount, kLaunch), "first in bin ");  // the counters hold garbage
  // The first kernel omits the last column; the second works only for widths that are multiples of 32.
  expect_wrong(hist_code("  if (x >= width - 1) return;\n" + kCount, kClear + kLaunch), "on noise 1x1: ");
  expect_wrong(hist_code("  if (x >= width / 32 * 32) return;\n" + kCount, kClear + kLaunch), ": expected ");
  // Assumes that rows have no padding.
  expect_wrong(hist_code("  pitch = width;\n" + kCount, kClear + kLaunch), "on noise ");
}

TEST_F(UserKernelOnCuda, OutOfBoundsWritesAreDetected) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  expect_wrong(hist_code(kCount, kClear + kLaunch +
                                     "  cudaMemsetAsync(call.counts, 0, 257 * 8, call.stream);\n" + kLaunch),
               "writes outside the counts: ");
  expect_wrong(
      hist_code(kCount,
                kClear + kLaunch + "  cudaMemsetAsync(const_cast<uint8_t*>(call.in), 3, 1, call.stream);\n"),
      "writes to its input: byte 0 of row 0");
  std::string smooth = kernel_template("smooth");
  smooth = smooth.substr(smooth.find("using Sample"));
  const std::string guard = "if (x >= width) return;";
  smooth.replace(smooth.find(guard), guard.size(), "if (x >= width + 1) return;");
  expect_wrong(smooth, "writes outside its output: byte ");
  std::string contrast = kernel_template("contrast");
  contrast = contrast.substr(contrast.find("using Sample"));
  const std::string scratch = "2 * sizeof(int)";
  contrast.replace(contrast.find(scratch), scratch.size(), "1 * sizeof(int)");
  expect_wrong(contrast, "writes outside its scratch memory: ");
}

TEST_F(UserKernelOnCuda, WorkOnAnotherStreamIsDetected) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  std::string launch = kLaunch;
  const std::string stream = "256, 0, call.stream";
  launch.replace(launch.find(stream), stream.size(), "256");
  expect_wrong(hist_code(kCount, kClear + launch), "on noise ");
  std::string smooth = kernel_template("smooth");
  smooth = smooth.substr(smooth.find("using Sample"));
  const std::string on_it = "grid, block, 0, call.stream";
  smooth.replace(smooth.find(on_it), on_it.size(), "grid, block");
  expect_wrong(smooth, "some work is not on call.stream");
}

TEST_F(UserKernelOnCuda, FailedLaunchIsWrong) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  std::string launch = kLaunch;
  launch.replace(launch.find("256"), 3, "2048");
  expect_wrong(hist_code(kCount, kClear + launch), "fails: invalid ");
  // Launches more rows of blocks than a grid can have; small images do not reveal this.
  expect_wrong(
      hist_code(kCount, "  const dim3 rows(grid.x, call.height);\n" + kClear +
                            "  count<<<rows, 256, 0, call.stream>>>(call.in, call.in_pitch, call.width, "
                            "call.height, call.counts);\n"),
      "on noise 2x70001: fails: invalid ");
}

TEST_F(UserKernelOnCuda, InvalidAddressEndsTheRun) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  const RunResult result = run_one(hist_code("  counts[size_t(1) << 40] = 1;\n" + kCount, kClear + kLaunch));
  expect_refused(result, 1,
                 "my.cu: mine of hist: on noise 1x1 fails: an illegal memory access was encountered");
  EXPECT_TRUE(has(result.err, "compute-sanitizer --target-processes all imgpipe bench --stage "))
      << result.err;
}

TEST_F(UserKernelOnCuda, HangingKernelIsTerminated) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  const RunResult result = run_one(
      hist_code(
          "  volatile unsigned long long* same = counts + 255;\n  *same = 1;\n  while (*same != 0) {}\n",
          kClear + kLaunch),
      {"--time-limit", "3"});
  expect_refused(result, 1, "my.cu: mine of hist on noise 1x1: still running after 3 s");
}

TEST_F(UserKernelOnCuda, OtherVariantsAreTimedDespiteAWrongOne) {
  IMGPIPE_NEED_CUDA_AND_NVCC();
  const std::string source = save_source(
      "my.cu",
      with_header(hist_code(kCount, kClear + kLaunch) + "\nIMGPIPE_HIST(forgets, \"x\") {\n" + kClear + "}"));
  const RunResult result = run({"--with", source, "--variant", "mine,forgets,production", "--size", "301x203",
                                "--repeat", "2", "--format", "json"});
  EXPECT_EQ(result.exit_code, 5) << result.err;
  std::map<std::string, Json> rows = rows_of(result);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows["mine"]["status"], "right");
  EXPECT_EQ(rows["production"]["status"], "right");
  EXPECT_EQ(rows["forgets"]["status"], "WRONG");
}

}  // namespace
}  // namespace imgpipe::test::own_kernel_cuda_test
