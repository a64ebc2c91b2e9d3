// Processes archives in a batch: processes the images, copies all other members, and writes each archive with
// its members in the same order.
//
//   ArchiveReader --feed()--> Batch::add() --> workers, lanes --> take() --> in order --> ArchiveWriter
//                      `--------- members that are copied ----------------------^
//
// One thread calls all functions. While the last images of an archive are in progress, the next one is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/archive_writer.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

struct ArchiveFiles {
  std::string input, output;  // paths; "-" for standard input and output
  std::string input_name, output_name;
};

struct ArchiveImage {
  std::size_t archive = 0;
  std::string name, output_name;  // of the members
  Format format = Format::png;
  std::optional<Provenance> made_of{};
  // Further results, which become members directly before the image's; the outputs are their names.
  std::vector<AlsoFile> also{};
};

struct ArchiveSettings {
  // Sets the output of an image; false: the member is copied.
  std::function<bool(ArchiveImage&)> is_image;
  std::function<ByteSource(const std::string& input)> open = open_source;
  std::function<void(const std::string& output)> before_write = [](const std::string&) {};
  DecodeOptions decode{};
  OutputSync* sync = nullptr;
  // Memory for members that wait, besides the batch's, and for the names of the archive that is read.
  std::int64_t waiting_bytes = 0;
  std::optional<std::int64_t> max_image_bytes{};  // of an image's file, if memory limits it
};

struct ArchiveEvents {
  std::function<void(const ArchiveImage&)> found;
  std::function<void(const ArchiveImage&, const BatchResult&)> ended;
  // Called for a member that is not an image and cannot be copied.
  std::function<void(std::size_t archive, const std::string& member, const Error&)> left_out;
  // Without an error, the archive's output is complete; otherwise it does not exist, or has no end if it goes
  // to standard output. The error begins with the name of the input or output.
  std::function<void(std::size_t archive, const std::optional<Error>&)> archive_ended;
};

class ArchiveJob {
 public:
  // The list of `batch` must be able to grow. `batch` must outlive this.
  ArchiveJob(std::vector<ArchiveFiles> archives, ArchiveSettings settings, ArchiveEvents events,
             Batch& batch);

  // Reads a member, or a part of a long one. Returns false if a result must be taken first, or if all
  // archives are read.
  [[nodiscard]] bool feed();
  // Takes a result of the batch and its file.
  void take(BatchResult result);

 private:
  // A part of the output that waits for the parts before it.
  struct Waiting {
    enum class Kind { member, data, image, end } kind = Kind::data;
    std::size_t archive = 0;
    ArchiveMember member{};
    ArchiveImage image{};
    std::vector<std::vector<std::byte>> parts{};
    bool is_ready = true;
    bool has_failed = false;
    std::optional<Error> error{};  // end
    std::int64_t held_bytes = 0;   // counted in held_bytes_
    std::int64_t batch_bytes = 0;  // counted by the batch
  };

  // ---- reading
  void open_next();
  void read_next();
  void take_member(ArchiveMember member);
  void add_image(const ArchiveMember& member, ArchiveImage image);
  [[nodiscard]] std::vector<std::byte> read_image(const ArchiveMember& member, const ArchiveImage& image);
  void copy(ArchiveMember member);
  void copy_chunk();
  template <class Action>
  bool or_end_archive(const Action& action);
  void end_archive(const std::optional<Error>& error);
  [[nodiscard]] bool is_full(std::int64_t more) const;
  [[nodiscard]] std::int64_t names_bytes() const;
  [[nodiscard]] ArchiveMember renamed(ArchiveMember member) const;
  void check_name(const std::string& name, const std::string& output_name);
  void check_names(const ArchiveImage& image);
  Waiting& wait(Waiting part);
  // ---- writing
  void write_ready();
  void write(const Waiting& part);
  void write_part(const Waiting& part);
  void begin_image(const Waiting& part);
  void begin(std::size_t archive, const ArchiveMember& member);
  void open_output(std::size_t archive);
  void complete_output(std::size_t archive);

  const std::vector<ArchiveFiles> archives_;
  const ArchiveSettings settings_;
  const ArchiveEvents events_;
  Batch& batch_;

  std::size_t next_ = 0;     // the archive to open next
  std::size_t reading_ = 0;  // the archive of reader_
  std::unique_ptr<ArchiveReader> reader_;
  std::optional<ArchiveMember> header_;  // read, but its data does not fit yet
  std::int64_t copied_bytes_left_ = 0;   // of a member that is copied
  bool is_complete_ = false;             // all archives are read
  // Hashes of the names in the output, and of the names that differ from the input's.
  std::unordered_set<std::size_t> names_, new_names_;

  std::deque<Waiting> waiting_;
  std::int64_t held_bytes_ = 0;
  std::size_t next_item_ = 0;
  // The results of each image in the batch, by item; deque keeps addresses.
  std::unordered_map<std::size_t, std::vector<Waiting*>> images_;

  std::unique_ptr<OutputFile> output_;
  std::unique_ptr<ArchiveWriter> writer_;
  std::unordered_set<std::string> failed_names_;  // outputs that output_ lacks
  bool is_left_out_ = false;                      // the current member of output_
  bool has_aborted_ = false;
};

}  // namespace imgpipe
