// The outputs of a batch where each page has a file of its own (--pages with a format of one page): how many
// there are of an input is known when it is looked at.
#pragma once

#include <string>
#include <vector>

#include "app/jobs/batch_files.h"

namespace imgpipe {

// The file of every page that is chosen; none where the input cannot be read: its turn says why.
[[nodiscard]] std::vector<std::string> page_files(const ProcessOptions& options, const BatchFile& file);

// What a run would write of a file, for people. How many pages an input has is not known: "a_0001.png ...".
[[nodiscard]] std::string output_text(const ProcessOptions& options, const BatchFile& file);

// Whether every page has its file already. An input that cannot be read has none: its turn says why.
[[nodiscard]] bool has_all_pages(const ProcessOptions& options, const BatchFile& file);

// For each file, the one of which a page, whatever its number, could be written over it; nullptr: none. Empty
// where no page has a file of its own. Throws as check_page_outputs() does where pages of two could meet.
[[nodiscard]] std::vector<const BatchFile*> writers_of_pages(const ProcessOptions& options,
                                                             const std::vector<BatchFile>& files);

// Throws Error(usage) where a page of one of the files, whatever its number, could be written over an input,
// or to where a page of another goes.
void check_page_outputs(const ProcessOptions& options, const std::vector<BatchFile>& files);

}  // namespace imgpipe
