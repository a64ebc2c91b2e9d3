#include "images/files/archive_reader.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "images/error.h"
#include "images/files/archive_functions.h"
#include "images/files/archive_locale.h"
#include "images/late_library.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::size_t kArchiveBlockBytes = std::size_t{1} << 18;

struct ArchiveCloser {
  void operator()(archive* opened) const { late_archive::archive_read_free(opened); }
};

// For a compression without its library, libarchive would start an external program.
void support_formats(archive* reader) {
  late_archive::archive_read_support_format_tar(reader);
  if (late_archive::archive_zlib_version() != nullptr) late_archive::archive_read_support_filter_gzip(reader);
  if (late_archive::archive_bzlib_version() != nullptr)
    late_archive::archive_read_support_filter_bzip2(reader);
  if (late_archive::archive_liblzma_version() != nullptr)
    late_archive::archive_read_support_filter_xz(reader);
  if (late_archive::archive_libzstd_version() != nullptr)
    late_archive::archive_read_support_filter_zstd(reader);
}

std::string name_of(archive_entry* entry) {
  const char* name = late_archive::archive_entry_pathname(entry);
  if (name == nullptr) name = late_archive::archive_entry_pathname_utf8(entry);
  return name == nullptr ? "" : name;
}

bool begins_with(std::span<const std::byte> bytes, std::string_view signature) {
  return bytes.size() >= signature.size() &&
         std::ranges::equal(bytes.first(signature.size()), signature, {}, {},
                            [](char c) { return static_cast<std::byte>(c); });
}

// Checks the checksum of a tar header: the sum of its bytes, with blanks for the checksum itself.
bool is_tar_header(std::span<const std::byte> block) {
  constexpr std::size_t kChecksumAt = 148, kChecksumBytes = 8;
  if (block.size() < kArchiveHeadBytes) return false;
  long sum = 0, signed_sum = 0, stored = 0;
  for (std::size_t i = 0; i < kArchiveHeadBytes; ++i) {
    const bool is_checksum = i >= kChecksumAt && i < kChecksumAt + kChecksumBytes;
    const int value = is_checksum ? ' ' : std::to_integer<int>(block[i]);
    sum += value;
    signed_sum += static_cast<signed char>(value);
  }
  bool has_digits = false;
  for (const std::byte byte : block.subspan(kChecksumAt, kChecksumBytes)) {
    const char c = static_cast<char>(byte);
    if (c >= '0' && c <= '7') {
      stored = 8 * stored + (c - '0');
      has_digits = true;
    } else if (has_digits || c != ' ') {
      break;
    }
  }
  return has_digits && (stored == sum || stored == signed_sum);
}

}  // namespace

struct ArchiveReader::State {
  State(ByteSource bytes, ByteSkip over)
      : source(std::move(bytes)), skip(std::move(over)), reader(late_archive::archive_read_new()) {
    if (reader == nullptr) throw std::bad_alloc();
    support_formats(reader.get());
  }

  // libarchive calls this, and exceptions must not pass through libarchive.
  static la_ssize_t read_block(archive*, void* self, const void** block) {
    auto& state = *static_cast<State*>(self);
    try {
      const std::size_t got = state.source(state.block);
      state.source_ended = got == 0;
      *block = state.block.data();
      return static_cast<la_ssize_t>(got);
    } catch (...) {
      state.source_error = std::current_exception();
      return -1;
    }
  }

  static la_int64_t skip_bytes(archive*, void* self, la_int64_t bytes) {
    auto& state = *static_cast<State*>(self);
    return state.skip ? state.skip(bytes) : 0;
  }

  void open() {
    if (std::exchange(opened, true)) return;
    if (late_archive::archive_read_open2(reader.get(), this, nullptr, read_block, skip_bytes, nullptr) !=
        ARCHIVE_OK)
      fail();
  }

  [[noreturn]] void fail() {
    broken = true;
    if (source_error) std::rethrow_exception(std::exchange(source_error, nullptr));
    const char* text = late_archive::archive_error_string(reader.get());
    if (text == nullptr) text = "unknown error";
    if (late_archive::archive_format(reader.get()) == 0)
      throw Error(ErrorKind::input, "not a tar archive (" + printable(text) + ")");
    throw Error(ErrorKind::input, "damaged archive: " + printable(text));
  }

