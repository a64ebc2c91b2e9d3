// What the .ndjson reports of one or more batches say together.
//
// Each input is counted once, whatever the number of its lines: the last line that says done or failed is its
// outcome; skipped (its output was there) stands for one that is not done, and not_done for one that no line
// says more of. Lines come in the order of the files and of the lines in them.
//
// Lines say how many images their run had (shard_images, batch_images): what a killed run, or a shard that
// never ran, leaves without a line is thus known, though not by name. Several batches in one are not told
// apart: the largest counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace imgpipe {

class ShardSummary {
 public:
  struct Failure {
    std::string input, error, reason;
    bool not_done = false;  // else it has failed
  };

  // Adds the lines of a report; `name` is printable. Throws Error(input), without the name, where the file
  // has lines and none is a report's.
  void add(const std::string& name, std::istream& stream);

  // After the last add(): an image whose output is empty is not done, whatever its line says. An output that
  // is missing counts alike if its directory holds others of the reports: else all of them may have been
  // moved, or the report comes from another machine.
  void check_outputs();

  [[nodiscard]] std::size_t images() const { return outcomes_.size(); }
  [[nodiscard]] std::size_t done() const { return count(Status::done); }
  [[nodiscard]] std::size_t skipped() const { return count(Status::skipped); }
  [[nodiscard]] std::size_t failed() const { return count(Status::failed); }
  [[nodiscard]] std::size_t not_done() const { return count(Status::not_done); }
  // Of the images that are done by these lines.
  [[nodiscard]] std::int64_t pixels() const;
  [[nodiscard]] std::int64_t input_bytes() const;
  [[nodiscard]] std::int64_t output_bytes() const;
  // What failed and what is not done, sorted by input.
  [[nodiscard]] std::vector<Failure> failures() const;
  // A run's wall time is the end of its last image; a shard's that of its runs together. The longest shard's,
  // and the sum of all.
  [[nodiscard]] double longest_wall_s() const;
  [[nodiscard]] double all_walls_s() const;
  // "3/8": of which there are lines; and those that other lines count and of which there is none, but where
  // the others' images are known to be all.
  [[nodiscard]] std::vector<std::string> shards() const;
  [[nodiscard]] std::vector<std::string> missing_shards() const;
  // How many images of the batch have no line; 0 where lines do not say how many there are.
  [[nodiscard]] std::size_t without_a_line() const;
  // Where there are such, the shards that have fewer lines than images; "" is a run that was no shard.
  struct Unfinished {
    std::string shard;
    std::size_t images = 0, with_a_line = 0;
  };
  [[nodiscard]] std::vector<Unfinished> unfinished() const;
  // Lines that are none of a report: a killed run may leave one.
  [[nodiscard]] std::size_t strange_lines() const { return strange_lines_; }

 private:
  enum class Status { done, failed, skipped, not_done };
  struct Outcome {
    Status status = Status::not_done;
    std::string error, reason;
    std::int64_t pixels = 0, input_bytes = 0, output_bytes = 0;
    std::string output;       // as the line has it
    bool is_one_file = true;  // false: each page may have a file
  };
  // Of the lines of one shard: how many images it and its batch have by them, and which have one.
  struct ShardLines {
    std::size_t images = 0, batch_images = 0;
    std::unordered_set<const std::string*> inputs;  // keys of outcomes_
  };

  void count_in(ShardLines& shard, const nlohmann::ordered_json& line, const std::string& input);
  [[nodiscard]] bool add_line(const std::string& name, const std::string& line);
  [[nodiscard]] std::size_t count(Status status) const;
  [[nodiscard]] std::map<std::string, double> walls_by_shard() const;
  [[nodiscard]] bool makes_a_whole(int shards) const;

  std::unordered_map<std::string, Outcome> outcomes_;  // by input, and its bytes
  // The end of the last image of each run: by file and shard, and by date and host.
  std::map<std::string, std::map<std::string, double>> run_ends_ms_;
  std::map<std::string, ShardLines> shards_;             // "": of runs that were no shard
  std::unordered_set<const std::string*> batch_inputs_;  // keys of outcomes_ that are images of a batch
  std::size_t strange_lines_ = 0;
};

}  // namespace imgpipe
