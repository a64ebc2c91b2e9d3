// Lists the samples of tar shards for imgpipe._samples and _shard_index.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/jobs/glob_paths.h"
#include "app/options/name_ranges.h"
#include "app/python/core/bindings.h"
#include "app/python/core/errors.h"
#include "app/python/core/shard_samples.h"
#include "app/python/core/sources.h"
#include "app/python/core/without_gil.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/file.h"
#include "images/files/input_file.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/image_io.h"

namespace imgpipe::python {
namespace {

constexpr std::int64_t kLargestData = std::int64_t{256} << 20;  // of a member that is not an image
constexpr std::size_t kHeldBytes = std::size_t{16} << 20;

// Lists the samples of a shard. Reads only the headers of an uncompressed shard.
class ShardReader {
 public:
  explicit ShardReader(const nb::bytes& path)
      : path_(std::make_shared<const std::string>(path_of(path, "sources"))),
        file_(without_gil(*path_, [this] { return open_shard(*path_); })),
        archive_([this](std::span<std::byte> buffer) { return read(buffer); },
                 [this](std::int64_t bytes) { return skip(bytes); }) {}

  // Returns the samples that end within the next `count` members, or fewer if their data exceeds kHeldBytes;
  // None after the last one.
  nb::object next(std::size_t count) {
    const bool more = without_gil(*path_, [this, count] { return read_members(count); });
    return more ? nb::object(take_samples()) : nb::none();
  }
  // Returns the sample before an error.
  nb::list last() {
    end_sample();
    return take_samples();
  }
  [[nodiscard]] bool holds_data() const { return holds_data_; }

 private:
  nb::list take_samples() {
    nb::list list;
    for (ShardSample& sample : samples_) list.append(nb::cast(std::move(sample)));
    samples_.clear();
    return list;
  }

  // Returns whether there were members, or the last sample.
  bool read_members(std::size_t count) {
    std::size_t held = 0;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (ended_) return false;
    try {
      for (std::size_t files = 0; files < count && held < kHeldBytes;) {
        const std::optional<ArchiveMember> member = archive_.next();
        ++members_;
        if (!member) {
          ended_ = true;
          end_sample();
          break;
        }
        if (!member->is_file) continue;
        ++files;
        held += add(*member);
      }
    } catch (...) {
      ended_ = true;
      if (samples_.empty()) throw;
      error_ = std::current_exception();  // after the samples before it
    }
    return true;
  }

  // Returns the size of the data that it holds.
  std::size_t add(const ArchiveMember& member) {
    const std::string_view name = member.name;
    const std::size_t base = name.rfind('/') + 1;
    const std::size_t dot = name.find('.', base);
    if (dot == name.npos || dot == base || dot + 1 == name.size()) return 0;
    std::string extension(name.substr(dot + 1));
    if (name.substr(0, dot) != sample_.key || extensions_.contains(extension)) {
      end_sample();
      sample_.key = name.substr(0, dot);
    }
    ShardData data = data_of(member);
    const auto* const bytes = std::get_if<std::vector<std::byte>>(&data);
    const std::size_t held = bytes != nullptr ? bytes->size() : 0;
    extensions_.insert(extension);
    sample_.members.push_back({std::move(extension), std::move(data)});
    return held;
  }

  // Ends the present sample. Its image is the first member whose extension is that of an image format
  // ("jpg"), or else ends with one ("depth.png"); a sample without an image is dropped.
  void end_sample() {
    ShardSample sample = std::exchange(sample_, {.shard = path_});
    extensions_.clear();
    const auto is_readable = [](std::optional<Format> format) {
      return format && format_info(*format).readable;
    };
    auto image = std::ranges::find_if(sample.members, [&](const ShardMember& member) {
      return is_readable(format_by_name(member.extension));
    });
    if (image == sample.members.end())
      image = std::ranges::find_if(sample.members, [&](const ShardMember& member) {
        return is_readable(format_by_ending(member.extension));
      });
    if (image == sample.members.end()) return;
    sample.image = static_cast<std::size_t>(image - sample.members.begin());
    samples_.push_back(std::move(sample));
  }

