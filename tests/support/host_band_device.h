// A stand-in for a band device: its memory is the host's, and the stages' host functions process each band's
// rows as a separate image. It checks how it is used.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/devices/band_device.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe::test {

// When queued work runs: as early or as late as possible.
enum class Queued { at_once, on_wait };

class HostBandDevice final : public BandDevice {
 public:
  HostBandDevice(std::int64_t bytes, Queued queued) : bytes_(bytes), queued_(queued) {}

  [[nodiscard]] DeviceCapacity room() override;
  [[nodiscard]] std::pmr::memory_resource* staging() override { return &staging_; }
  void start(const DeviceBands& bands, std::size_t slots, const BandTables& tables, int pass) override;
  void begin(std::size_t slot, const BandRows& rows, std::span<const ConstHostView> inputs,
             std::span<const HostView> outputs) override;
  void finish(std::size_t slot, std::vector<Span>& spans) override;
  [[nodiscard]] const std::uint64_t* counts(std::size_t slot, std::size_t node) const override;
  void stop() noexcept override { ++stops; }

  // The next band from this number on fails; -1: none. Counts the bands that have begun.
  std::atomic<std::int64_t> fails_at{-1};

  std::vector<std::string> faults;          // violations of BandDevice's rules
  std::atomic<std::int64_t> bands_done{0};  // of all chains
  std::size_t max_slots = 0;
  std::int64_t chains = 0;
  std::int64_t max_bytes = 0;  // of the device
  std::int64_t stops = 0;

 private:
  struct Staging final : std::pmr::memory_resource {
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
      return this == &other;
    }
    [[nodiscard]] bool holds(const void* from, std::int64_t bytes);

    std::mutex mutex;
    std::vector<std::pair<const std::byte*, std::size_t>> blocks;
  };
  struct Slot {
    std::vector<std::byte> memory;
    bool busy = false;
    BandRows rows;
    std::vector<ConstHostView> inputs;
    std::vector<HostView> outputs;
    std::vector<std::vector<std::uint64_t>> counts;  // by node
  };
  struct Queue;

  void fault(const std::string& what);
  void work_on(Slot& slot);

  const std::int64_t bytes_;
  const Queued queued_;
  Staging staging_;
  std::mutex mutex_;
  const DeviceBands* bands_ = nullptr;
  BandTables tables_;
  std::vector<std::vector<std::byte>> copies_;  // by value, of tables
  std::vector<Slot> slots_;
};

// Runs jobs in bands through such a device.
class HostBandEngine final : public Engine {
 public:
  HostBandEngine(HostBandDevice& device, int threads);

  [[nodiscard]] std::string_view implementation() const override { return "bands"; }
  [[nodiscard]] std::string device_name() const override { return "bands"; }
  [[nodiscard]] double copy_bandwidth() override { return 0; }
  [[nodiscard]] MemoryNeed memory_need(const MemoryEstimateRequest& question) const override;

 protected:
  [[nodiscard]] int threads() const override;
  void execute(Job& job, Outcome& outcome) override;

 private:
  HostBandDevice& device_;
  HostThreads threads_;
};

}  // namespace imgpipe::test
