#include "lab/kernels/jpeg_naive.h"

#include <algorithm>

namespace imgpipe {

NaiveScan naive_scan(const BaselineScan& scan) {
  NaiveScan out;
  out.width = scan.width;
  out.height = scan.height;
  out.mcus = scan.mcus();
  out.mcus_across = scan.mcus_across;
  out.restart_interval = scan.restart_interval > 0 ? scan.restart_interval : out.mcus;
  out.sampling = scan.sampling;
  out.components = scan.components;
  out.blocks_in_mcu = scan.blocks_in_mcu;
  std::ranges::copy(scan.component_of_block, out.component_of_block);
  std::ranges::copy(kZigzag, out.zigzag);
  int blocks = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(scan.components); ++c) {
    const ScanComponent& from = scan.component[c];
    NaiveScan::Component& to = out.component[c];
    to.across = from.across;
    to.down = from.down;
    to.first_block = blocks;
    blocks += from.across * from.down;
    to.width = from.width;
    to.height = from.height;
    to.stride = scan.mcus_across * from.across * kBlockSide;
    to.plane = out.samples;
    out.samples += to.stride * scan.mcu_rows * from.down * kBlockSide;
    std::ranges::copy(from.steps, to.steps);
    to.dc = scan.dc_codes[static_cast<std::size_t>(from.dc_codes)];
    to.ac = scan.ac_codes[static_cast<std::size_t>(from.ac_codes)];
  }
  return out;
}

}  // namespace imgpipe
