#include "app/contract/contract_command.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/contract/contract_check.h"
#include "app/contract/contract_file.h"
#include "app/contract/contract_images.h"
#include "app/exit_code.h"
#include "app/files/text_file.h"
#include "app/jobs/result_files.h"
#include "app/log.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/simd.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

struct ContractOptions {
  std::string check_file, write_file, cases_file;  // "-": stdin or stdout; empty: not given
  std::string device_name;
  DeviceChoice device;
  Replace replace = Replace::own;
  LoggingOptions logging;
};

std::vector<OptionRow> contract_rows_of_options() {
  std::vector<OptionRow> rows{
      {"Contract", "check", "FILE", nullptr,
       "Compare with the digests in FILE, instead of those installed with this program"},
      {"Contract", "write", "FILE", nullptr,
       "Write the digests of this program as JSON, instead of comparing"},
      {"Contract", "cases", "FILE", nullptr,
       "Write a line for each result instead, to compare two machines or versions by diff"},
      {"Contract", "d,device", "NAME", "cpu", "reference, cpu, cuda or cuda:N", device_values()}};
  std::erase(rows.back().values, "auto");
  add_rows(rows, replace_rows());
  add_rows(rows, logging_rows());
  return rows;
}

ContractOptions read_contract(const Parser& parser) {
  ContractOptions options;
  options.check_file = parser.name_or_empty("check");
  options.write_file = parser.name_or_empty("write");
  options.cases_file = parser.name_or_empty("cases");
  if (!options.check_file.empty() + !options.write_file.empty() + !options.cases_file.empty() > 1)
    usage("--check, --write and --cases exclude each other");
  options.device_name = parser.text("device");
  options.device = choose_device(options.device_name);
  if (!options.device.backend || options.device.cuda_devices.size() > 1)
    usage("--device: must be one of reference, cpu, cuda or cuda:N; got '" + printable(options.device_name) +
          "'");
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  return options;
}

// Returns the file that is installed with this program.
std::string installed_contract() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path file = (program.parent_path() / IMGPIPE_DATA_FROM_BIN).lexically_normal() /
                        ("contract-" + std::to_string(kContractNumber) + ".json");
  if (error || !fs::is_regular_file(file, error))
    usage(printable(file.string()) + ": not installed; give --check FILE");
  return file.string();
}

ContractRunSettings settings_of(const ContractOptions& options, const EngineFactory& factory) {
  const bool on_host = options.device.backend != Backend::cuda;
  return {options.device_name, options.device, on_host ? host_threads() : 1, factory};
}

std::string contract_text() {
  return "contract " + std::to_string(kContractNumber);
}

int check(const ContractOptions& options, const EngineFactory& factory) {
  const std::string path = options.check_file.empty() ? installed_contract() : options.check_file;
  const std::string name = input_name(path);
  const std::vector<DigestRow> rows = naming(name, [&] {
    constexpr std::int64_t kMaxBytes = 16 << 20;
    const std::vector<std::byte> bytes = read_file(path, kMaxBytes);
    return parse_contract({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
  log_detail(name + ": " + contract_text() + ", " + std::to_string(rows.size()) + " digests");
  const ContractDifferences differences = contract_differences(rows, settings_of(options, factory));
  const std::string device =
      options.device_name + (options.device.backend == Backend::cpu ? " (" + simd_target() + ")" : "");
  if (differences.rows == 0) {
    const std::string text =
        contract_text() + ": all " + results_text(rows) + " results on " + device + " are equal\n";
    if (!options.logging.quiet) print_table(text, false);
    return kExitDone;
  }
  for (const ContractDifference& one : differences.first) {
    const std::string result = printable(one.result), problem = printable(one.problem);
    std::string text = name;
    text.append(": ").append(result).append(": ").append(problem);
    log_error(text, {.input = name, .output = {}, .reason = problem});
  }
  log_error(name + ": " + std::to_string(differences.rows) + " of " + std::to_string(rows.size()) +
            " digests differ on " + device +
            "; to find the results, compare those of imgpipe contract --cases");
  return kExitDifference;
}

int write(const ContractOptions& options, const EngineFactory& factory) {
  const bool cases = options.write_file.empty();
  const std::string& path = cases ? options.cases_file : options.write_file;
  check_result_files({}, options.replace, {{cases ? "--cases" : "--write", path}});
  const std::vector<ContractRow> rows = contract_rows();
  const std::vector<std::vector<std::string>> results = contract_results(rows, settings_of(options, factory));
  std::vector<DigestRow> digests;
  std::string lines = "imgpipe " + contract_text() + "\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    digests.push_back({rows[i], row_digest(results[i])});
    for (std::size_t n = 0; cases && n < results[i].size(); ++n) {
      ContractRow one = rows[i];
      one.images = {rows[i].images[n]};
      lines += text_of(one) + ": " + results[i][n] + "\n";
    }
  }
  write_text(path, cases ? lines : contract_json(digests));
  log_notice(output_name(path) + ": " + results_text(digests) + " results, " +
             std::to_string(digests.size()) + " digests");
  return kExitDone;
}

}  // namespace

CommandRow contract_command() {
  return {.name = "contract",
          .summary = "the pixels of this program compared with the published digests",
          .description =
              "Computes the pixels of some 10,000 small results, of every stage and of files decoded, and "
              "compares their SHA-256 with the published contract. A difference is an error of the program, "
              "its compiler or the machine.",
          .usage = {{"imgpipe contract [--check FILE] [options]", "compare"},
                    {"imgpipe contract --write FILE [options]", "write the digests of this program"},
                    {"imgpipe contract --cases FILE [options]", "write a line for each result"}},
          .rows = contract_rows_of_options,
          .exits = all_exits(),
          .read = [](const Parser& parser) -> ReadyCommand {
            ContractOptions options = read_contract(parser);
            const LoggingOptions logging = options.logging;
            return {[options = std::move(options)](const EngineFactory& factory) {
                      const bool checks = options.write_file.empty() && options.cases_file.empty();
                      return checks ? check(options, factory) : write(options, factory);
                    },
                    logging};
          }};
}

}  // namespace imgpipe
