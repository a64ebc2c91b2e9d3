// The outputs of a batch in which each page has its own file (--pages with a format for one page). The number
// of pages of an input is known only once it is opened.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/jobs/batch_files.h"

namespace imgpipe {

// Returns the file of every selected page; none if the input cannot be read, which is reported later.
[[nodiscard]] std::vector<std::string> page_files(const ProcessOptions& options, const BatchFile& file);

// Describes the outputs of a file for people, with those of --also. The number of pages is unknown, hence
// "a_0001.png ...".
[[nodiscard]] std::string output_text(const ProcessOptions& options, const BatchFile& file);

// Returns true if every page has its file; false if the input cannot be read, which is reported later.
[[nodiscard]] bool has_all_pages(const ProcessOptions& options, const BatchFile& file);

// Element i is the file of which some page may overwrite the input of files[i], or nullptr. Returns an empty
// list if no file has page files. Throws like check_page_outputs() if pages of two files could coincide.
[[nodiscard]] std::vector<const BatchFile*> writers_of_pages(const ProcessOptions& options,
                                                             const std::deque<BatchFile>& files);

// Throws Error(usage) if some page of a file could overwrite an input or a page of another file.
void check_page_outputs(const ProcessOptions& options, const std::deque<BatchFile>& files);

}  // namespace imgpipe
