// The lab's ladder of transfers: copies of an image to a device and back, and the cost of their memory.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "lab/pipeline/lab.h"

namespace imgpipe {

// The value of --stage.
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

struct TransferVariant : Variant {
  Transfer kind;
  std::string_view label;  // of its case in lab_transfer_cuda.cpp
};

[[nodiscard]] std::span<const TransferVariant> transfer_ladder();

// Returns the bytes that a variant moves over the bus for an RGB image; 0 if it only allocates memory.
[[nodiscard]] std::int64_t transfer_bytes(Transfer kind, std::int64_t pixels);

// Transfers one RGB image to the device, one grey image to the host, or both with `gray` between them.
class TransferLab {
 public:
  virtual ~TransferLab() = default;
  TransferLab(const TransferLab&) = delete;
  TransferLab& operator=(const TransferLab&) = delete;
  // Checks a variant (the copy must equal the original), then times it: round trips and allocations by the
  // host's clock, copies by events. Throws Error(device) or Error(memory).
  [[nodiscard]] virtual LabResult run(const TransferVariant& variant, const LabOptions& options) = 0;

 protected:
  TransferLab() = default;
};

// `subject`: a subject of the stage gray; it must outlive the lab.
[[nodiscard]] std::unique_ptr<TransferLab> make_transfer_lab(int index, const LabSubject& subject);

}  // namespace imgpipe
