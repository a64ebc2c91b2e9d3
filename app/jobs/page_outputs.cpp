#include "app/jobs/page_outputs.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/jobs/output_plan.h"
#include "images/error.h"
#include "images/formats/page_list.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/jobs/name_segments.h"
#include "pipeline/jobs/page_selection.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Returns the name of an output's page files, in which {page} is the only field.
std::vector<NameSegment> pieces_of(const ProcessOptions& options, const std::string& output) {
  if (options.pages->named) return name_segments(output);
  constexpr int kMinDigits = 4;  // as in page_path()
  const fs::path path(output);
  return {{.text = (path.parent_path() / path.stem()).string() + "_"},
          {.text = std::string(kPageField), .is_field = true, .digits = kMinDigits},
          {.text = path.extension().string()}};
}

// A run of digits in a path. It may be a page number, alone or adjacent to other digits.
struct Run {
  std::string digits;
  enum class Page { none, alone, next_to_digits } page = Page::none;
  int min_digits = 0;  // of the page number
};

// A path, or the name of page files, split into text and runs of digits. Two patterns can stand for the same
// path only if their texts are equal.
struct Pattern {
  std::string text;  // a zero byte stands for each run
  std::vector<Run> runs;

  void add(char c) {
    if (!is_digit(c)) {
      text += c;
    } else {
      run().digits += c;
    }
  }
  void add_page(int digits) {
    run().page = Run::Page::alone;
    runs.back().min_digits = std::max(1, digits);
  }
  void end() {
    for (Run& run : runs)
      if (run.page != Run::Page::none && !run.digits.empty()) run.page = Run::Page::next_to_digits;
  }
  // Returns one character per run: p for a page number, - for other digits.
  [[nodiscard]] std::string page_layout() const {
    std::string layout;
    for (const Run& run : runs) layout += run.page == Run::Page::none ? '-' : 'p';
    return layout;
  }
  [[nodiscard]] std::string key(std::string_view page_layout) const {
    std::string key = text;
    for (std::size_t i = 0; i < runs.size(); ++i)
      key += '\0' + (page_layout[i] == 'p' ? "p" : runs[i].digits);
    return key;
  }

 private:
  Run& run() {
    if (text.empty() || text.back() != '\0') {
      text += '\0';
      runs.emplace_back();
    }
    return runs.back();
  }
};

class PageFiles {
 public:
  // `named`: page numbers have the width given in --name; otherwise that of the number of pages, at least
  // four.
  explicit PageFiles(bool named) : named_(named) {}

  // Throws Error(usage) if a page file of `file` may coincide with a page file of another input.
  void add(const BatchFile& file, const std::vector<NameSegment>& segments) {
    Pattern pattern = pattern_of(segments);
    const auto [layout, fresh] = page_layouts_.try_emplace(pattern.text, pattern.page_layout(), &file);
    if (!fresh && layout->second.first != pattern.page_layout()) refuse_both(*layout->second.second, file);
    std::string key = pattern.key(pattern.page_layout());
    const auto [other, is_new] = writers_.try_emplace(std::move(key), Writer{&file, {}});
    if (!is_new) refuse_both(*other->second.file, file);
    other->second.runs = std::move(pattern.runs);
  }

  // Returns the input of which a page may be written to `path`, or nullptr.
  [[nodiscard]] const BatchFile* writer_of(const std::string& path) {
    const Pattern pattern = pattern_of({{.text = path}});
    const auto layout = page_layouts_.find(pattern.text);
    if (layout == page_layouts_.end()) return nullptr;
    const auto writer = writers_.find(pattern.key(layout->second.first));
    if (writer == writers_.end()) return nullptr;
    for (std::size_t i = 0; i < pattern.runs.size(); ++i) {
      const Run& run = writer->second.runs[i];
      if (run.page != Run::Page::none && !may_be(run, pattern.runs[i].digits)) return nullptr;
    }
    return writer->second.file;
  }

  [[nodiscard]] bool empty() const { return writers_.empty(); }

 private:
  struct Writer {
    const BatchFile* file;
    std::vector<Run> runs;
  };

  // Returns true if `digits` can be a page number in the run `page`.
  [[nodiscard]] bool may_be(const Run& page, const std::string& digits) const {
    if (page.page != Run::Page::alone) return true;
    const auto least = static_cast<std::size_t>(page.min_digits);
    return digits.size() == least || (digits.size() > least && (!named_ || digits.front() != '0'));
  }

