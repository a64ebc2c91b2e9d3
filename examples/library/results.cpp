// A program that makes two images of one, which is decoded once: library_results INPUT GREY THUMBNAIL
#include <cstdio>
#include <exception>

#include <imgpipe/image_io.h>
#include <imgpipe/runner.h>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s INPUT GREY THUMBNAIL\n", argv[0]);
    return 2;
  }
  try {
    const imgpipe::Image image = imgpipe::read_image(argv[1]);
    imgpipe::Runner runner({.device = "auto"});
    const imgpipe::Plan plan = runner.branched_plan(image.shape(), {"gray,contrast", "gray,resize:160:120"});
    const imgpipe::RunResult result = runner.run(image.untyped_view(), plan);
    imgpipe::write_image(argv[2], result.results[0]);
    imgpipe::write_image(argv[3], result.results[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "library_results: %s\n", error.what());
    return 1;
  }
}
