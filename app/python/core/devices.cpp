#include "app/python/core/devices.h"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <unistd.h>

#include "app/python/core/idle_threads.h"
#include "images/error.h"
#include "pipeline/device.h"
#include "pipeline/lane.h"

namespace imgpipe::python {
namespace {

constexpr std::size_t kLanes = 3;
constexpr std::int64_t kIdlePinnedBytes = std::int64_t{256} << 20;

std::atomic<std::int64_t> limit{std::int64_t{400} << 20};
std::mutex mutex;  // guards sessions(); never locked in a forked process
std::map<int, DeviceSession>& sessions() {
  static auto* const all = new std::map<int, DeviceSession>;  // devices must not be accessed at process exit
  return *all;
}
std::atomic<pid_t> user{0};  // the process that has sessions, or has used a device without one

void apply_limit(DeviceSession& session) {
  session.lanes->limit_memory(device_image_limit());
  session.results->limit_idle(static_cast<std::size_t>(limit / 4));
}

DeviceSession make_session(int index) {
  auto results = make_result_memory(index);
  const std::shared_ptr<std::pmr::memory_resource> memory = make_lane_memory(kIdlePinnedBytes);
  auto lanes = std::make_unique<LaneBatches>(LaneBatchSettings{
      .make_lane = [index,
                    memory] { return std::move(make_cuda_lanes(std::array{index}, 1, memory).front()); },
      .memory = memory,
      .lanes = kLanes});
  return {index, std::move(results), std::move(lanes)};
}

}  // namespace

void check_process() {
  const pid_t process = user;
  if (process != 0 && process != ::getpid())
    throw Error(ErrorKind::device,
                "CUDA was used before this process forked; start processes by spawn or forkserver");
}

void note_device_use() {
  user = ::getpid();
}

std::string device_of_call(const std::string& device) {
  const std::optional<Backend> backend = choose_device(device).backend;
  if (backend == Backend::cuda) check_process();
  const pid_t process = user;
  return !backend && process != 0 && process != ::getpid() ? "cpu" : device;
}

DeviceSession& device_session(const std::string& device) {
  const DeviceChoice choice = choose_device(device);
  if (choice.backend != Backend::cuda || choice.cuda_devices.size() > 1)
    throw Error(ErrorKind::usage, "--device: expected cuda or cuda:N, got " + device);
  check_process();
  const int index = find_cuda_device(choice.cuda_index()).index;
  note_device_use();  // before the lock, which a process that forks now would inherit
  const std::lock_guard lock(mutex);
  const auto found = sessions().find(index);
  if (found != sessions().end()) return found->second;
  DeviceSession& session = sessions().emplace(index, make_session(index)).first->second;
  apply_limit(session);
  return session;
}

std::int64_t device_memory_limit() {
  return limit;
}

std::int64_t device_image_limit() {
  return limit / 4 * 3;
}

void set_device_memory_limit(std::int64_t bytes) {
  check_process();
  if (limit.exchange(bytes) != bytes) end_idle_threads();  // their engines keep memory up to the former limit
  const std::lock_guard lock(mutex);
  for (auto& [index, session] : sessions()) apply_limit(session);
}

void trim_devices() {
  if (user != ::getpid()) return;
  const std::lock_guard lock(mutex);
  for (auto& [index, session] : sessions()) {
    session.lanes->trim();
    session.results->trim();
  }
}

}  // namespace imgpipe::python
