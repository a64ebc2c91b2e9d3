// Summarises the .ndjson reports of one or more batches.
//
// Each input counts once, however many lines it has. Its outcome is its last done or failed line, but a later
// skipped line (its output existed) overrides failed. An input is not_done only if it has no other line.
// Lines are ordered by file and position.
//
// Lines contain the number of images of their run (shard_images, batch_images). This reveals how many images
// of a killed run or missing shard have no line, but not their names. Several batches are not distinguished:
// the largest number is used.
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
    bool not_done = false;  // false: failed
  };

  // Adds the lines of a report; `name` is printable. Throws Error(input), without the name, if no line
  // belongs to a report.
  void add(const std::string& name, std::istream& stream);

  // Call after the last add(). An image reported as done or skipped becomes not done if its output is empty.
  // An image reported as done in a single file also becomes not done if that file is missing while other
  // outputs of the reports are in the same directory. If none are, all of them may have been moved, or the
  // report comes from another machine.
  void check_outputs();

  [[nodiscard]] std::size_t images() const { return outcomes_.size(); }
  [[nodiscard]] std::size_t done() const { return count(Status::done); }
  [[nodiscard]] std::size_t skipped() const { return count(Status::skipped); }
  [[nodiscard]] std::size_t failed() const { return count(Status::failed); }
  [[nodiscard]] std::size_t not_done() const { return count(Status::not_done); }
  // Sums over the images reported as done.
  [[nodiscard]] std::int64_t pixels() const;
  [[nodiscard]] std::int64_t input_bytes() const;
  [[nodiscard]] std::int64_t output_bytes() const;
  // Returns the failed and unfinished inputs, sorted by input.
  [[nodiscard]] std::vector<Failure> failures() const;
  // A run's wall time is the end of its last image; a shard's is the sum over its runs. These return the
  // maximum and the sum over shards.
  [[nodiscard]] double longest_wall_s() const;
  [[nodiscard]] double all_walls_s() const;
  // shards() returns the shards with lines, such as "3/8". missing_shards() returns shards that have no lines
  // but whose existence other lines imply, unless the known shards cover all images.
  [[nodiscard]] std::vector<std::string> shards() const;
  [[nodiscard]] std::vector<std::string> missing_shards() const;
  // Returns the number of the batch's images without a line; 0 if lines do not contain their number.
  [[nodiscard]] std::size_t images_without_line() const;
  // A shard some of whose images have no line; unfinished() returns all such shards. `shard` is "" for an
  // unsharded run.
  struct Unfinished {
    std::string shard;
    std::size_t images = 0, images_with_line = 0;
  };
  [[nodiscard]] std::vector<Unfinished> unfinished() const;
  // Lines that do not belong to a report, such as an incomplete line of a killed run.
  [[nodiscard]] std::size_t unrecognised_lines() const { return strange_lines_; }

 private:
  enum class Status { done, failed, skipped, not_done };
  struct Outcome {
    Status status = Status::not_done;
    std::string error, reason;
    std::int64_t pixels = 0, input_bytes = 0, output_bytes = 0;
    std::string output;       // path in the line
    bool is_one_file = true;  // false: each page may have a file
  };
  // The lines of one shard: the numbers of images in it and in its batch, and the inputs with a line.
  struct ShardLines {
    std::size_t images = 0, batch_images = 0;
    std::unordered_set<const std::string*> inputs;  // keys of outcomes_
  };

  void count_in(ShardLines& shard, const nlohmann::ordered_json& line, const std::string& input);
  [[nodiscard]] bool add_line(const std::string& name, const std::string& line);
  [[nodiscard]] std::size_t count(Status status) const;
  [[nodiscard]] std::map<std::string, double> walls_by_shard() const;
  [[nodiscard]] bool covers_batch(int shards) const;

  std::unordered_map<std::string, Outcome> outcomes_;  // by input and, if not printable, its bytes
  // The end of the last image of each run: by file and shard, then by date and host.
  std::map<std::string, std::map<std::string, double>> run_ends_ms_;
  std::map<std::string, ShardLines> shards_;             // "": unsharded runs
  std::unordered_set<const std::string*> batch_inputs_;  // keys of outcomes_ that are images of a batch
  std::size_t strange_lines_ = 0;
};

}  // namespace imgpipe
