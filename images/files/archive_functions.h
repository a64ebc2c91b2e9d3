// The functions of libarchive that imgpipe calls.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "images/late_library.h"

namespace imgpipe::late_archive {

#ifdef IMGPIPE_ARCHIVE_FILE
inline constinit LateLibrary library{IMGPIPE_ARCHIVE_FILE};
#define IMGPIPE_ARCHIVE(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_ARCHIVE(name) using ::name
#endif
IMGPIPE_ARCHIVE(archive_bzlib_version);
IMGPIPE_ARCHIVE(archive_entry_copy_hardlink);
IMGPIPE_ARCHIVE(archive_entry_copy_pathname);
IMGPIPE_ARCHIVE(archive_entry_filetype);
IMGPIPE_ARCHIVE(archive_entry_free);
IMGPIPE_ARCHIVE(archive_entry_gid);
IMGPIPE_ARCHIVE(archive_entry_hardlink);
IMGPIPE_ARCHIVE(archive_entry_new);
IMGPIPE_ARCHIVE(archive_entry_pathname);
IMGPIPE_ARCHIVE(archive_entry_pathname_utf8);
IMGPIPE_ARCHIVE(archive_entry_set_size);
IMGPIPE_ARCHIVE(archive_entry_size);
IMGPIPE_ARCHIVE(archive_entry_sparse_clear);
IMGPIPE_ARCHIVE(archive_entry_sparse_count);
IMGPIPE_ARCHIVE(archive_entry_uid);
IMGPIPE_ARCHIVE(archive_error_string);
IMGPIPE_ARCHIVE(archive_filter_bytes);
IMGPIPE_ARCHIVE(archive_filter_code);
IMGPIPE_ARCHIVE(archive_format);
IMGPIPE_ARCHIVE(archive_liblzma_version);
IMGPIPE_ARCHIVE(archive_libzstd_version);
IMGPIPE_ARCHIVE(archive_read_data);
IMGPIPE_ARCHIVE(archive_read_free);
IMGPIPE_ARCHIVE(archive_read_new);
IMGPIPE_ARCHIVE(archive_read_next_header2);
IMGPIPE_ARCHIVE(archive_read_open2);
IMGPIPE_ARCHIVE(archive_read_support_filter_bzip2);
IMGPIPE_ARCHIVE(archive_read_support_filter_gzip);
IMGPIPE_ARCHIVE(archive_read_support_filter_xz);
IMGPIPE_ARCHIVE(archive_read_support_filter_zstd);
IMGPIPE_ARCHIVE(archive_read_support_format_tar);
IMGPIPE_ARCHIVE(archive_version_string);
IMGPIPE_ARCHIVE(archive_write_close);
IMGPIPE_ARCHIVE(archive_write_data);
IMGPIPE_ARCHIVE(archive_write_free);
IMGPIPE_ARCHIVE(archive_write_header);
IMGPIPE_ARCHIVE(archive_write_new);
IMGPIPE_ARCHIVE(archive_write_open);
IMGPIPE_ARCHIVE(archive_write_set_bytes_in_last_block);
IMGPIPE_ARCHIVE(archive_write_set_bytes_per_block);
IMGPIPE_ARCHIVE(archive_write_set_format_pax);
IMGPIPE_ARCHIVE(archive_zlib_version);

}  // namespace imgpipe::late_archive
