// The same job by OpenCV: grey, histogram, min/max stretch, 5x5 mean. Built and timed by compare.sh only.
//
//   opencv_pipeline IN OUT            one image, end to end; PNG at level 1
//   opencv_pipeline --stages IN N     the four stages alone on one thread: N times, the median in ms
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

}  // namespace

int main(int argc, char** argv) {
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
  const cv::Mat color = cv::imread(argv[1]);
  if (color.empty()) return 1;
  Buffers buffers;
  run_stages(color, buffers);
  return cv::imwrite(argv[2], buffers.smoothed, {cv::IMWRITE_PNG_COMPRESSION, 1}) ? 0 : 1;
}
