#include "app/shard_summary/shard_summary.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& line, const char* key) {
  return line.contains(key) && line[key].is_string() ? printable(line[key].get<std::string>()) : "";
}

// Clamps the value: reports have no negative numbers, but a manipulated one may have any.
std::int64_t whole_of(const Json& line, const char* key) {
  if (!line.contains(key) || !line[key].is_number_integer()) return 0;
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return std::clamp<std::int64_t>(line[key].get<std::int64_t>(), 0, kMost);
}

double ms_of(const Json& line, const char* key) {
  if (!line.contains(key) || !line[key].is_number()) return 0;
  constexpr double kMost = 1e15;
  return std::clamp(line[key].get<double>(), 0.0, kMost);
}

std::int64_t summary_value(const auto& outcomes, auto member) {
  std::int64_t sum = 0;
  for (const auto& [input, outcome] : outcomes) sum += outcome.*member;
  return sum;
}

// Returns N of "I/N"; nullopt if the text is not a shard, or N is too large to list.
std::optional<int> shards_in(std::string_view shard) {
  constexpr int kMost = 100'000;
  const std::size_t slash = shard.find('/');
  if (slash == shard.npos) return std::nullopt;
  int count = 0;
  const auto [end, error] = std::from_chars(shard.data() + slash + 1, shard.data() + shard.size(), count);
  const bool whole = error == std::errc() && end == shard.data() + shard.size();
  return whole && count >= 1 && count <= kMost ? std::optional(count) : std::nullopt;
}

}  // namespace

void ShardSummary::add(const std::string& name, std::istream& stream) {
  std::size_t strange = 0, known = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty()) continue;
    ++(add_line(name, line) ? known : strange);
  }
  if (stream.bad()) throw Error(ErrorKind::input, "cannot read to the end");
  if (known == 0 && strange > 0)
    throw Error(ErrorKind::input, "not a batch report; expected a file written by --report FILE.ndjson");
  strange_lines_ += strange;
}

void ShardSummary::check_outputs() {
  const auto directory_of = [](const Outcome& outcome) {
    return std::filesystem::path(outcome.output).parent_path().string();
  };
  const auto make_again = [](Outcome& outcome, const std::string& problem) {
    const std::string output = std::move(outcome.output);
    outcome = Outcome();
    outcome.reason = output + ": " + problem + "; run the same command with --skip-existing";
  };
  std::unordered_set<std::string> directories;
  std::vector<Outcome*> missing;
  for (auto& [input, outcome] : outcomes_) {
    const bool counts_as_made = outcome.status == Status::done || outcome.status == Status::skipped;
    if (!counts_as_made || outcome.output.empty()) continue;
    struct stat info {};
    if (::stat(outcome.output.c_str(), &info) != 0) {
      if (errno == ENOENT && outcome.status == Status::done && outcome.is_one_file)
        missing.push_back(&outcome);
    } else if (S_ISREG(info.st_mode) && info.st_size == 0) {
      make_again(outcome, "is empty");
    } else {
      directories.insert(directory_of(outcome));
    }
  }
  for (Outcome* const outcome : missing)
    if (directories.contains(directory_of(*outcome))) make_again(*outcome, "does not exist");
}

bool ShardSummary::add_line(const std::string& name, const std::string& text) {
  const Json line = Json::parse(text, nullptr, false);
  if (!line.is_object() || line.empty() || line.begin().key() != "imgpipe") return false;
  const std::string input = text_of(line, "input"), said = text_of(line, "status");
  Outcome outcome{.error = text_of(line, "error"),
                  .reason = text_of(line, "reason"),
                  .output = text_of(line, "output"),
                  .is_one_file = whole_of(line, "pages") == 0};
  if (said == "done") {
    outcome.status = Status::done;
    outcome.pixels = std::min<std::int64_t>(whole_of(line, "width_pixels"), 1 << 20) *
                     std::min<std::int64_t>(whole_of(line, "height_pixels"), 1 << 20);
    outcome.input_bytes = whole_of(line, "input_bytes");
    outcome.output_bytes = whole_of(line, "output_bytes");
  } else if (said == "failed") {
    outcome.status = Status::failed;
  } else if (said == "skipped") {
    outcome.status = Status::skipped;
  } else if (said != "not_done") {
    return false;
  }
  if (input.empty()) return false;
  const std::string shard = text_of(line, "shard");
  double& end_ms = run_ends_ms_[name + "\n" + shard][text_of(line, "date") + " " + text_of(line, "host")];
  end_ms = std::max(end_ms, ms_of(line, "end_ms"));
  const std::string hex = text_of(line, "input_bytes_hex");  // names may look alike
  const auto [known, fresh] = outcomes_.try_emplace(hex.empty() ? input : input + "\n" + hex, outcome);
  const bool last_word = outcome.status == Status::done || outcome.status == Status::failed;
  const bool better = outcome.status == Status::skipped && known->second.status != Status::done;
  if (!fresh && (last_word || better)) known->second = std::move(outcome);
  count_in(shards_[shard], line, known->first);
  return true;
}

