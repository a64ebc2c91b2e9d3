#include "pipeline/jobs/archive_job.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <utility>

#include "images/files/file.h"
#include "images/files/output_file.h"
#include "images/text.h"
#include "pipeline/error_of.h"

namespace imgpipe {
namespace {

constexpr std::size_t kCopiedAtOnce = std::size_t{1} << 20;
// A sparse member may claim any length without any data.
constexpr std::int64_t kMaxSparseBytes = std::int64_t{1} << 30;

}  // namespace

ArchiveJob::ArchiveJob(std::vector<ArchiveFiles> archives, ArchiveSettings settings, ArchiveEvents events,
                       Batch& batch)
    : archives_(std::move(archives)),
      settings_(std::move(settings)),
      events_(std::move(events)),
      batch_(batch) {}

// ---- reading -----------------------------------------------------------------------------------------

bool ArchiveJob::feed() {
  if (is_complete_ || has_aborted_ || is_full(header_ ? header_->size_bytes : 0)) return false;
  if (reader_ == nullptr) {
    open_next();
  } else if (copied_bytes_left_ > 0) {
    copy_chunk();
  } else {
    read_next();
  }
  write_ready();
  return !is_complete_;
}

// A member that needs more than the whole memory waits until no other member is waiting.
bool ArchiveJob::is_full(std::int64_t more) const {
  return held_bytes_ > 0 && more >= settings_.waiting_bytes - names_bytes() - held_bytes_;
}

std::int64_t ArchiveJob::names_bytes() const {
  constexpr std::int64_t kHashBytes = 48;  // a node on the heap, and its share of a growing table
  return kHashBytes * std::ssize(names_) + kHashBytes * std::ssize(new_names_);
}

// Reads from the archive; an error ends it.
template <class Action>
bool ArchiveJob::or_end_archive(const Action& action) {
  const std::optional<Error> error = error_of(action);
  if (error) end_archive(error);
  return !error;
}

void ArchiveJob::open_next() {
  if (next_ == archives_.size()) {
    is_complete_ = true;
    batch_.end_list();
    return;
  }
  reading_ = next_++;
  or_end_archive(
      [&] { reader_ = std::make_unique<ArchiveReader>(settings_.open(archives_[reading_].input)); });
}

void ArchiveJob::end_archive(const std::optional<Error>& error) {
  reader_.reset();
  copied_bytes_left_ = 0;
  names_.clear();
  new_names_.clear();
  const ArchiveFiles& files = archives_[reading_];
  Waiting end{.kind = Waiting::Kind::end, .archive = reading_};
  if (error)
    end.error.emplace(error->kind(), files.input_name + ": " + error->what() + "; " + files.output_name +
                                         " was not written");
  wait(std::move(end));
}

void ArchiveJob::read_next() {
  std::optional<ArchiveMember> member = std::exchange(header_, std::nullopt);
  if (!member) {
    const bool is_read = or_end_archive([&] {
      member = reader_->next();
      // The process that writes a pipe must not fail because the padding after the archive is unread.
      if (!member && file_size_bytes(archives_[reading_].input) == 0) reader_->drain();
    });
    if (!is_read) return;
  }
  if (!member) {
    end_archive(std::nullopt);
  } else if (is_full(member->size_bytes)) {
    header_ = std::move(member);
  } else {
    take_member(*std::move(member));
  }
}

void ArchiveJob::take_member(ArchiveMember member) {
  ArchiveImage image{.archive = reading_, .name = member.name, .output_name = member.name};
  if (member.is_file && settings_.is_image(image)) return add_image(member, std::move(image));
  member = renamed(std::move(member));
  const std::optional<Error> error = error_of([&] {
    ArchiveWriter::check(member);
    check_name(image.name, member.name);
    if (member.is_sparse && member.size_bytes > kMaxSparseBytes)
      throw Error(ErrorKind::input, "a sparse file of " + std::to_string(member.size_bytes) +
                                        " bytes; at most " + std::to_string(kMaxSparseBytes) + " are copied");
  });
  if (error) return events_.left_out(reading_, image.name, *error);
  copy(std::move(member));
}

// A hard link to an image gets the ending of the image's output.
ArchiveMember ArchiveJob::renamed(ArchiveMember member) const {
  if (member.hard_link.empty()) return member;
  ArchiveImage target{.name = member.hard_link, .output_name = ""},
      link{.name = member.name, .output_name = ""};
  if (!settings_.is_image(target)) return member;
  member.hard_link = target.output_name;
  if (settings_.is_image(link)) member.name = link.output_name;
  return member;
}

// Throws Error(input) if an image's new name is another member's name.
void ArchiveJob::check_name(const std::string& name, const std::string& output_name) {
  const std::size_t hash = std::hash<std::string>()(output_name);
  const bool is_new = name != output_name;
  if (new_names_.contains(hash) || (is_new && names_.contains(hash)))
    throw Error(ErrorKind::input, "another member is or becomes " + printable(output_name) +
                                      "; use a format, or names of --also, that keep their names apart");
  names_.insert(hash);
  if (is_new) new_names_.insert(hash);
}

void ArchiveJob::check_names(const ArchiveImage& image) {
  check_name(image.name, image.output_name);
  for (const AlsoFile& also : image.also) check_name(image.name, also.output);
}

void ArchiveJob::add_image(const ArchiveMember& member, ArchiveImage image) {
  const ArchiveFiles& files = archives_[reading_];
  Waiting part{.kind = Waiting::Kind::image, .archive = reading_, .member = member, .image = image};
  std::vector<std::byte> bytes;
  if (const std::optional<Error> error = error_of([&] { bytes = read_image(member, image); })) {
    if (reader_->is_broken()) return end_archive(error);
    events_.found(image);
    BatchResult result;
    result.failed = error->kind();
    result.reason = files.input_name + "/" + printable(image.name) + ": " + error->what();
    part.has_failed = true;
    wait(std::move(part));
    return events_.ended(image, result);
  }
  events_.found(image);
  part.is_ready = false;
  part.held_bytes = static_cast<std::int64_t>(bytes.size());
  BatchItem item{.input = files.input_name + "/" + image.name,
                 .output = files.output_name + "/" + image.output_name,
                 .format = image.format,
                 .made_of = image.made_of,
                 .content = std::make_shared<const std::vector<std::byte>>(std::move(bytes)),
                 .stays_in_memory = true,
                 .also = image.also};
  std::vector<Waiting*>& results = images_[next_item_++];
  for (AlsoFile& also : item.also) {
    Waiting result{.kind = Waiting::Kind::image,
                   .archive = reading_,
                   .member = member,
                   .image = image,
                   .is_ready = false};
    result.image.output_name = std::exchange(also.output, files.output_name + "/" + also.output);
    results.push_back(&wait(std::move(result)));
  }
  results.push_back(&wait(std::move(part)));
  batch_.add(std::move(item));
}

std::vector<std::byte> ArchiveJob::read_image(const ArchiveMember& member, const ArchiveImage& image) {
  ArchiveWriter::check(member);
  check_names(image);
  if (settings_.max_image_bytes && member.size_bytes > *settings_.max_image_bytes)
    throw Error(ErrorKind::memory, "needs up to " + std::to_string(member.size_bytes) +
                                       " bytes, but --memory leaves " +
                                       std::to_string(*settings_.max_image_bytes) + " for images");
  return reader_->read_all(max_file_bytes(settings_.decode), [&](std::span<const std::byte> beginning) {
    return longest_file(beginning, settings_.decode);
  });
}

void ArchiveJob::copy(ArchiveMember member) {
  copied_bytes_left_ = member.size_bytes;
  wait({.kind = Waiting::Kind::member, .archive = reading_, .member = std::move(member)});
  if (copied_bytes_left_ > 0) copy_chunk();
}

void ArchiveJob::copy_chunk() {
  Waiting part{.kind = Waiting::Kind::data, .archive = reading_};
  const bool is_read = or_end_archive([&] {
    std::vector<std::byte> chunk(
        static_cast<std::size_t>(std::min<std::int64_t>(copied_bytes_left_, kCopiedAtOnce)));
    for (std::size_t filled = 0, got = 1; got > 0 && filled < chunk.size(); filled += got)
      got = reader_->read(std::span(chunk).subspan(filled));
    part.parts.push_back(std::move(chunk));
  });
  if (!is_read) return;
  part.held_bytes = static_cast<std::int64_t>(part.parts.front().size());
  copied_bytes_left_ -= part.held_bytes;
  wait(std::move(part));
}

ArchiveJob::Waiting& ArchiveJob::wait(Waiting part) {
  held_bytes_ += part.held_bytes;
  return waiting_.emplace_back(std::move(part));
}

// ---- writing -----------------------------------------------------------------------------------------

void ArchiveJob::take(BatchResult result) {
  const std::vector<Waiting*> parts = std::move(images_.extract(result.item).mapped());
  held_bytes_ -= std::exchange(parts.back()->held_bytes, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Waiting& part = *parts[i];
    part.has_failed = result.failed.has_value();
    part.is_ready = true;
    if (part.has_failed) continue;
    EncodedFile& file = i < result.also.size() ? result.also[i].file : result.file;
    part.batch_bytes = static_cast<std::int64_t>(file.size_bytes());
    part.parts = std::move(file.parts);
  }
  events_.ended(parts.back()->image, result);
  write_ready();
}

void ArchiveJob::write_ready() {
  while (!waiting_.empty() && waiting_.front().is_ready) {
    const Waiting part = std::move(waiting_.front());
    waiting_.pop_front();
    if (!has_aborted_) write(part);
    held_bytes_ -= part.held_bytes;
    if (part.batch_bytes > 0) batch_.release_file(part.batch_bytes);
  }
}

// An output that cannot be written ends the batch, unless the reason is a file that must not be replaced.
void ArchiveJob::write(const Waiting& part) {
  std::optional<Error> error =
      error_of([&] { naming(archives_[part.archive].output_name, [&] { write_part(part); }); });
  const bool is_end = part.kind == Waiting::Kind::end;
  has_aborted_ = error && error->kind() != ErrorKind::usage;
  if (!error && !is_end) return;
  writer_.reset();
  output_.reset();
  failed_names_.clear();
  is_left_out_ = false;
  events_.archive_ended(part.archive, error ? error : part.error);
  if (has_aborted_) batch_.abort(*error);
}

void ArchiveJob::write_part(const Waiting& part) {
  switch (part.kind) {
    case Waiting::Kind::member:
      begin(part.archive, part.member);
      break;
    case Waiting::Kind::data:
      break;
    case Waiting::Kind::image:
      begin_image(part);
      break;
    case Waiting::Kind::end:
      if (!part.error) complete_output(part.archive);
      break;
  }
  if (is_left_out_) return;
  for (const std::vector<std::byte>& bytes : part.parts) writer_->append(bytes);
}

void ArchiveJob::begin_image(const Waiting& part) {
  is_left_out_ = part.has_failed;
  if (part.has_failed) {
    failed_names_.insert(part.image.output_name);
    return;
  }
  ArchiveMember member = part.member;
  member.name = part.image.output_name;
  member.size_bytes = part.batch_bytes;
  begin(part.archive, member);
}

void ArchiveJob::begin(std::size_t archive, const ArchiveMember& member) {
  if (writer_ == nullptr) open_output(archive);
  const std::optional<Error> error = error_of([&] {
    if (failed_names_.contains(member.hard_link))
      throw Error(ErrorKind::input, "is a hard link to " + printable(member.hard_link) + ", which failed");
    writer_->begin(member);
  });
  if (error && error->kind() != ErrorKind::input) throw Error(*error);
  is_left_out_ = error.has_value();
  if (error) events_.left_out(archive, member.name, *error);
}

void ArchiveJob::open_output(std::size_t archive) {
  const std::string& path = archives_[archive].output;
  if (const std::filesystem::path directory = std::filesystem::path(path).parent_path(); !directory.empty())
    make_directory(directory.string(), settings_.sync);
  output_ = std::make_unique<OutputFile>(path, settings_.sync);
  writer_ =
      std::make_unique<ArchiveWriter>([this](std::span<const std::byte> bytes) { output_->append(bytes); });
}

void ArchiveJob::complete_output(std::size_t archive) {
  if (writer_ == nullptr) open_output(archive);
  writer_->close();
  if (output_->exists()) settings_.before_write(archives_[archive].output);
  output_->put_in_place();
}

}  // namespace imgpipe
