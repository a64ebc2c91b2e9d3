// Runs stages over images in memory, for stage_server.py. Reads requests from standard input, one per line:
//
//   image WIDTH HEIGHT CHANNELS SAMPLE        then the samples: the image of the following runs
//   run DEVICE TARGET THREADS STAGES          TARGET: an instruction set, or "best"
//   targets                                   lists the instruction sets
//
// A run answers "pixels WIDTH HEIGHT CHANNELS SAMPLE WALL PROCESSOR" (milliseconds) and the samples, or
// "error MESSAGE".
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "images/image.h"
#include "images/simd.h"
#include "pipeline/runner.h"

namespace imgpipe::test {
namespace {

// numpy's names.
std::string_view sample_name(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return "uint8";
    case Sample::u16:
      return "uint16";
    case Sample::f32:
      return "float32";
    case Sample::f16:
      return "float16";
    case Sample::bf16:
      return "bfloat16";
  }
  unreachable();
}

Sample input_sample(std::string_view name) {
  for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
    if (sample_name(sample) == name) return sample;
  }
  throw std::invalid_argument("unknown type of samples: " + std::string(name));
}

class Server {
 public:
  void answer(std::istringstream request) {
    std::string verb;
    request >> verb;
    if (verb == "image") {
      read_image(request);
    } else if (verb == "run") {
      run(request);
    } else if (verb == "targets") {
      for (const std::string& target : simd_targets()) std::cout << target << ' ';
      std::cout << '\n';
    } else {
      throw std::invalid_argument("unknown request: " + verb);
    }
    std::cout.flush();
  }

 private:
  void read_image(std::istream& request) {
    Shape shape;
    std::string sample;
    request >> shape.width >> shape.height >> shape.channels >> sample;
    shape.sample = input_sample(sample);
    image_ = Image(shape);
    std::cin.read(reinterpret_cast<char*>(image_.untyped_view().data), shape.bytes());
    if (!std::cin) throw std::runtime_error("standard input ends within an image");
  }

  void run(std::istream& request) {
    std::string device, target, stages;
    int threads = 0;
    request >> device >> target >> threads >> stages;
    try {
      use_simd(target == "best" ? "" : target);
      auto [found, added] = runners_.try_emplace({device, threads});
      if (added)
        found->second = std::make_unique<Runner>(RunnerSettings{.device = device, .threads = threads});
      const std::clock_t start = std::clock();
      const RunResult result = found->second->run(image_.untyped_view(), stages);
      write(result, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << '\n';
    }
  }

  static void write(const RunResult& result, double processor_ms) {
    const Shape& shape = result.report.output;
    std::cout << "pixels " << shape.width << ' ' << shape.height << ' ' << shape.channels << ' '
              << sample_name(shape.sample) << ' ' << result.report.wall_ms << ' ' << processor_ms << '\n';
    std::cout.write(reinterpret_cast<const char*>(result.pixels.data), shape.bytes());
  }

  Image image_;
  std::map<std::pair<std::string, int>, std::unique_ptr<Runner>> runners_;  // by device and threads
};

}  // namespace
}  // namespace imgpipe::test

int main() {
  std::ios::sync_with_stdio(false);
  imgpipe::test::Server server;
  for (std::string line; std::getline(std::cin, line);) server.answer(std::istringstream(line));
}
