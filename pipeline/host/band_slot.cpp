#include "pipeline/host/band_slot.h"

#include <optional>
#include <utility>

#include "pipeline/devices/band_device.h"

namespace imgpipe {

Image& BandMemory::place(BandSlot& slot, ValueId value, int i) const {
  const std::size_t place = *bands_.place_of(value);
  Image& image = slot.places[place][static_cast<std::size_t>(i)];
  if (image.empty() && on_device_) {
    timed(slot, "pin", SpanKind::host, 0,
          [&] { image = Image(bands_.places()[place].plane, job_.device->staging()); });
  }
  if (image.empty()) image = Image(bands_.places()[place].plane, job_.memory);
  return image;
}

ConstHostView BandMemory::rows_of(const BandSlot& slot, ValueId value, int plane,
                                  const RowRange& rows) const {
  const std::optional<std::size_t> place = bands_.place_of(value);
  if (place && is_in_band(slot, value)) {
    const Image& image = slot.places[*place][static_cast<std::size_t>(plane)];
    return image.untyped_view().rows(rows.first - slot.tops[value], rows.count());
  }
  return std::as_const(job_.whole).plane(value, plane).rows(rows.first, rows.count());
}

bool BandMemory::is_in_band(const BandSlot& slot, ValueId value) const {
  const std::optional<std::size_t> place = bands_.place_of(value);
  return place && !slot.places[*place][0].empty() && !bands_.in_place(value, slot.rows[value], slot.band);
}

HostView BandMemory::target_of(BandSlot& slot, ValueId value, int plane, const RowRange& rows) const {
  if (bands_.in_place(value, rows, slot.band))
    return job_.whole.plane(value, plane).rows(rows.first, rows.count());
  Image& image = place(slot, value, plane);
  slot.tops[value] = rows.first;
  return image.untyped_view().rows(0, rows.count());
}

void BandMemory::copy_to_whole(const BandSlot& slot, ValueId value) const {
  if (!plan_.is_whole(value, job_.chain) || bands_.in_place(value, slot.rows[value], slot.band)) return;
  const RowRange own = bands_.own(slot.band, plan_.program.values[value].type.height);
  for (int i = 0; i < plan_.program.values[value].planes(); ++i) {
    copy_pixels(rows_of(slot, value, i, own), job_.whole.plane(value, i).rows(own.first, own.count()));
  }
}

std::uint64_t* BandMemory::own_counts(BandSlot& slot, std::size_t node) const {
  slot.counts.resize(job_.chain.end - job_.chain.first);
  std::vector<std::uint64_t>& counts = slot.counts[node - job_.chain.first];
  counts.resize(counters(plan_.program.nodes[node].out));
  return counts.data();
}

}  // namespace imgpipe
