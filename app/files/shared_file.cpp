#include "app/files/shared_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "images/error.h"
#include "images/files/file_identity.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::json;

// Returns the shard that a report or trace names ("2/4"), or "". In a trace, reads only the first event, on
// the second line, because the rest may still be growing.
std::string shard_named_in(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string line;
  const bool is_trace = std::getline(stream, line) && line.ends_with('[');
  if (is_trace) {
    std::getline(stream, line);
    if (line.ends_with(',')) line.pop_back();
  } else {
    stream.clear();
    stream.seekg(0);
  }
  const Json json = is_trace ? Json::parse(line, nullptr, false) : Json::parse(stream, nullptr, false);
  const Json::json_pointer at(is_trace ? "/args/name" : "/options/shard");
  std::string name = json.contains(at) && json[at].is_string() ? json[at].get<std::string>() : "";
  if (!is_trace) return name;
  return name.starts_with("imgpipe ") ? name.substr(name.find(' ') + 1) : "";
}

}  // namespace

// A replaced file has a new inode, so the lock must be taken again on the new file.
SharedFileLock::SharedFileLock(const std::string& path, std::chrono::seconds patience) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) return;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  constexpr int kTries = 1000;  // a try fails if another process replaced the file meanwhile
  for (int i = 0; i < kTries; ++i) {
    file_.emplace(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666));
    if (file_->get() < 0) return;  // the error is reported when the file is written
    const auto left = deadline - std::chrono::steady_clock::now();
    lock_.emplace(file_->get(), std::chrono::duration_cast<std::chrono::milliseconds>(left));
    if (lock_->is_busy())
      throw Error(ErrorKind::output, printable(path) + ": locked by another process for " +
                                         std::to_string(patience.count()) +
                                         " s; end that process or name another file");
    if (!lock_->is_held() || descriptor_identity(file_->get()) == file_identity(path)) return;
    lock_.reset();
    file_.reset();
  }
}

std::string other_shard_reason(const std::string& path, const Shard& shard, Replace replace) {
  std::error_code error;
  if (replace == Replace::all || !std::filesystem::is_regular_file(path, error)) return "";
  const std::string named = shard_named_in(path);
  if (named.empty() || named.substr(0, named.find('/')) == std::to_string(shard.index)) return "";
  return "belongs to shard " + named + "; give each shard its own file (.ndjson reports can be shared)";
}

}  // namespace imgpipe
