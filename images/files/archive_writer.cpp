#include "images/files/archive_writer.h"

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "images/error.h"
#include "images/files/archive_functions.h"
#include "images/files/archive_locale.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr int kTarRecordBytes = 10240;  // tar pads archives to 20 blocks
constexpr int kRecordsAtOnce = 100;

struct ArchiveEnder {
  void operator()(archive* made) const { late_archive::archive_write_free(made); }
};

}  // namespace

struct ArchiveWriter::State {
  explicit State(std::function<void(std::span<const std::byte>)> bytes)
      : sink(std::move(bytes)), writer(late_archive::archive_write_new()) {
    if (writer == nullptr) throw std::bad_alloc();
    late_archive::archive_write_set_format_pax(writer.get());
    late_archive::archive_write_set_bytes_per_block(writer.get(), kRecordsAtOnce * kTarRecordBytes);
    late_archive::archive_write_set_bytes_in_last_block(writer.get(), kTarRecordBytes);
    if (late_archive::archive_write_open(writer.get(), this, nullptr, write_block, nullptr) != ARCHIVE_OK)
      fail();
  }

  // libarchive calls this, and exceptions must not pass through libarchive.
  static la_ssize_t write_block(archive*, void* self, const void* data, size_t size) {
    auto& state = *static_cast<State*>(self);
    if (state.is_abandoned) return static_cast<la_ssize_t>(size);
    try {
      state.sink({static_cast<const std::byte*>(data), size});
      return static_cast<la_ssize_t>(size);
    } catch (...) {
      state.sink_error = std::current_exception();
      return -1;
    }
  }

  [[nodiscard]] std::string reason() const {
    const char* text = late_archive::archive_error_string(writer.get());
    return text == nullptr ? "unknown error" : printable(text);
  }

  [[noreturn]] void fail() {
    if (sink_error) std::rethrow_exception(std::exchange(sink_error, nullptr));
    throw Error(ErrorKind::output, "cannot write the archive: " + reason());
  }

  std::function<void(std::span<const std::byte>)> sink;
  std::exception_ptr sink_error;
  bool is_abandoned = false;  // the destructor's bytes are not part of the archive
  std::unique_ptr<archive, ArchiveEnder> writer;
};

ArchiveWriter::ArchiveWriter(std::function<void(std::span<const std::byte>)> sink)
    : state_(std::make_unique<State>(std::move(sink))) {}
ArchiveWriter::~ArchiveWriter() {
  const ArchiveLocale locale;
  state_->is_abandoned = true;
  state_.reset();
}

void ArchiveWriter::check(const ArchiveMember& member) {
  if (late_archive::archive_entry_uid(member.header.get()) < 0 ||
      late_archive::archive_entry_gid(member.header.get()) < 0)
    throw Error(ErrorKind::input, "tar cannot store its header: the owner or group is negative");
}

void ArchiveWriter::begin(const ArchiveMember& member) {
  check(member);
  const ArchiveLocale locale;
  archive_entry* const header = member.header.get();
  late_archive::archive_entry_copy_pathname(header, member.name.c_str());
  if (!member.hard_link.empty()) late_archive::archive_entry_copy_hardlink(header, member.hard_link.c_str());
  late_archive::archive_entry_set_size(header, member.size_bytes);
  late_archive::archive_entry_sparse_clear(header);
  const int status = late_archive::archive_write_header(state_->writer.get(), header);
  if (state_->sink_error || status == ARCHIVE_FATAL) state_->fail();
  if (status == ARCHIVE_FAILED)
    throw Error(ErrorKind::input, "tar cannot store its header: " + state_->reason());
}

void ArchiveWriter::append(std::span<const std::byte> data) {
  const ArchiveLocale locale;
  while (!data.empty()) {
    const la_ssize_t taken = late_archive::archive_write_data(state_->writer.get(), data.data(), data.size());
    if (taken < 0) state_->fail();
    if (taken == 0) throw Error(ErrorKind::output, "internal error: more data than the member's size");
    data = data.subspan(static_cast<std::size_t>(taken));
  }
}

void ArchiveWriter::close() {
  const ArchiveLocale locale;
  if (late_archive::archive_write_close(state_->writer.get()) != ARCHIVE_OK) state_->fail();
}

}  // namespace imgpipe