  ShardData data_of(const ArchiveMember& member) {
    if (member.data_offset && !member.is_sparse) {
      reads_headers_only_ = true;
      if (member.size_bytes > file_.size_bytes() - *member.data_offset)
        throw Error(ErrorKind::input, kTruncatedShard);
      return ShardExtent{*member.data_offset, member.size_bytes};
    }
    holds_data_ = true;
    std::vector<std::byte> data;
    const std::optional<Error> error = error_of([&] { data = data_in_archive(member.name); });
    if (error && archive_.is_broken()) throw Error(*error);
    if (error) return *error;
    return data;
  }

  // A small archive may expand without end: an image is at most as long as its header allows.
  std::vector<std::byte> data_in_archive(const std::string& name) {
    if (const auto format = format_by_ending(name); format && format_info(*format).readable) {
      const DecodeOptions limits = usual_decoding();
      return archive_.read_all(max_file_bytes(limits), [&](std::span<const std::byte> beginning) {
        std::int64_t longest = kLargestData;  // for other data
        (void)error_of([&] { longest = longest_file(beginning, limits); });
        return longest;
      });
    }
    try {
      return archive_.read_all(kLargestData);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input || archive_.is_broken()) throw;
      throw Error(ErrorKind::input, "too large: more than " + std::to_string(kLargestData) + " bytes");
    }
  }

  std::size_t read(std::span<std::byte> buffer) {
    constexpr std::size_t kHeaderBlock = 4096, kSmallMembersBlock = 65536;
    constexpr std::int64_t kSmallMember = kSmallMembersBlock / 4;
    std::size_t bytes = buffer.size();
    if (reads_headers_only_) bytes = at_ < members_ * kSmallMember ? kSmallMembersBlock : kHeaderBlock;
    const std::size_t got = file_.read_at(at_, buffer.first(std::min(bytes, buffer.size())));
    at_ += static_cast<std::int64_t>(got);
    return got;
  }

  // Stops at the end of the file: the header of a member may claim any length.
  std::int64_t skip(std::int64_t bytes) {
    const std::int64_t skipped = std::clamp<std::int64_t>(file_.size_bytes() - at_, 0, bytes);
    at_ += skipped;
    return skipped;
  }

  const std::shared_ptr<const std::string> path_;
  const InputFile file_;
  std::int64_t at_ = 0, members_ = 0;
  bool reads_headers_only_ = false, holds_data_ = false, ended_ = false;
  std::exception_ptr error_;
  ShardSample sample_{.shard = path_};             // is not complete
  std::set<std::string, std::less<>> extensions_;  // its members'
  std::vector<ShardSample> samples_;
  ArchiveReader archive_;
};

// Returns the names of the shards that a pattern stands for: ranges in order, then matching files by name.
nb::list expand_shards(const nb::bytes& pattern) {
  nb::list list;
  for (const std::string& name : expand_ranges(path_of(pattern, "sources"))) {
    std::vector<std::string> names{name};
    std::error_code unknown;
    if (is_pattern(name) && !std::filesystem::exists(name, unknown))
      names = paths_matching(name, [](const std::string&) { return false; }).paths;
    if (names.empty()) throw Error(ErrorKind::usage, "sources: '" + printable(name) + "': no match");
    for (const std::string& found : names) list.append(nb::bytes(found.data(), found.size()));
  }
  return list;
}

// Returns whether a text contains wildcards or ranges of numbers.
bool is_name_pattern(const nb::bytes& name) {
  const std::string text(name.c_str(), name.size());
  return is_pattern(text) || expand_ranges(text).size() > 1;
}

// Returns whether a file name is that of a tar shard.
bool is_shard(const nb::bytes& name) {
  return !archive_ending({name.c_str(), name.size()}).empty();
}

}  // namespace

void bind_archives(nb::module_& module) {
  nb::class_<ShardReader>(module, "ShardReader")
      .def(nb::init<const nb::bytes&>(), nb::arg("path"))
      .def("next", &ShardReader::next, nb::arg("count"),
           nb::sig("def next(self, count: int) -> list[ShardSample] | None"))
      .def("last", &ShardReader::last, nb::sig("def last(self) -> list[ShardSample]"))
      .def_prop_ro("holds_data", &ShardReader::holds_data);
  module.def("expand_shards", &expand_shards, nb::arg("pattern"),
             nb::sig("def expand_shards(pattern: bytes) -> list[bytes]"));
  module.def("is_pattern", &is_name_pattern, nb::arg("name"));
  module.def("is_shard", &is_shard, nb::arg("name"));
}

}  // namespace imgpipe::python
