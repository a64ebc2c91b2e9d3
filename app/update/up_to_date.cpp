#include "app/update/up_to_date.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "app/files/replaceable.h"
#include "app/log.h"
#include "app/update/stamp_file.h"
#include "app/version.h"
#include "images/codecs/mark.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::string canonical(const std::string& directory) {
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(directory.empty() ? "." : directory, error), error);
  return error ? directory : path.string();
}

// The newest stamp of an output, compared with the item.
struct LatestStamp {
  bool is_stamped = false, same_input = false, same_options = false, same_version = false;
  FileState output_state, input_state;
};

UpdateState state_of(const LatestStamp& known, const std::optional<FileState>& output,
                     const std::optional<FileState>& input) {
  if (!output) return UpdateState::no_output;
  if (!known.is_stamped) return UpdateState::no_stamp;
  if (!known.same_version) return UpdateState::other_version;
  if (known.output_state != *output || output->bytes == 0) return UpdateState::output_changed;
  if (!known.same_input || !input || known.input_state != *input) return UpdateState::input_changed;
  return known.same_options ? UpdateState::up_to_date : UpdateState::options_changed;
}

}  // namespace

std::string_view update_reason(UpdateState state) {
  switch (state) {
    case UpdateState::up_to_date:
      return "up to date";
    case UpdateState::no_output:
      return "output does not exist";
    case UpdateState::no_stamp:
      return "output was not made with --update";
    case UpdateState::other_version:
      return "output was made by another version of imgpipe";
    case UpdateState::output_changed:
      return "output has changed";
    case UpdateState::input_changed:
      return "input has changed";
    case UpdateState::options_changed:
      break;
  }
  return "output was made with other options";
}

StampNames::StampNames(const std::string& directory)
    : directory_(directory), canonical_directory_(canonical(directory)) {}

std::string StampNames::output(const std::string& path) const {
  const fs::path below = fs::path(path).lexically_relative(directory_.empty() ? "." : directory_);
  return stamp_name(below.empty() ? path : below.string());
}

std::string StampNames::input(const std::string& path) {
  const fs::path file(path);
  const auto [found, fresh] = canonical_.try_emplace(file.parent_path().string());
  if (fresh) found->second = canonical(found->first);
  const fs::path whole = fs::path(found->second) / file.filename();
  const fs::path path_from_stamps = whole.lexically_relative(canonical_directory_);
  return stamp_name((path_from_stamps.empty() ? whole : path_from_stamps).string());
}

UpdateResults determine_updates(const std::string& directory, std::size_t count,
                                const std::function<UpdateItem(std::size_t)>& item) {
  StampNames names(directory);
  UpdateResults verdicts;
  std::vector<UpdateItem> items;
  const auto has_mark = [](std::span<const std::byte> head) {
    return find_mark(head).kind == Mark::Kind::result;
  };
  std::vector<LatestStamp> known;                                                  // all outputs, in order
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> by_output;  // item, index in `known`
  for (std::size_t i = 0; i < count; ++i) {
    items.push_back(item(i));
    verdicts.items.push_back({UpdateState::up_to_date, file_state(items[i].input)});
    items[i].input = names.input(items[i].input);
    for (const std::string& output : items[i].outputs) {
      by_output.try_emplace(names.output(output), i, known.size());
      known.emplace_back();
    }
  }
  const std::string version = build_info().version;
  const auto take = [&](const Stamp& stamp) {
    const auto found = by_output.find(stamp.output);
    if (found == by_output.end()) return;
    const UpdateItem& of_item = items[found->second.first];
    known[found->second.second] = {.is_stamped = true,
                                   .same_input = stamp.input == of_item.input,
                                   .same_options = stamp.options_digest == of_item.options_digest,
                                   .same_version = stamp.version == version,
                                   .output_state = stamp.output_state,
                                   .input_state = stamp.input_state};
  };
  read_stamps(stamp_file_in(directory), take);
  std::size_t of_other_versions = 0;
  auto of_output = known.begin();
  for (std::size_t i = 0; i < count; ++i) {
    UpdateResult& verdict = verdicts.items[i];
    if (items[i].outputs.empty()) verdict.state = UpdateState::no_output;
    const auto first = of_output;
    for (const std::string& output : items[i].outputs) {
      if (verdict.state == UpdateState::up_to_date)
        verdict.state = state_of(*of_output, file_state(output), verdict.input_state);
      ++of_output;
    }
    if (verdict.state == UpdateState::up_to_date) continue;
    of_other_versions += verdict.state == UpdateState::other_version ? 1 : 0;
    for (std::size_t j = 0; j < items[i].outputs.size(); ++j) {
      const std::string& output = items[i].outputs[j];
      std::error_code unknown;
      const bool is_made = (first + static_cast<std::ptrdiff_t>(j))->is_stamped &&
                           !fs::is_symlink(output, unknown);  // the target of a link may be anything
      if (is_made && !refusal_reason(output, Replace::own, has_mark).empty())
        verdicts.stamped_outputs.insert(output);
    }
  }
  if (of_other_versions > 0)
    log_notice("--update: recreating the outputs of " + std::to_string(of_other_versions) +
               (of_other_versions == 1 ? " image" : " images") +
               " made by another version of imgpipe (this is " + version + ")");
  return verdicts;
}

std::string stamp_lines(StampNames& names, const UpdateItem& item, const FileState& input_state) {
  std::string lines;
  const std::string version = build_info().version;
  for (const std::string& output : item.outputs) {
    const std::optional<FileState> output_state = file_state(output);
    if (!output_state) continue;
    lines += stamp_line({.output = names.output(output),
                         .output_state = *output_state,
                         .input = names.input(item.input),
                         .input_state = input_state,
                         .options_digest = std::string(item.options_digest),
                         .version = version});
  }
  return lines;
}

}  // namespace imgpipe
