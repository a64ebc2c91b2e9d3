// One image's way through device memory: upload, steps, download, queued on one stream. The engine and the
// lanes of a batch both go this way.
#pragma once

#include <string>
#include <vector>

#include "images/image.h"
#include "kernels/stage_call.h"
#include "pipeline/buffers.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/device_times.h"

namespace imgpipe {

class DeviceRun {
 public:
  // Takes device memory for all of the plan; what an earlier run of the context had is then gone. Spans go to
  // the timeline, on `track`. With `keep_outputs` every step writes memory of its own; without, memory that
  // nothing reads any more. Throws Error(memory) when the device has no room, Error(device), as all here.
  DeviceRun(Context& context, const Plan& plan, Timeline& timeline, bool keep_outputs,
            std::string track = kDeviceTrack);

  [[nodiscard]] DeviceTimes& times() { return times_; }
  // Where the decoded image goes.
  [[nodiscard]] const DeviceView& source() const { return source_; }

  // Queues the upload of rows, the first of them row `first` of the image. Returns the mark behind it.
  std::size_t upload(const ConstHostView& rows, std::int64_t first, int pass);
  // Queues the steps.
  void launch(int pass);
  // Queues the download of the finished image.
  void download(const HostView& to, int pass);
  // Queues the download of every step's histogram, by step.
  void download_histograms(std::vector<std::vector<std::uint64_t>>& to) const;
  // With keep_outputs: the frame behind each step, by step; empty for steps that only count.
  [[nodiscard]] std::vector<Frame<const std::byte, Device>> outputs() const;
  // To be called when everything is done.
  void give_spans() { times_.give_spans(); }

 private:
  void take_memory();
  void prepare();
  void make_calls();
  [[nodiscard]] DeviceView plane(std::size_t buffer, int i) const;

  Context& context_;
  const Plan& plan_;
  DeviceTimes times_;
  const std::vector<Work> works_;
  const Buffers buffers_;
  DeviceView source_;
  std::vector<DeviceBuffer*> memory_;  // by buffer; nullptr for counts
  std::vector<StageCall<Device>> calls_;
};

}  // namespace imgpipe
