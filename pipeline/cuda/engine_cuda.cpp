// The CUDA engine: processes one image at a time on its own context (pipeline/cuda/device_job.h).
#include <exception>
#include <memory>

#include "pipeline/cuda/device_job.h"
#include "pipeline/cuda/engine_context.h"
#include "pipeline/engine.h"
#include "pipeline/host/chained_run.h"

namespace imgpipe {
namespace {

class CudaEngine final : public Engine {
 public:
  CudaEngine(int index, int threads, std::int64_t memory_bytes)
      : threads_(threads), context_(index, memory_bytes) {}

  [[nodiscard]] std::string_view implementation() const override { return "cuda"; }
  [[nodiscard]] std::string device_name() const override { return context_.device_name(); }
  [[nodiscard]] double copy_bandwidth() override {
    if (context_.failure() || context_.get() == nullptr) return 0;
    const CurrentDevice device(context_.get()->device);
    return measure_device_copy_bandwidth(context_.get()->stream);
  }
  // An image that is too large as a whole goes in bands.
  [[nodiscard]] MemoryNeed memory_need(const MemoryEstimateRequest& question) const override {
    const MemoryNeed whole = Engine::memory_need(question);
    const MemoryNeed bands = chains_need(question, true);
    return bands.with_threads(threads()) < whole.with_threads(threads()) ? bands : whole;
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    if (context_.failure()) std::rethrow_exception(context_.failure());
    const MemoryNeed whole = Engine::memory_need(memory_estimate_request(job, outcome.plan));
    run_on_device(context_, threads_, job, outcome, whole.with_threads(threads_.count()));
  }

 private:
  HostThreads threads_;
  EngineContext context_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int index, int threads, std::int64_t memory_bytes) {
  return std::make_unique<CudaEngine>(index, threads, memory_bytes);
}

}  // namespace imgpipe
