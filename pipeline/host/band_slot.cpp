#include "pipeline/host/band_slot.h"

#include <optional>
#include <utility>

#include "pipeline/devices/band_device.h"

namespace imgpipe {

Image& BandMemory::place(BandSlot& slot, std::size_t buffer, int i) const {
  const std::size_t place = *bands_.place_of(buffer);
  Image& image = slot.places[place][static_cast<std::size_t>(i)];
  if (image.empty() && on_device_) {
    timed(slot, "pin", SpanKind::host, 0,
          [&] { image = Image(bands_.places()[place].plane, job_.device->staging()); });
  }
  if (image.empty()) image = Image(bands_.places()[place].plane);
  return image;
}

ConstHostView BandMemory::rows_of(const BandSlot& slot, std::size_t buffer, int plane,
                                  const RowRange& rows) const {
  const std::optional<std::size_t> place = bands_.place_of(buffer);
  if (place && is_in_band(slot, buffer)) {
    const Image& image = slot.places[*place][static_cast<std::size_t>(plane)];
    return image.untyped_view().rows(rows.first - slot.tops[buffer], rows.count());
  }
  return std::as_const(job_.whole).plane(buffer, plane).rows(rows.first, rows.count());
}

bool BandMemory::is_in_band(const BandSlot& slot, std::size_t buffer) const {
  const std::optional<std::size_t> place = bands_.place_of(buffer);
  return place && !slot.places[*place][0].empty() && !bands_.in_place(buffer, slot.rows[buffer], slot.band);
}

HostView BandMemory::target_of(BandSlot& slot, std::size_t buffer, int plane, const RowRange& rows) const {
  if (bands_.in_place(buffer, rows, slot.band))
    return job_.whole.plane(buffer, plane).rows(rows.first, rows.count());
  Image& image = place(slot, buffer, plane);
  slot.tops[buffer] = rows.first;
  return image.untyped_view().rows(0, rows.count());
}

void BandMemory::copy_to_whole(const BandSlot& slot, std::size_t buffer) const {
  if (!plan_.is_whole(buffer, job_.chain) || bands_.in_place(buffer, slot.rows[buffer], slot.band)) return;
  const RowRange own = bands_.own(slot.band, plan_.buffers[buffer].type.height);
  for (int i = 0; i < plan_.buffers[buffer].planes(); ++i) {
    copy_pixels(rows_of(slot, buffer, i, own), job_.whole.plane(buffer, i).rows(own.first, own.count()));
  }
}

std::uint64_t* BandMemory::own_counts(BandSlot& slot, std::size_t work) const {
  slot.counts.resize(job_.chain.end - job_.chain.first);
  std::vector<std::uint64_t>& counts = slot.counts[work - job_.chain.first];
  counts.resize(counters(plan_.works[work].step->out));
  return counts.data();
}

}  // namespace imgpipe
