#include "images/codecs/metadata/ome_xml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "images/codecs/metadata/xml.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

[[noreturn]] void fail(const char* reason) {
  throw Error(ErrorKind::input, reason);
}

// A box of planes. On each of the axes Z, C and T it has `count` planes, starting at `first`.
struct Planes {
  std::array<std::uint32_t, 3> first{}, count{};
};
constexpr std::string_view kAxes = "ZCT"sv;
constexpr std::uint32_t kMaxPlanes = 100'000;

class OmeXmlAdapter {
 public:
  OmeXmlAdapter(std::string_view text, std::string_view file_name, bool revalued)
      : text_(text),
        file_name_(file_name),
        revalued_(revalued),
        elements_(xml_elements(text)),
        edits_(text) {}

  AdaptedOmeXml run() {
    if (!named("BinaryOnly").empty()) fail("refers to another file");
    const std::vector<std::size_t> roots = named("OME");
    if (roots.size() != 1 || elements_[roots[0]].parent != roots[0])
      fail("damaged: expected one OME element");
    root_uuid_ = value(roots[0], "UUID");
    find_own_uuid();
    if (root_uuid_) remove_attribute(roots[0], "UUID");
    for (const std::size_t pixels : named("Pixels")) adapt(pixels);
    if (has_other_files_ && !has_own_planes_) fail("describes other files");
    for (const std::size_t reference : named("ImageRef"))
      if (removed_images_.contains(value(reference, "ID").value_or(""))) edits_.remove(elements_[reference]);
    AdaptedOmeXml adapted;
    if (has_other_files_)
      adapted.lost.emplace_back("OME-XML of other files of the series (not part of the output)");
    if (root_uuid_ || has_uuids_) adapted.lost.emplace_back("OME-XML's UUIDs and file names (of the input)");
    if (lost_bits_) adapted.lost.emplace_back("OME-XML's SignificantBits (sample values changed)");
    adapted.text = edits_.apply();
    (void)xml_elements(adapted.text);
    return adapted;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> named(std::string_view name) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < elements_.size(); ++i)
      if (elements_[i].local_name(text_) == name) found.push_back(i);
    return found;
  }
  [[nodiscard]] std::vector<std::size_t> children(std::size_t parent, std::string_view name) const {
    std::vector<std::size_t> found;
    for (std::size_t i = parent + 1; i < elements_.size() && elements_[i].begin < elements_[parent].end; ++i)
      if (elements_[i].parent == parent && elements_[i].local_name(text_) == name) found.push_back(i);
    return found;
  }

  [[nodiscard]] std::optional<XmlAttribute> attribute(std::size_t element, std::string_view name) const {
    for (const XmlAttribute& one : xml_attributes(text_, elements_[element]))
      if (one.name == name) return one;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string_view> value(std::size_t element, std::string_view name) const {
    const std::optional<XmlAttribute> found = attribute(element, name);
    return found ? std::optional(found->value) : std::nullopt;
  }
  [[nodiscard]] std::uint32_t number(std::size_t element, const std::string& name,
                                     std::uint32_t unless) const {
    const std::optional<std::string_view> text = value(element, name);
    if (!text) return unless;
    std::uint32_t made = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), made);
    if (error != std::errc() || end != text->data() + text->size() || made > kMaxPlanes)
      fail("damaged: invalid number");
    return made;
  }
  void set_number(std::size_t element, const std::string& name, std::uint32_t to) {
    if (const auto found = attribute(element, name)) edits_.replace(found->value, std::to_string(to));
  }
  void remove_attribute(std::size_t element, std::string_view name) {
    if (const auto found = attribute(element, name)) edits_.remove(found->whole);
  }

  // If the root has no UUID, uses the UUID stored with the input's file name, or else the only UUID in the
  // text.
  void find_own_uuid() {
    own_uuid_ = root_uuid_;
    std::set<std::string_view> all;
    for (const std::size_t uuid : named("UUID")) {
      if (elements_[elements_[uuid].parent].local_name(text_) != "TiffData") continue;
      has_uuids_ = true;
      const std::string_view text = elements_[uuid].content(text_);
      all.insert(text);
      if (!own_uuid_ && !file_name_.empty() && value(uuid, "FileName") == file_name_) own_uuid_ = text;
    }
    if (!own_uuid_ && all.size() == 1) own_uuid_ = *all.begin();
  }

  void adapt(std::size_t pixels) {
    if (revalued_ && value(pixels, "SignificantBits")) {
      remove_attribute(pixels, "SignificantBits");
      lost_bits_ = true;
    }
    std::vector<std::size_t> own, others;
    for (const std::size_t data : children(pixels, "TiffData")) {
      const std::vector<std::size_t> uuids = children(data, "UUID");
      const bool is_own = std::ranges::all_of(
          uuids, [&](std::size_t uuid) { return elements_[uuid].content(text_) == own_uuid_; });
      (is_own ? own : others).push_back(data);
      for (const std::size_t uuid : uuids) edits_.remove(elements_[uuid]);
    }
    has_own_planes_ = has_own_planes_ || !own.empty();
    if (others.empty()) return;
    has_other_files_ = true;
    for (const std::size_t data : others) edits_.remove(elements_[data]);
    if (own.empty()) {
      const std::size_t image = elements_[pixels].parent;
      if (elements_[image].local_name(text_) != "Image") fail("damaged: Pixels outside an Image");
      edits_.remove(elements_[image]);
      if (const auto id = value(image, "ID")) removed_images_.insert(*id);
    } else {
      reduce(pixels, own);
    }
  }

  // Reduces an image with planes in several files to the planes of this file.
  void reduce(std::size_t pixels, const std::vector<std::size_t>& own) {
    const Planes planes = box_of(pixels, own);
    const auto by_axis = [&](const std::string& prefix, std::size_t axis) { return prefix + kAxes[axis]; };
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      set_number(pixels, by_axis("Size", axis), planes.count[axis]);
      for (const std::size_t data : own) {
        const std::string name = by_axis("First", axis);
        set_number(data, name, number(data, name, 0) - planes.first[axis]);
      }
    }
    for (const std::size_t plane : children(pixels, "Plane")) {
      for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
        const std::string name = by_axis("The", axis);
        const std::uint32_t at = number(plane, name, 0) - planes.first[axis];
        if (at >= planes.count[axis]) {
          edits_.remove(elements_[plane]);
          break;
        }
        set_number(plane, name, at);
      }
    }
    const std::vector<std::size_t> channels = children(pixels, "Channel");
    for (std::size_t c = 0; c < channels.size(); ++c)
      if (c - planes.first[1] >= planes.count[1]) edits_.remove(elements_[channels[c]]);
  }

  // Returns the planes of an image that are in this file. Fails unless they form a box.
  [[nodiscard]] Planes box_of(std::size_t pixels, const std::vector<std::size_t>& own) const {
    std::array<std::uint32_t, 3> sizes{};
    std::size_t most = 1;
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      sizes[axis] = number(pixels, std::string("Size") + kAxes[axis], 0);
      most *= sizes[axis];
      if (most == 0 || most > kMaxPlanes) fail("damaged: invalid size");
    }
    for (const std::size_t channel : children(pixels, "Channel"))
      if (number(channel, "SamplesPerPixel", 1) != 1) fail("series of colour images in several files");
    const std::string_view order = value(pixels, "DimensionOrder").value_or("");
    if (order.size() != 5 || !order.starts_with("XY")) fail("damaged: invalid DimensionOrder");
    std::set<std::array<std::uint32_t, 3>> planes;
    for (const std::size_t data : own) {
      std::array<std::uint32_t, 3> at{};
      for (std::size_t axis = 0; axis < kAxes.size(); ++axis)
        at[axis] = number(data, std::string("First") + kAxes[axis], 0);
      // Without PlaneCount and IFD the element covers all following planes, whose number is unknown.
      const std::uint32_t count = number(data, "PlaneCount", value(data, "IFD") ? 1 : 0);
      if (count == 0) fail("describes other files");
      for (std::uint32_t i = 0; i < count && planes.size() <= most; ++i) {
        planes.insert(at);
        for (const char axis_name : order.substr(2)) {
          const std::size_t axis = kAxes.find(axis_name);
          if (axis == std::string_view::npos) fail("damaged: invalid DimensionOrder");
          if (++at[axis] < sizes[axis]) break;
          at[axis] = 0;
        }
      }
    }
    Planes box;
    std::size_t within = 1;
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
      const auto by_axis = [axis](const auto& plane) { return plane[axis]; };
      box.first[axis] = by_axis(*std::ranges::min_element(planes, {}, by_axis));
      box.count[axis] = by_axis(*std::ranges::max_element(planes, {}, by_axis)) - box.first[axis] + 1;
      if (box.first[axis] + box.count[axis] > sizes[axis]) fail("damaged: a plane outside its image");
      within *= box.count[axis];
    }
    if (within != planes.size()) fail("describes other files");
    return box;
  }

  std::string_view text_, file_name_;
  bool revalued_;
  std::vector<XmlElement> elements_;
  XmlEdits edits_;
  std::optional<std::string_view> root_uuid_, own_uuid_;
  std::set<std::string_view> removed_images_;
  bool has_uuids_ = false, has_other_files_ = false, has_own_planes_ = false, lost_bits_ = false;
};

}  // namespace

AdaptedOmeXml adapt_ome_xml(std::string_view text, std::string_view file_name, bool revalued) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (!has("UUID") && !has("BinaryOnly") && !(revalued && has("SignificantBits")))
    return {std::string(text), {}};
  return OmeXmlAdapter(text, file_name, revalued).run();
}

}  // namespace imgpipe
