// An engine's image on its way through a device, by the route that there is memory for.
//
//   file     host                     stage the scan                          the file's chunks
//            stream                                  upload | decode | steps | encode | download
//
//   rows     host threads             decode -> chunk | decode -> chunk ...  queue steps      wait
//            stream                                     upload | upload ...   | steps | download
//            another thread   context (first image only)
//
// A file that the device finds damage in, or lacks the memory for, goes as rows; rows that there is too
// little memory for go in bands (pipeline/cuda/banded_run.h). Nothing synchronises between the first upload
// and the download.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "pipeline/cuda/device_group.h"
#include "pipeline/cuda/engine_context.h"
#include "pipeline/cuda/row_upload.h"
#include "pipeline/devices/device_route.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

class DeviceJob {
 public:
  DeviceJob(EngineContext& engine, HostThreads& threads, Job& job, Outcome& outcome);

  // Does the job. `host_bytes`: that the whole image takes of the host's memory. After an error its memory
  // stays until the object ends: work on it may still be queued.
  void run(std::int64_t host_bytes);

 private:
  // These return false where the image has to take the next route.
  [[nodiscard]] bool run_file();
  [[nodiscard]] bool run_rows();
  void keep_outputs();

  std::optional<DeviceRestorer> restorer_;
  EngineContext& engine_;
  HostThreads& threads_;
  Job& job_;
  Outcome& outcome_;
  RouteRequest request_;
  std::deque<Image> early_;  // rows that were decoded before there was a context
  CodedImage coded_;
  GroupImage image_;
  const Passes passes_;
  std::optional<DeviceGroup> group_;
  std::optional<RowUpload> upload_;
};

}  // namespace imgpipe
