// The items of a HEIF file: images, and metadata about them (ISO/IEC 14496-12, section 8.11).
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "images/codecs/heif/heif_boxes.h"

namespace imgpipe {

using ItemId = std::uint32_t;

struct HeifItem {
  std::string_view type, content_type;  // content_type: of `mime` items
  std::vector<Box> properties;          // in the order in which they apply
  std::vector<Bytes> data;              // the parts that are in the file
  int parts = 0;
};

struct ItemReference {
  std::string_view type;  // "dimg": `from` is derived from `to`; "auxl", "thmb", "cdsc": `from` is of `to`
  ItemId from = 0;
  std::vector<ItemId> to;
};

class HeifItems {
 public:
  // `boxes`: the contents of the file's meta box. Throws Error(input) if the file has too many items.
  HeifItems(Bytes file, Bytes boxes);

  [[nodiscard]] ItemId primary_id() const { return primary_; }
  [[nodiscard]] const HeifItem* find(ItemId id) const;
  [[nodiscard]] const std::map<ItemId, HeifItem>& all() const { return items_; }
  [[nodiscard]] const std::vector<ItemReference>& references() const { return references_; }

 private:
  HeifItem& item_of(std::uint64_t id);
  void read_types(BoxNumbers numbers);
  void read_references(Bytes box);
  void read_properties(Bytes boxes);
  void associate(BoxNumbers numbers, const std::vector<Box>& properties);
  void read_locations(BoxNumbers numbers);
  void read_part(HeifItem& item, std::uint64_t method, std::uint64_t offset, std::uint64_t length);

  Bytes file_, data_;
  ItemId primary_ = 0;
  std::size_t associations_ = 0, parts_ = 0;
  std::map<ItemId, HeifItem> items_;
  std::vector<ItemReference> references_;
};

}  // namespace imgpipe
