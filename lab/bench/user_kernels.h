// A user's variants in the lab: files of --with, compiled, loaded, checked, and added to the ladders.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/bench/bench_options.h"
#include "lab/bench/time_limit.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/check_user_kernel.h"
#include "lab/pipeline/lab.h"
#include "lab/pipeline/user_kernel_library.h"

namespace imgpipe {

// Facts about a user's variant for tables and pages.
struct UserVariantFacts {
  std::string file;  // its file without directories, printable
  std::shared_ptr<const std::string> text;
  UserCheckResult verdict;
};

class UserKernels {
 public:
  // Compiles and loads the files of --with for the device of --device, if it exists. Throws Error that names
  // the file: those of lab/bench/kernel_build.h and lab/pipeline/user_kernel_library.h, Error(input) if two
  // files have a variant of one name, or if a file has none of the stages in --stage.
  explicit UserKernels(const BenchOptions& options);

  [[nodiscard]] bool empty() const { return files_.empty(); }
  // The lab's ladders in table order, each followed by the variants from these files.
  [[nodiscard]] const std::vector<Ladder>& ladders() const { return ladders_; }
  // Return the ladders that have variants from these files, and the names of these variants.
  [[nodiscard]] std::vector<std::string> stages() const;
  [[nodiscard]] std::vector<std::string> variants() const;
  // Whether to run a variant from these files: any, unless --variant names some of them.
  [[nodiscard]] bool wants(const StageVariant& variant) const;
  // Returns "mine of hist (FILE.cu), ..." for messages.
  [[nodiscard]] std::string names() const;

  // Runs the wanted variants over small images on a CUDA device. Throws Error(input), naming file, variant
  // and image, if one destroys the device's context; ends the process if a kernel does not end.
  void check(int device);
  // Runs a variant over the subject that `device` has loaded, unless check() found the variant wrong. `over`:
  // the subject's name for messages.
  [[nodiscard]] LabResult run(LabDevice& device, const StageVariant& variant, const std::string& over);
  // Requires check().
  [[nodiscard]] std::shared_ptr<const UserVariantFacts> facts(const StageVariant& variant) const;

 private:
  struct File {
    std::string quoted_path;  // as given, quoted for a shell
    std::string name;         // without directories, printable
    std::shared_ptr<const std::string> text;
    std::unique_ptr<UserKernelLibrary> library;
  };
  void load(const std::string& path, int capability, const std::vector<std::string>& flags);
  void check_stages() const;
  void fill_ladders();
  [[nodiscard]] const File& file_of(const StageVariant& variant) const;
  // Calls `action` under the time limit; adds the variant's name to an Error.
  template <class Action>
  auto watched(const StageVariant& variant, const std::string& over, const Action& action);

  const BenchOptions& options_;
  std::vector<File> files_;
  std::deque<std::vector<StageVariant>> variants_;
  std::vector<Ladder> ladders_;
  std::map<const UserVariant*, std::shared_ptr<const UserVariantFacts>> facts_;
  std::unique_ptr<TimeLimit> limit_;
};

}  // namespace imgpipe
