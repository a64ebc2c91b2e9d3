// The CPU engine: runs the plan's nodes in chains, each band by band (pipeline/chains.h). For reports per
// stage (--cpu, --repeat, --keep-stages) every step is a chain.
#include "images/memory/kept_memory.h"
#include "images/simd.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/host/chained_run.h"

namespace imgpipe {
namespace {

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(int threads) : threads_(threads) {}

  [[nodiscard]] std::string_view implementation() const override { return "cpu"; }
  [[nodiscard]] std::string device_name() const override {
    const int count = threads_.count();
    return host_processor() + ", " + std::to_string(count) + (count == 1 ? " thread, " : " threads, ") +
           simd_target();
  }
  [[nodiscard]] double copy_bandwidth() override { return measure_host_copy_bandwidth(threads_.count()); }
  [[nodiscard]] MemoryNeed memory_need(const MemoryEstimateRequest& question) const override {
    return chains_need(question);
  }
  void trim() override { memory_.trim(); }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  [[nodiscard]] std::int64_t kept_bytes() const override { return memory_.kept_bytes(); }
  void execute(Job& job, Outcome& outcome) override { run_chains(job, outcome, threads_, nullptr, &memory_); }

 private:
  KeptMemory memory_;
  HostThreads threads_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace imgpipe
