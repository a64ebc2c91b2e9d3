#include "images/codecs/metadata/xmp_appended_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "images/codecs/metadata/xml.h"
#include "images/error.h"

namespace imgpipe {
namespace {

enum class Announces { gain_map, items, video };

struct Namespace {
  std::string_view uri;
  Announces announces;
  bool whole = true;  // remove all properties; false: only the video's (Google's camera)
};

constexpr std::array<Namespace, 7> kNamespaces{{
    {"http://ns.adobe.com/hdr-gain-map/1.0/", Announces::gain_map},
    {"http://ns.apple.com/HDRGainMap/1.0/", Announces::gain_map},
    {"http://ns.google.com/photos/1.0/container/", Announces::items},
    {"http://ns.google.com/photos/1.0/container/item/", Announces::items},
    {"http://ns.google.com/photos/dd/1.0/container/", Announces::items},
    {"http://ns.google.com/photos/dd/1.0/item/", Announces::items},
    {"http://ns.google.com/photos/1.0/camera/", Announces::video, false},
}};

[[noreturn]] void fail_removal() {
  throw Error(ErrorKind::input, "references to appended files cannot be removed");
}

class Removal {
 public:
  explicit Removal(std::string_view packet)
      : text_(packet), elements_(xml_elements(packet)), edits_(packet) {}

  std::string run() {
    bind_prefixes();
    for (const XmlElement& element : elements_) {
      if (const Namespace* const of = removed(element.name(text_))) {
        note(*of, element.name(text_), text_.substr(element.begin, element.end - element.begin));
        edits_.remove(element);
      }
      for (const XmlAttribute& attribute : xml_attributes(text_, element)) {
        const Namespace* const of = removed(attribute.name);
        if (of != nullptr) note(*of, attribute.name, attribute.value);
        if (of != nullptr || declares_removed(attribute)) edits_.remove(attribute.whole);
      }
    }
    return edits_.apply();
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (gain_map_) names.emplace_back(kGainMapName);
    if (video_) names.emplace_back("motion photo video");
    if (others_) names.emplace_back("appended images");
    return names;
  }

 private:
  static const Namespace* namespace_of(std::string_view uri) {
    const auto found = std::ranges::find(kNamespaces, uri, &Namespace::uri);
    return found == kNamespaces.end() ? nullptr : &*found;
  }

  // Maps prefixes to namespaces. Throws if a prefix has several meanings.
  void bind_prefixes() {
    for (const XmlElement& element : elements_) {
      for (const XmlAttribute& attribute : xml_attributes(text_, element)) {
        const Namespace* const of = namespace_of(attribute.value);
        if (attribute.name == "xmlns" && of != nullptr) fail_removal();
        if (!attribute.name.starts_with("xmlns:")) continue;
        const auto [bound, is_new] = prefixes_.emplace(attribute.name.substr(6), of);
        if (!is_new && bound->second != of) fail_removal();
      }
    }
  }

  // Returns the namespace of a property to remove; nullptr for others.
  [[nodiscard]] const Namespace* removed(std::string_view name) const {
    const std::size_t colon = name.find(':');
    if (colon == std::string_view::npos) return nullptr;
    const auto bound = prefixes_.find(name.substr(0, colon));
    if (bound == prefixes_.end() || bound->second == nullptr) return nullptr;
    const std::string_view local = name.substr(colon + 1);
    const bool goes =
        bound->second->whole || local.starts_with("MotionPhoto") || local.starts_with("MicroVideo");
    return goes ? bound->second : nullptr;
  }

  [[nodiscard]] static bool declares_removed(const XmlAttribute& attribute) {
    const Namespace* const of = namespace_of(attribute.value);
    return of != nullptr && of->whole && attribute.name.starts_with("xmlns:");
  }

  void note(const Namespace& of, std::string_view name, std::string_view content) {
    const auto has = [&](std::string_view what) { return content.find(what) != content.npos; };
    const bool is_switch = name.ends_with(":MotionPhoto") || name.ends_with(":MicroVideo");
    switch (of.announces) {
      case Announces::gain_map:
        gain_map_ = true;
        break;
      case Announces::items:
        gain_map_ = gain_map_ || has("GainMap");
        video_ = video_ || has("MotionPhoto");
        others_ = others_ || has("Depth");
        break;
      case Announces::video:
        video_ = video_ || (is_switch && has("1"));
        break;
    }
  }

  std::string_view text_;
  std::vector<XmlElement> elements_;
  XmlEdits edits_;
  std::map<std::string_view, const Namespace*> prefixes_;
  bool gain_map_ = false, video_ = false, others_ = false;
};

}  // namespace

std::vector<std::string> remove_appended_files(std::string& packet) {
  const auto occurs = [&](const Namespace& one) { return packet.find(one.uri) != std::string::npos; };
  if (std::ranges::none_of(kNamespaces, occurs)) return {};
  Removal removal(packet);
  std::string kept = removal.run();
  packet = std::move(kept);
  return removal.names();
}

}  // namespace imgpipe
