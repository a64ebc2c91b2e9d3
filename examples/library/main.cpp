// A program that runs an image through imgpipe's stages: library_example INPUT OUTPUT
#include <cstdio>
#include <exception>

#include <imgpipe/image_io.h>
#include <imgpipe/runner.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s INPUT OUTPUT\n", argv[0]);
    return 2;
  }
  try {
    const imgpipe::Image image = imgpipe::read_image(argv[1]);
    imgpipe::Runner runner({.device = "auto"});
    const imgpipe::Plan plan = runner.plan(image.shape(), "gray,hist,contrast,smooth");
    const imgpipe::RunResult result = runner.run(image.untyped_view(), plan);
    imgpipe::write_image(argv[2], result.pixels);
    for (const imgpipe::ContrastRange& range : result.report.ranges)
      std::printf("%s: lo %d, hi %d\n", range.label.c_str(), range.lo, range.hi);
    for (const imgpipe::TimeRow& row : result.report.rows)
      std::printf("%-10s %8.3f ms\n", row.name.c_str(), row.time_ms);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "library_example: %s\n", error.what());
    return 1;
  }
}
