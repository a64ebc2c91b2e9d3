// One image's way through device memory: upload, steps, download, queued on one stream. The engine and the
// lanes of a batch both go this way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "images/image.h"
#include "kernels/shared/luma.h"
#include "kernels/stage_call.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/device_times.h"
#include "pipeline/graph.h"

namespace imgpipe {

// One allocation of a program on a device: for values, one after the other, or for a node's scratch.
struct DeviceBlock {
  std::int64_t bytes = 0;
  std::vector<ValueId> values{};
  std::optional<std::size_t> scratch_of{};
};

// In the order in which they are taken. `with_source`: the decoded image, too.
[[nodiscard]] std::vector<DeviceBlock> device_blocks(const Program& program, bool with_source);

// All of them; with `keep_outputs` each step's output has its own.
[[nodiscard]] std::int64_t whole_device_bytes(const Plan& plan, bool keep_outputs);

class DeviceRun {
 public:
  // Who decodes: the host, whose rows go up; or the device, which then does the work of the first steps too
  // where the plan begins with gray, or hist, or leaves that apart.
  enum class Decoded { on_host, with_first_steps, apart };
  // Takes memory of the context's arena for all of the plan. Spans go to the timeline, on `track`. With
  // `keep_outputs` every step writes memory of its own; without, memory that nothing reads any more. Throws
  // Error(memory) when the device has no room, Error(device), as all here. `plan` and `timeline` stay.
  DeviceRun(Context& context, const Plan& plan, Timeline& timeline, bool keep_outputs,
            Decoded decoded = Decoded::on_host, std::string track = kDeviceTrack);

  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] DeviceTimes& times() { return times_; }
  // Where the decoded image goes; empty where it is decoded to what a step makes of it.
  [[nodiscard]] DeviceView source() const { return plane(0, 0); }
  // Where a device that decodes puts what it makes. What it does of the steps launch() leaves out.
  struct DecodedTo {
    DeviceView pixels, grey;  // what is empty is not wanted
    Luma luma = Luma::bt601;
    std::uint64_t* counts = nullptr;
    std::string row;  // of the report: "decode+gray+hist (cuda)"
  };
  [[nodiscard]] DecodedTo decoded_to() const;

  // Queues the upload of rows, the first of them row `first` of the image. Returns the mark after it.
  std::size_t upload(const ConstHostView& rows, std::int64_t first, int pass);
  // Queues the steps.
  void launch(int pass);
  // Result i of the plan; the last one, which is encoded.
  [[nodiscard]] ConstDeviceView result(std::size_t i) const { return plane(program_.results[i], 0); }
  [[nodiscard]] ConstDeviceView result() const { return plane(program_.results.back(), 0); }
  // Queues the download of result i.
  void download(std::size_t i, const HostView& to, int pass);
  // Queues the download of every step's histogram, by step.
  void download_histograms(std::vector<std::vector<std::uint64_t>>& to) const;
  // With keep_outputs: the frame after each step, by step; empty for steps that only count.
  [[nodiscard]] std::vector<Frame<const std::byte, Device>> outputs() const;
  // To be called when everything is done.
  void give_spans() { times_.give_spans(); }

 private:
  [[nodiscard]] std::size_t decoded_steps() const;
  void make_calls(const std::vector<std::byte*>& scratch);
  [[nodiscard]] DeviceView plane(ValueId value, int i) const;

  Context& context_;
  const Plan& plan_;
  DeviceTimes times_;
  const Program program_;
  const std::size_t first_call_;    // those before are the decoder's
  std::vector<std::byte*> memory_;  // by value
  std::vector<StageCall<Device>> calls_;
};

}  // namespace imgpipe