  ByteSource source;
  ByteSkip skip;
  std::vector<std::byte> block = std::vector<std::byte>(kArchiveBlockBytes);
  std::unique_ptr<archive, ArchiveCloser> reader;  // reads into `block`
  std::exception_ptr source_error;
  bool opened = false, broken = false, source_ended = false;
};

ArchiveReader::ArchiveReader(ByteSource source, ByteSkip skip)
    : state_(std::make_unique<State>(std::move(source), std::move(skip))) {}
ArchiveReader::~ArchiveReader() = default;

std::optional<ArchiveMember> ArchiveReader::next() {
  const ArchiveLocale locale;
  state_->open();
  ArchiveMember member;
  member.header = {late_archive::archive_entry_new(),
                   [](archive_entry* entry) { late_archive::archive_entry_free(entry); }};
  archive_entry* const entry = member.header.get();
  if (entry == nullptr) throw std::bad_alloc();
  const int status = late_archive::archive_read_next_header2(state_->reader.get(), entry);
  if (status == ARCHIVE_EOF) return std::nullopt;
  if (status != ARCHIVE_OK && status != ARCHIVE_WARN) state_->fail();
  member.name = name_of(entry);
  if (const char* const target = late_archive::archive_entry_hardlink(entry)) member.hard_link = target;
  member.is_file = late_archive::archive_entry_filetype(entry) == AE_IFREG && member.hard_link.empty();
  if (member.is_file) member.size_bytes = late_archive::archive_entry_size(entry);
  member.is_sparse = late_archive::archive_entry_sparse_count(entry) > 0;
  if (late_archive::archive_filter_code(state_->reader.get(), 0) == ARCHIVE_FILTER_NONE)
    member.data_offset = late_archive::archive_filter_bytes(state_->reader.get(), 0);
  return member;
}

std::size_t ArchiveReader::read(std::span<std::byte> buffer) {
  const ArchiveLocale locale;
  const la_ssize_t got = late_archive::archive_read_data(state_->reader.get(), buffer.data(), buffer.size());
  if (got < 0) state_->fail();
  return static_cast<std::size_t>(got);
}

std::vector<std::byte> ArchiveReader::read_all(std::int64_t max_bytes, const FileLengthLimiter& judge) {
  return read_to_end([this](std::span<std::byte> buffer) { return read(buffer); }, {}, max_bytes, judge);
}

bool ArchiveReader::is_broken() const noexcept {
  return state_->broken;
}

void ArchiveReader::drain() {
  while (!state_->source_ended) state_->source_ended = state_->source(state_->block) == 0;
}

bool is_archive(std::span<const std::byte> beginning) {
  using namespace std::string_view_literals;
  constexpr std::array kCompressed{"\x1F\x8B\x08"sv, "BZh"sv,
                                   "\xFD"
                                   "7zXZ\0"sv,
                                   "\x28\xB5\x2F\xFD"sv};
  const bool is_empty_archive = beginning.size() >= kArchiveHeadBytes &&
                                std::ranges::count(beginning, std::byte{}) == std::ssize(beginning);
  return is_empty_archive || is_tar_header(beginning) ||
         std::ranges::any_of(kCompressed,
                             [&](std::string_view signature) { return begins_with(beginning, signature); });
}

std::string_view archive_ending(std::string_view name) {
  constexpr std::array<std::string_view, 9> kEndings{".tar",    ".tar.gz", ".tgz",     ".tar.bz2", ".tbz2",
                                                     ".tar.xz", ".txz",    ".tar.zst", ".tzst"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const std::string_view ending : kEndings) {
    if (name.size() <= ending.size()) continue;
    const std::string_view end = name.substr(name.size() - ending.size());
    if (std::ranges::equal(end, ending, {}, lower)) return end;
  }
  return {};
}

std::string archive_version() {
  // "libarchive 3.6.2"
  return library_version("libarchive",
                         [] { return late_archive::archive_version_string() + sizeof("libarchive"); });
}

}  // namespace imgpipe
