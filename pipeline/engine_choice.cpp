#include "pipeline/engine_choice.h"

#include "images/unreachable.h"

namespace imgpipe {

std::optional<CudaDevice> usable_device(const CudaDevices& found) {
  for (const CudaDevice& device : found.devices) {
    if (can_run_on(device)) return device;
  }
  return std::nullopt;
}

std::string why_no_device(const CudaDevices& found) {
  return found.devices.empty() ? found.unusable_reason : "the CUDA device is too old";
}

DeviceChoice choose_without_devices() {
  return {Backend::cpu, {}, "auto chose cpu (the image is too small to benefit from CUDA)"};
}

DeviceChoice choose_by_cost(const CudaDevices& found, const CostModel& model, const std::string& how,
                            std::int64_t pixels, int threads, int passes) {
  const std::optional<CudaDevice> device = usable_device(found);
  if (!device) return {Backend::cpu, {}, "auto chose cpu (" + why_no_device(found) + ")"};
  const std::string name = "cuda:" + std::to_string(device->index) + " (" + device->name + ")";
  if (model.single_image_pays(pixels, threads, passes))
    return {Backend::cuda, {device->index}, "auto chose " + name + " (faster; " + how + ")"};
  return {Backend::cpu, {}, "auto chose cpu (starting " + name + " costs more than it saves; " + how + ")"};
}

std::unique_ptr<Engine> make_engine(const DeviceChoice& choice, int threads) {
  switch (choice.backend.value()) {
    case Backend::reference:
      return make_reference_engine(threads);
    case Backend::cpu:
      return make_cpu_engine(threads);
    case Backend::cuda:
      return make_cuda_engine(choice.cuda_index(), threads, choice.memory_bytes);
  }
  unreachable();
}

}  // namespace imgpipe