// An unreadable directory also has a line, but no output: it does not count as an image.
void ShardSummary::count_in(ShardLines& shard, const Json& line, const std::string& input) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto images = [&](const char* key) {
    return static_cast<std::size_t>(std::min(whole_of(line, key), kMost));
  };
  shard.images = std::max(shard.images, images("shard_images"));
  shard.batch_images = std::max(shard.batch_images, images("batch_images"));
  if (text_of(line, "output").empty()) return;
  shard.inputs.insert(&input);
  batch_inputs_.insert(&input);
}

std::size_t ShardSummary::count(Status status) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(outcomes_, [&](const auto& entry) { return entry.second.status == status; }));
}

std::int64_t ShardSummary::pixels() const {
  return summary_value(outcomes_, &Outcome::pixels);
}
std::int64_t ShardSummary::input_bytes() const {
  return summary_value(outcomes_, &Outcome::input_bytes);
}
std::int64_t ShardSummary::output_bytes() const {
  return summary_value(outcomes_, &Outcome::output_bytes);
}

std::vector<ShardSummary::Failure> ShardSummary::failures() const {
  std::vector<Failure> all;
  for (const auto& [input, outcome] : outcomes_) {
    const bool not_done = outcome.status == Status::not_done;
    if (not_done || outcome.status == Status::failed)
      all.push_back({input.substr(0, input.find('\n')), outcome.error, outcome.reason, not_done});
  }
  std::ranges::sort(all, {}, &Failure::input);
  return all;
}

std::map<std::string, double> ShardSummary::walls_by_shard() const {
  std::map<std::string, double> walls;
  for (const auto& [shard, runs] : run_ends_ms_)
    for (const auto& [run, end_ms] : runs) walls[shard] += end_ms / 1e3;
  return walls;
}

double ShardSummary::longest_wall_s() const {
  double longest = 0;
  for (const auto& [shard, wall] : walls_by_shard()) longest = std::max(longest, wall);
  return longest;
}

double ShardSummary::all_walls_s() const {
  double sum = 0;
  for (const auto& [shard, wall] : walls_by_shard()) sum += wall;
  return sum;
}

std::vector<std::string> ShardSummary::shards() const {
  std::vector<std::string> names;
  for (const auto& [shard, lines] : shards_)
    if (!shard.empty()) names.push_back(shard);
  return names;
}

// Returns true if the shards with lines cover all images of the batch, so that the other shards had no
// images.
bool ShardSummary::covers_batch(int shards) const {
  std::size_t images = 0, of_batch = 0;
  for (const auto& [shard, lines] : shards_) {
    if (shards_in(shard) != shards) continue;
    images += lines.images;
    of_batch = std::max(of_batch, lines.batch_images);
  }
  return of_batch > 0 && images >= of_batch;
}

std::vector<std::string> ShardSummary::missing_shards() const {
  std::set<int> counts;
  for (const auto& [shard, lines] : shards_)
    if (const std::optional<int> count = shards_in(shard)) counts.insert(*count);
  std::vector<std::string> missing;
  for (const int count : counts) {
    if (covers_batch(count)) continue;
    for (int i = 1; i <= count; ++i) {
      const std::string shard = std::to_string(i) + "/" + std::to_string(count);
      if (!shards_.contains(shard)) missing.push_back(shard);
    }
  }
  return missing;
}

std::size_t ShardSummary::images_without_line() const {
  std::size_t images = 0;
  for (const auto& [shard, lines] : shards_) images = std::max(images, lines.batch_images);
  return images - std::min(images, batch_inputs_.size());
}

std::vector<ShardSummary::Unfinished> ShardSummary::unfinished() const {
  std::vector<Unfinished> all;
  if (images_without_line() == 0) return all;
  for (const auto& [shard, lines] : shards_)
    if (lines.inputs.size() < lines.images) all.push_back({shard, lines.images, lines.inputs.size()});
  return all;
}

}  // namespace imgpipe