  // Resolves links in the fixed directory part.
  Pattern pattern_of(const std::vector<NameSegment>& segments) {
    const std::string& front = segments.front().text;
    const std::size_t slash = segments.front().is_field ? std::string::npos : front.rfind('/');
    const bool in_directory = slash != std::string::npos;
    const auto [directory, fresh] = directories_.try_emplace(in_directory ? front.substr(0, slash + 1) : ".");
    if (fresh) {
      std::error_code unknown;
      directory->second = fs::weakly_canonical(directory->first, unknown).string();
      if (unknown) directory->second = fs::absolute(directory->first).lexically_normal().string();
      if (!directory->second.ends_with('/')) directory->second += '/';
    }
    Pattern pattern;
    for (const char c : directory->second) pattern.add(c);
    bool first = true;
    for (const NameSegment& segment : segments) {
      if (segment.is_field) pattern.add_page(segment.digits);
      if (!segment.is_field)
        for (const char c : std::string_view(segment.text).substr(first && in_directory ? slash + 1 : 0))
          pattern.add(c);
      first = false;
    }
    pattern.end();
    return pattern;
  }

  [[noreturn]] static void refuse_both(const BatchFile& first, const BatchFile& second) {
    throw Error(ErrorKind::usage, printable(second.output) + ": may be the output for a page of both " +
                                      printable(first.input) + " and " + printable(second.input) +
                                      "; in --name, place {page} after a field that distinguishes the "
                                      "inputs, and no digit next to {page}");
  }

  const bool named_;
  std::unordered_map<std::string, std::string> directories_;  // each is resolved only once
  std::unordered_map<std::string, std::pair<std::string, const BatchFile*>>
      page_layouts_;                                 // by Pattern::text
  std::unordered_map<std::string, Writer> writers_;  // by Pattern::key()
};

}  // namespace

std::vector<std::string> page_files(const ProcessOptions& options, const BatchFile& file) {
  std::vector<std::string> files;
  const std::optional<Error> error = error_of([&] {
    const PageList list(file.input, options.decode, InputKind::regular_only);
    const PageRange range = selected_pages(*options.pages, list.size());
    for (std::int64_t number = range.first; number <= range.last; ++number) {
      for (const std::string& output : output_paths(file))
        files.push_back(page_path(*options.pages, output, number, list.size()));
    }
  });
  return error ? std::vector<std::string>() : files;
}

std::string output_text(const ProcessOptions& options, const BatchFile& file) {
  std::string text;
  for (const std::string& output : output_paths(file)) {
    if (!text.empty()) text += ", ";
    if (!has_page_files(options, file.format) || options.pages->named) {
      text += output;
    } else {
      const std::int64_t first = options.pages->first;
      text += page_path(*options.pages, output, first, first) + " ...";
    }
  }
  return text;
}

bool has_all_pages(const ProcessOptions& options, const BatchFile& file) {
  const std::vector<std::string> files = page_files(options, file);
  // If the size cannot be read, the page counts as not empty: it may be a device.
  const auto is_there = [](const std::string& page) {
    std::error_code error;
    return fs::exists(page, error) && fs::file_size(page, error) != 0;
  };
  return !files.empty() && std::ranges::all_of(files, is_there);
}

std::vector<const BatchFile*> writers_of_pages(const ProcessOptions& options,
                                               const std::deque<BatchFile>& files) {
  PageFiles pages(options.pages && options.pages->named);
  for (const BatchFile& file : files) {
    if (!has_page_files(options, file.format) || file.output_exists) continue;
    for (const std::string& output : output_paths(file)) pages.add(file, pieces_of(options, output));
  }
  std::vector<const BatchFile*> writers;
  if (pages.empty()) return writers;
  for (const BatchFile& file : files) writers.push_back(pages.writer_of(file.input));
  return writers;
}

void check_page_outputs(const ProcessOptions& options, const std::deque<BatchFile>& files) {
  const std::vector<const BatchFile*> writers = writers_of_pages(options, files);
  for (std::size_t i = 0; i < writers.size(); ++i) {
    const BatchFile* const writer = writers[i];
    if (writer == nullptr) continue;
    throw Error(ErrorKind::usage, printable(files[i].input) + ": is an input, but a page of " +
                                      printable(writer->input) +
                                      " could replace it; name another directory or --exclude one of them");
  }
}

}  // namespace imgpipe
