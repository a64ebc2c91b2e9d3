// imgpipe's default stages with OpenCV, for compare.sh and batch.sh only: grey, histogram, min/max stretch,
// 5x5 mean.
//
//   opencv_pipeline IN OUT            one image, end to end; PNG at level 1
//   opencv_pipeline --files FOLDER IN...   many images on one thread, into FOLDER, as PNG
//   opencv_pipeline --stages IN N     the four stages alone, N times on one thread; prints the median in ms
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

namespace {

struct Buffers {
  cv::Mat grey, counts, stretched, smoothed;
};

void run_stages(const cv::Mat& color, Buffers& buffers) {
  cv::cvtColor(color, buffers.grey, cv::COLOR_BGR2GRAY);
  const int bins = 256;
  const float range[] = {0, 256};
  const float* ranges[] = {range};
  cv::calcHist(&buffers.grey, 1, nullptr, cv::Mat(), buffers.counts, 1, &bins, ranges);
  cv::normalize(buffers.grey, buffers.stretched, 0, 255, cv::NORM_MINMAX);
  cv::blur(buffers.stretched, buffers.smoothed, cv::Size(5, 5));
}

bool process(const char* in, const std::string& out, Buffers& buffers) {
  const cv::Mat color = cv::imread(in);
  if (color.empty()) return false;
  run_stages(color, buffers);
  return cv::imwrite(out, buffers.smoothed, {cv::IMWRITE_PNG_COMPRESSION, 1});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--files") == 0) {
    cv::setNumThreads(1);
    Buffers buffers;  // reused for all images
    for (int i = 3; i < argc; ++i) {
      const std::string out = std::filesystem::path(argv[i]).stem().string() + ".png";
      if (!process(argv[i], std::string(argv[2]) + "/" + out, buffers)) return 1;
    }
    return 0;
  }
  if (argc == 4 && std::strcmp(argv[1], "--stages") == 0) {
    cv::setNumThreads(1);
    const cv::Mat color = cv::imread(argv[2]);
    if (color.empty()) return 1;
    Buffers buffers;
    run_stages(color, buffers);
    std::vector<double> times;
    for (int i = 0; i < std::atoi(argv[3]); ++i) {
      const auto start = std::chrono::steady_clock::now();
      run_stages(color, buffers);
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("%.3f\n", times[times.size() / 2]);
    return 0;
  }
  if (argc != 3) return 2;
  Buffers buffers;
  return process(argv[1], argv[2], buffers) ? 0 : 1;
}
