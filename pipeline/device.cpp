#include "pipeline/device.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <unistd.h>

#include "images/error.h"
#include "images/names.h"
#include "images/text.h"
#include "pipeline/threads/fork_mutex.h"
#include "pipeline/threads/thread_start.h"

namespace imgpipe {
namespace {

constexpr std::array<std::string_view, 6> kDeviceForms{"auto",     "cuda", "cuda:N",
                                                       "cuda:N,M", "cpu",  "reference"};

std::string read_processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("model name") && colon != std::string::npos)
      return printable(line.substr(colon + 2));
  }
  return "unknown";
}

constexpr int kMinCapability = 75;  // 7.5: the lowest that the release build has code for

struct DeviceWarnings {
  std::set<std::string> known;
  std::vector<std::string> waiting;
};
DeviceWarnings& device_warnings() {
  static DeviceWarnings warnings;
  return warnings;
}

// Parses "N,M"; empty if this is not a list of distinct numbers.
std::vector<int> cuda_devices_of(std::string_view text) {
  std::vector<int> devices;
  for (;;) {
    const std::string_view one = text.substr(0, text.find(','));
    int index = -1;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), index);
    if (error != std::errc{} || end != one.data() + one.size() || index < 0) return {};
    if (std::ranges::find(devices, index) != devices.end()) return {};
    devices.push_back(index);
    if (one.size() == text.size()) return devices;
    text.remove_prefix(one.size() + 1);
  }
}

// Returns "; did you mean cuda:1?" for cuda1, a similar suggestion for other near misses, or "".
std::string device_meant(std::string_view text) {
  constexpr std::string_view kCuda = "cuda";
  if (text.starts_with(kCuda) && cuda_devices_of(text.substr(kCuda.size())).size() == 1)
    return "; did you mean cuda:" + std::string(text.substr(kCuda.size())) + "?";
  constexpr std::array<std::string_view, 4> kWords{"auto", kCuda, "cpu", "reference"};
  return text.find(':') == std::string_view::npos ? did_you_mean(text, kWords) : "";
}

std::vector<ProcessorLimit> host_processor_limits() {
  const int by_affinity = processors_by_affinity();
  const int online = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return processor_limits(std::max(online, by_affinity), by_affinity);
}

}  // namespace

bool can_run_on(const CudaDevice& device) {
  return device.major * 10 + device.minor >= kMinCapability;
}

std::string why_too_old(const CudaDevice& device) {
  return "cuda:" + std::to_string(device.index) + " (" + device.name + "): compute capability " +
         std::to_string(device.major) + "." + std::to_string(device.minor) + "; imgpipe needs at least " +
         std::to_string(kMinCapability / 10) + "." + std::to_string(kMinCapability % 10);
}

CudaDevice find_cuda_device(int index) {
  const CudaDevices found = list_cuda_devices();
  if (found.devices.empty()) throw Error(ErrorKind::device, "cuda cannot be used: " + found.unusable_reason);
  for (const CudaDevice& device : found.devices) {
    if (device.index != index && index != kAnyCudaDevice) continue;
    if (can_run_on(device)) return device;
    if (index != kAnyCudaDevice) throw Error(ErrorKind::device, why_too_old(device));
    warn_of_devices(why_too_old(device) + "; skipped");
  }
  if (index == kAnyCudaDevice)
    throw Error(ErrorKind::device, "cuda cannot be used: every CUDA device is too old");
  throw Error(ErrorKind::device, "cuda:" + std::to_string(index) + ": no such device; expected 0 to " +
                                     std::to_string(found.devices.size() - 1));
}

void warn_of_devices(const std::string& warning) {
  DeviceWarnings& warnings = device_warnings();
  const std::lock_guard lock(fork_mutex());
  if (warnings.known.insert(warning).second) warnings.waiting.push_back(warning);
}

std::vector<std::string> take_device_warnings() {
  DeviceWarnings& warnings = device_warnings();
  const std::lock_guard lock(fork_mutex());
  return std::exchange(warnings.waiting, {});
}

const std::string& host_processor() {
  static const std::string processor = read_processor();
  return processor;
}

int host_threads() {
  return threads_for(host_processor_limits());
}

HostInfo host_info() {
  HostInfo info;
  info.processor = host_processor();
  info.processor_limits = host_processor_limits();
  info.threads = threads_for(info.processor_limits);
  info.memory_bytes = std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
  info.memory_bounds = memory_bounds();
  info.available_bytes =
      info.memory_bounds.empty() ? info.memory_bytes : info.memory_bounds.front().available_bytes;
  return info;
}

DeviceChoice choose_device(std::string_view text) {
  if (text == "reference") return {Backend::reference, {}, ""};
  if (text == "cpu") return {Backend::cpu, {}, ""};
  if (text == "auto") return {std::nullopt, {}, ""};
  if (text == "cuda") return {Backend::cuda, {}, ""};
  if (text.starts_with("cuda:")) {
    const std::vector<int> devices = cuda_devices_of(text.substr(5));
    if (!devices.empty()) return {Backend::cuda, devices, ""};
  }
  throw Error(ErrorKind::usage, "--device: must be one of " + joined(kDeviceForms) + "; got '" +
                                    printable(text) + "'" + device_meant(text));
}

double measure_host_copy_bandwidth(int threads, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  constexpr int kCopies = 5;
  const auto from = std::make_unique<char[]>(bytes);
  const auto to = std::make_unique<char[]>(bytes);
  std::latch counted(1);
  std::size_t count = 0;
  std::unique_ptr<std::barrier<>> barrier;
  const auto copy_share = [&](std::size_t thread) {
    const std::size_t first = bytes / count * thread;
    const std::size_t end = thread + 1 == count ? bytes : first + bytes / count;
    std::memcpy(to.get() + first, from.get() + first, end - first);
  };
  std::vector<std::thread> others = start_threads(threads - 1, [&](int other) {
    counted.wait();
    for (int i = 0; i < kCopies; ++i) {
      barrier->arrive_and_wait();
      copy_share(static_cast<std::size_t>(other) + 1);
      barrier->arrive_and_wait();
    }
  });
  count = others.size() + 1;
  barrier = std::make_unique<std::barrier<>>(static_cast<std::ptrdiff_t>(count));
  counted.count_down();
  std::array<double, kCopies> rates{};
  for (double& rate : rates) {
    barrier->arrive_and_wait();
    const auto start = Clock::now();
    copy_share(0);
    barrier->arrive_and_wait();
    rate = 2.0 * static_cast<double>(bytes) / std::chrono::duration<double>(Clock::now() - start).count();
  }
  for (std::thread& other : others) other.join();
  std::ranges::sort(rates);
  return rates[rates.size() / 2];
}

}  // namespace imgpipe
