#include "app/jobs/archive_files.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "app/files/name_list.h"
#include "app/files/replaceable.h"
#include "app/jobs/glob_paths.h"
#include "app/jobs/result_files.h"
#include "app/process_options/options_digest.h"
#include "app/standard_streams.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/file.h"
#include "images/formats/codec_table.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

bool is_archive_name(const std::string& path) {
  std::error_code error;
  return !archive_ending(path).empty() && !fs::is_directory(path, error);
}

[[noreturn]] void refuse_mixture(const std::string& archive, const std::string& other) {
  throw Error(ErrorKind::usage, printable(other) + ": not an archive, but " + printable(archive) +
                                    " is; process archives in a separate run");
}

// Returns the INPUTs or, without INPUT, the first name in the list.
std::vector<std::string> names_of_inputs(const InputOptions& input) {
  if (!input.path.empty()) {
    std::vector<std::string> names = input.more_paths;
    names.insert(names.begin(), input.path);
    return names;
  }
  if (input.files_from == kStandardStream) return {};
  constexpr std::size_t kLongestName = 4096;
  const std::vector<std::byte> head = read_head(input.files_from, kLongestName);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return {std::string(text.substr(0, text.find_first_of(std::string_view("\n\r\0", 3))))};
}

void refuse_options(const ProcessOptions& options) {
  const std::pair<bool, const char*> rows[] = {
      {options.decode.bands_of_page.has_value(),
       "--bands all: not supported for images in archives; extract them first"},
      {options.pages.has_value(), "--pages: not supported for images in archives; extract them first"},
      {options.output.is_tensor,
       "--tensor: not supported for images in archives; --format npy writes an archive of tensors"},
      {options.output.name.has_value(),
       "--name: not supported for archives; their outputs have the names of the inputs"},
      {options.output.update, "--update: not supported for archives; use --skip-existing"}};
  for (const auto& [given, text] : rows) {
    if (given) throw Error(ErrorKind::usage, text);
  }
}

// The remedy for a missing format, --format, does not help other content.
void check_has_image(std::span<const std::byte> input) {
  if (input.empty()) throw Error(ErrorKind::input, "-: standard input is empty");
  if (!is_archive(input) && codec_by_content(input) == nullptr)
    throw Error(ErrorKind::input, "-: " + unknown_content_reason(input) + " and not a tar archive");
}

BatchFiles one_archive(const ProcessOptions& options) {
  const std::string& path = options.output.path;
  BatchFile file;
  file.input = options.input.path;
  file.output = path;
  file.format = options.output.format.value_or(Format::png);
  FilesInUse in_use;
  in_use.add_input("the input", file.input);
  in_use.add("OUTPUT", path);
  check_stream(path);
  file.output_exists = file_size_bytes(path) > 0;
  if (!(options.output.skip_existing && file.output_exists))
    check_replaceable(path, archive_refusal_reason(path, options.output.replace));
  BatchFiles found;
  found.files.push_back(std::move(file));
  return found;
}

}  // namespace

bool takes_archives(const ProcessOptions& options) {
  const InputOptions& input = options.input;
  if (input.path == kStandardStream && input.more_paths.empty()) {
    if (options.output.path != kStandardStream) return !archive_ending(options.output.path).empty();
    check_stream(options.output.path);
    const std::vector<std::byte> head = peek_standard_input(kArchiveHeadBytes);
    if (!options.output.format) check_has_image(head);
    return is_archive(head);
  }
  const std::string* archive = nullptr;
  const std::string* other = nullptr;
  const std::vector<std::string> names = names_of_inputs(input);
  for (const std::string& name : names) (is_archive_name(name) ? archive : other) = &name;
  if (archive != nullptr && other != nullptr) refuse_mixture(*archive, *other);
  return archive != nullptr;
}

bool makes_one_archive(const ProcessOptions& options) {
  const InputOptions& input = options.input;
  const std::string& path = options.output.path;
  std::error_code error;
  if (path == kStandardStream) return true;
  if (!input.files_from.empty() || !input.more_paths.empty() || path.ends_with('/') ||
      fs::is_directory(path, error))
    return false;
  return fs::exists(input.path, error) || !is_pattern(input.path);
}

BatchFiles find_archives(const ProcessOptions& options) {
  refuse_options(options);
  const std::string& path = options.output.path;
  if (makes_one_archive(options)) {
    if (!options.input.files_from.empty() || !options.input.more_paths.empty())
      throw Error(ErrorKind::usage, "OUTPUT: several archives need a directory, got stdout");
    const std::string_view ending = archive_ending(path);
    if (path != kStandardStream && ending.size() != std::string_view(".tar").size())
      throw Error(ErrorKind::usage,
                  printable(path) + ": the output of an archive must end in .tar, or be - or a directory" +
                      (ending.empty() ? "" : "; compressed archives are only read"));
    return one_archive(options);
  }
  // Otherwise `'*.tar' all.tar` would create a directory of that name.
  if (is_archive_name(path) && options.input.more_paths.empty())
    throw Error(ErrorKind::usage, printable(path) +
                                      ": not a directory, but INPUT is a pattern or list; end "
                                      "OUTPUT with / to create one");
  BatchFiles found = find_batch_files(options);
  for (const BatchFile& file : found.files) {
    if (archive_ending(file.input).empty()) refuse_mixture(found.files.front().input, file.input);
  }
  return found;
}

}  // namespace imgpipe
