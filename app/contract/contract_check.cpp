#include "app/contract/contract_check.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>

#include "app/contract/contract_images.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {
namespace {

std::string images_text(const ContractRow& row) {
  return row.images.size() == 1 ? "1 image" : std::to_string(row.images.size()) + " images";
}

std::string sample_text(const ContractRow& row) {
  const std::string text = text_of(row);
  return text.substr(0, text.find(' '));
}

// Adds the differences of a row whose digest differs.
void add_differences(std::vector<ContractDifference>& differences, const DigestRow& expected,
                     const std::vector<std::string>& lines, const std::string& device) {
  const ContractRow& row = expected.row;
  const std::string work = row.work + ", " + sample_text(row) + ", ";
  const auto add_image = [&](int image, const std::string& problem) {
    differences.push_back({work + contract_shape_text(contract_shape(image, row.sample)), problem});
  };
  const std::size_t before = differences.size();
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].starts_with("refused: ")) add_image(row.images[i], device + " " + lines[i]);
  if (differences.size() > before) return;
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const std::vector<std::string> right = result_lines(*reference, row);
  if (row_digest(right) != expected.digest) {
    differences.push_back({work + images_text(row),
                           device + " and reference give " + row_digest(lines) + ", not " + expected.digest});
    return;
  }
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i] != right[i]) add_image(row.images[i], device + " gives " + lines[i] + ", not " + right[i]);
}

}  // namespace

std::vector<std::vector<std::string>> contract_results(const std::vector<ContractRow>& rows,
                                                       const ContractRunSettings& settings) {
  std::vector<std::vector<std::string>> results(rows.size());
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;  // of `failure`
  const auto work = [&](int) {
    try {
      const std::unique_ptr<Engine> engine = settings.make_engine(settings.device, 1);
      for (std::size_t i = next++; i < rows.size(); i = next++) results[i] = result_lines(*engine, rows[i]);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = rows.size();
    }
  };
  HostThreads threads(settings.threads);
  threads.run(settings.threads, work);
  if (failure) std::rethrow_exception(failure);
  return results;
}

ContractDifferences contract_differences(const std::vector<DigestRow>& rows,
                                         const ContractRunSettings& settings) {
  constexpr std::size_t kMostDescribed = 20;
  std::vector<ContractRow> work;
  std::ranges::transform(rows, std::back_inserter(work), &DigestRow::row);
  const std::vector<std::vector<std::string>> results = contract_results(work, settings);
  ContractDifferences differences;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (row_digest(results[i]) == rows[i].digest) continue;
    ++differences.rows;
    if (differences.first.size() < kMostDescribed)
      add_differences(differences.first, rows[i], results[i], settings.device_name);
  }
  return differences;
}

}  // namespace imgpipe
