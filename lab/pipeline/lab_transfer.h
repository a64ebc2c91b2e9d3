// The lab's ladder of transfers: ways to bring an image to a device and back, and what their memory costs.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "lab/pipeline/lab.h"

namespace imgpipe {

// What --stage calls it.
inline constexpr std::string_view kTransferLadder = "transfer";

enum class Transfer {
  up_pageable,
  up_pinned,
  up_ring,
  up_pinned_2d,
  down_pageable,
  down_pinned,
  down_pinned_2d,
  round_serial,
  round_chunked,
  make_device,
  make_device_pool,
  make_pinned,
  make_registered,
};

struct TransferRung : Variant {
  Transfer kind;
  std::string_view label;  // of its case in lab_transfer_cuda.cpp
};

[[nodiscard]] std::span<const TransferRung> transfer_ladder();

// Bytes that a rung moves over the bus for an RGB image of `pixels`; 0 for those that only make memory for
// it.
[[nodiscard]] std::int64_t transfer_bytes(Transfer kind, std::int64_t pixels);

// Transfers of one RGB image up, of one grey image down, or of both with `gray` between them.
class TransferLab {
 public:
  virtual ~TransferLab() = default;
  TransferLab(const TransferLab&) = delete;
  TransferLab& operator=(const TransferLab&) = delete;
  // Checked (what arrives is compared with what left), then timed: rounds and memory by the host's clock,
  // copies by events. Throws Error(device) or Error(memory).
  [[nodiscard]] virtual LabResult run(const TransferRung& rung, const LabOptions& options) = 0;

 protected:
  TransferLab() = default;
};

// `subject`: of gray; it outlives the lab.
[[nodiscard]] std::unique_ptr<TransferLab> make_transfer_lab(int index, const LabSubject& subject);

}  // namespace imgpipe
