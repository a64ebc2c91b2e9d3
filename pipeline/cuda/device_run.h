// Queues the upload, steps and download of one image on a stream. Used by the engine and by lanes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/image.h"
#include "images/luma.h"
#include "kernels/stage_call.h"
#include "pipeline/constant_tables.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/device_times.h"
#include "pipeline/graph.h"

namespace imgpipe {

// An allocation of a program on a device, for values with disjoint lifetimes or for a node's scratch memory.
struct DeviceBlock {
  std::int64_t bytes = 0;
  std::vector<ValueId> values{};
  std::optional<std::size_t> scratch_of{};
};

// Returns the blocks in the order of allocation.
[[nodiscard]] std::vector<DeviceBlock> device_blocks(const Program& program);

// An upper bound of the device memory of a plan; `keep_outputs`: each step's output has its own memory.
[[nodiscard]] std::int64_t whole_device_bytes(const Plan& plan, bool keep_outputs);

// The constant tables of a group of images. Images that share a table share its copy on the device. Copies of
// large ones, such as second images, stay on the device for the next group.
class DeviceTables {
 public:
  void add(const ConstantTable& table);
  // Takes memory from the context's arena and uploads the tables that are not on the device yet.
  void upload(Context& context);
  // Returns the copy on the device.
  [[nodiscard]] std::byte* of(const ConstantTable& table) const { return copies_.at(table); }

 private:
  std::map<ConstantTable, std::byte*> copies_;
  std::vector<std::byte> small_;  // the bytes of all small tables, while they are uploaded
};

// What a device runs for a plan.
struct DeviceProgram {
  DeviceProgram(const Plan& plan, bool keep_outputs, bool decodes);

  Program program;
  std::vector<DeviceBlock> blocks;
};

class DeviceRun {
 public:
  // Takes memory from the context's arena for the whole plan, except for constant tables, which it adds to
  // `tables`. Spans go to the timeline, on `track`. With `keep_outputs` steps do not reuse memory. With
  // `decodes` the device's decoder also performs the first operations that fusion_table() lists. All
  // functions throw Error(memory) if device memory does not suffice, and Error(device). `plan` and
  // `timeline` must outlive this.
  DeviceRun(Context& context, const Plan& plan, Timeline& timeline, DeviceTables& tables, bool keep_outputs,
            bool decodes = false, std::string track = kDeviceTrack);
  // The same with the program of the plan, which runs of the same plan share.
  DeviceRun(Context& context, const Plan& plan, std::shared_ptr<const DeviceProgram> program,
            Timeline& timeline, DeviceTables& tables, std::string track);
  // Must be called once, after DeviceTables::upload().
  void make_calls(const DeviceTables& tables);

  [[nodiscard]] Context& context() const { return context_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] DeviceTimes& times() { return times_; }
  // The memory of the decoded image; empty if the decoder writes only the output of the first steps.
  [[nodiscard]] DeviceView source() const { return plane(0, 0); }
  // The outputs of the device's decoder. launch() skips the steps that it performs.
  struct DecodedTo {
    DeviceView pixels, grey;  // empty: not needed
    Luma luma = Luma::bt601;
    std::uint64_t* counts = nullptr;
    std::string row;  // of the report: "decode+gray+hist (cuda)"
  };
  [[nodiscard]] DecodedTo decoded_to() const;

  // Queues the upload of rows, the first of them row `first` of the image. Returns the mark after it.
  std::size_t upload(const ConstHostView& rows, std::int64_t first, int pass);
  // Queues a copy of the whole image from elsewhere on the device.
  void copy_source(const ConstDeviceView& from, int pass);
  // Queues the steps of runs that match(), in shared launches where kernels support them.
  static void launch(std::span<DeviceRun* const> runs, int pass);
  // Whether both run the same kernels on images with the same channels and layouts, with the same parameters
  // except for cuts.
  [[nodiscard]] bool matches(const DeviceRun& other) const;
  // Result i of the plan, and the last result, which is encoded.
  [[nodiscard]] ConstDeviceView result(std::size_t i) const { return plane(program_.results[i], 0); }
  [[nodiscard]] ConstDeviceView result() const { return plane(program_.results.back(), 0); }
  // Queues the download of result i.
  void download(std::size_t i, const HostView& to, int pass);
  // Queues the download of every step's histogram, by step.
  void download_histograms(std::vector<std::vector<std::uint64_t>>& to) const;
  // With keep_outputs: the frame after each step; empty for steps that only count.
  [[nodiscard]] std::vector<Frame<const std::byte, Device>> outputs() const;
  // All queued work must be done.
  void record_spans() { times_.record_spans(); }

 private:
  static void launch_node(std::span<DeviceRun* const> runs, std::size_t node);
  [[nodiscard]] DeviceView plane(ValueId value, int i) const;

  Context& context_;
  const Plan& plan_;
  DeviceTimes times_;
  const std::shared_ptr<const DeviceProgram> device_program_;
  const Program& program_;
  std::vector<std::byte*> memory_;   // by ValueId
  std::vector<std::byte*> scratch_;  // by node
  std::vector<StageCall<Device>> calls_;
};

}  // namespace imgpipe
