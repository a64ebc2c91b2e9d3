#include "images/codecs/heif/heif_items.h"

#include <utility>

#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// Limit the memory of a hostile file's lists.
constexpr std::size_t kMaxItems = 20'000, kMaxProperties = 1 << 18, kMaxParts = 1 << 18;
constexpr const char* kParts = "parts of items";

void limit(std::size_t count, std::size_t most, const char* what) {
  if (count > most)
    throw Error(ErrorKind::input, std::string("damaged: too many ") + what + " in the container");
}

}  // namespace

HeifItems::HeifItems(Bytes file, Bytes boxes) : file_(file), data_(find_box(boxes, "idat")) {
  read_types(BoxNumbers(find_box(boxes, "iinf")));
  read_references(find_box(boxes, "iref"));
  read_properties(find_box(boxes, "iprp"));
  read_locations(BoxNumbers(find_box(boxes, "iloc")));
  BoxNumbers primary(find_box(boxes, "pitm"));
  const std::uint64_t version = primary.next(4) >> 24;
  primary_ = static_cast<ItemId>(primary.next(version == 0 ? 2 : 4));
}

const HeifItem* HeifItems::find(ItemId id) const {
  const auto found = items_.find(id);
  return found == items_.end() ? nullptr : &found->second;
}

HeifItem& HeifItems::item_of(std::uint64_t id) {
  limit(items_.size(), kMaxItems, "items");
  return items_[static_cast<ItemId>(id)];
}

void HeifItems::read_types(BoxNumbers numbers) {
  const std::uint64_t version = numbers.next(4) >> 24;
  numbers.skip(version == 0 ? 2 : 4);
  Bytes entries = numbers.rest();
  while (const std::optional<Box> entry = next_box(entries)) {
    if (entry->type != "infe"sv) continue;
    BoxNumbers fields(entry->payload);
    const std::uint64_t entry_version = fields.next(4) >> 24;
    if (entry_version < 2) continue;  // without a type
    HeifItem& item = item_of(fields.next(entry_version == 2 ? 2 : 4));
    fields.skip(2);
    if (fields.rest().size() < 4) continue;
    item.type = {reinterpret_cast<const char*>(fields.rest().data()), 4};
    fields.skip(4);
    if (item.type != "mime"sv || fields.done()) continue;
    const std::string_view texts(reinterpret_cast<const char*>(fields.rest().data()), fields.rest().size());
    const std::size_t name_end = std::min(texts.find('\0'), texts.size() - 1);
    const std::string_view rest = texts.substr(name_end + 1);
    item.content_type = rest.substr(0, rest.find('\0'));
  }
}

void HeifItems::read_references(Bytes box) {
  BoxNumbers numbers(box);
  const std::size_t id_bytes = numbers.next(4) >> 24 == 0 ? 2 : 4;
  Bytes boxes = numbers.rest();
  while (const std::optional<Box> one = next_box(boxes)) {
    BoxNumbers fields(one->payload);
    ItemReference reference{.type = one->type, .from = static_cast<ItemId>(fields.next(id_bytes)), .to = {}};
    for (std::uint64_t count = fields.next(2); count > 0 && !fields.done(); --count)
      reference.to.push_back(static_cast<ItemId>(fields.next(id_bytes)));
    references_.push_back(std::move(reference));
    limit(references_.size(), kMaxItems, "references");
  }
}

void HeifItems::read_properties(Bytes boxes) {
  std::vector<Box> properties;
  Bytes list = find_box(boxes, "ipco");
  while (const std::optional<Box> property = next_box(list)) {
    properties.push_back(*property);
    limit(properties.size(), kMaxProperties, "properties");
  }
  while (const std::optional<Box> box = next_box(boxes)) {
    if (box->type == "ipma"sv) associate(BoxNumbers(box->payload), properties);
  }
}

void HeifItems::associate(BoxNumbers numbers, const std::vector<Box>& properties) {
  const std::uint64_t head = numbers.next(4);
  const bool wide = (head & 1) != 0;
  for (std::uint64_t entries = numbers.next(4); entries > 0 && !numbers.done(); --entries) {
    HeifItem& item = item_of(numbers.next(head >> 24 == 0 ? 2 : 4));
    for (std::uint64_t count = numbers.next(1); count > 0 && !numbers.done(); --count) {
      const std::uint64_t index = numbers.next(wide ? 2 : 1) & (wide ? 0x7FFF : 0x7F);
      if (index > 0 && index <= properties.size()) item.properties.push_back(properties[index - 1]);
      limit(++associations_, kMaxProperties, "properties");
    }
  }
}

void HeifItems::read_locations(BoxNumbers numbers) {
  const std::uint64_t version = numbers.next(4) >> 24;
  const std::uint64_t sizes = numbers.next(2);
  const std::size_t offset_bytes = sizes >> 12, length_bytes = sizes >> 8 & 15, base_bytes = sizes >> 4 & 15;
  const std::size_t index_bytes = version == 0 ? 0 : sizes & 15;
  const std::size_t id_bytes = version < 2 ? 2 : 4;
  for (std::uint64_t count = numbers.next(id_bytes); count > 0 && !numbers.done(); --count) {
    HeifItem& item = item_of(numbers.next(id_bytes));
    const std::uint64_t method = version == 0 ? 0 : numbers.next(2) & 15;
    numbers.skip(2);
    const std::uint64_t base = numbers.next(base_bytes);
    item.parts = static_cast<int>(numbers.next(2));
    // Parts that take no bytes are all alike, and a small file could list any number of them.
    if (index_bytes + offset_bytes + length_bytes == 0)
      limit(static_cast<std::size_t>(item.parts), 1, kParts);
    for (int part = 0; part < item.parts && !numbers.done(); ++part) {
      numbers.skip(index_bytes);
      const std::uint64_t offset = base + numbers.next(offset_bytes);
      read_part(item, method, offset, numbers.next(length_bytes));
    }
  }
}

// `method` 0: in the file, 1: in the idat box; length 0: to the end.
void HeifItems::read_part(HeifItem& item, std::uint64_t method, std::uint64_t offset, std::uint64_t length) {
  limit(++parts_, kMaxParts, kParts);
  const Bytes source = method == 0 ? file_ : method == 1 ? data_ : Bytes();
  if (offset > source.size()) return;
  const std::uint64_t most = source.size() - offset;
  if (length > most) return;
  item.data.push_back(source.subspan(static_cast<std::size_t>(offset),
                                     static_cast<std::size_t>(length == 0 ? most : length)));
}

}  // namespace imgpipe
