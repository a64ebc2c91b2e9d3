// A user's own variants in the lab: files of --with, compiled, loaded, checked, and put into the ladders.
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
#include "lab/pipeline/lab.h"
#include "lab/pipeline/own_check.h"
#include "lab/pipeline/own_library.h"

namespace imgpipe {

// What tables and pages say of a variant of a user's.
struct OwnFacts {
  std::string file;  // its last part, printable
  std::shared_ptr<const std::string> text;
  OwnVerdict verdict;
};

class OwnKernels {
 public:
  // Compiles and loads the files of --with for the device that --device means, if it is there. Throws Error,
  // naming the file: what lab/bench/own_build.h and lab/pipeline/own_library.h throw, and Error(input) where
  // it has no variant of a stage that --stage asks for.
  explicit OwnKernels(const BenchOptions& options);

  [[nodiscard]] bool empty() const { return files_.empty(); }
  // The lab's ladders in their order, each with the variants of the files, if any, at its end.
  [[nodiscard]] const std::vector<Ladder>& ladders() const { return ladders_; }
  // Those with variants of the files, and the names of these.
  [[nodiscard]] std::vector<std::string> stages() const;
  [[nodiscard]] std::vector<std::string> variants() const;
  // Whether to run a variant of the files: all are, unless --variant names some of them.
  [[nodiscard]] bool wants(const Rung& rung) const;
  // "mine of hist (FILE.cu), ...": for messages.
  [[nodiscard]] std::string names() const;

  // Runs those that are wanted over small images on a CUDA device. Throws Error(input), naming file, variant
  // and image, where that ends the device's context; ends the process where one does not end.
  void check(int device);
  // A variant over what the device was loaded with; one that was found wrong is not run again. `over`: what
  // that is, for messages.
  [[nodiscard]] LabResult run(LabDevice& device, const Rung& rung, const std::string& over);
  // After check().
  [[nodiscard]] std::shared_ptr<const OwnFacts> facts(const Rung& rung) const;

 private:
  struct File {
    std::string quoted_path;  // as it was given, as a shell takes it
    std::string name;         // its last part, printable
    std::shared_ptr<const std::string> text;
    std::unique_ptr<OwnLibrary> library;
  };
  void load(const std::string& path, int capability, const std::vector<std::string>& flags);
  void check_stages() const;
  void fill_ladders();
  [[nodiscard]] const File& file_of(const Rung& rung) const;
  // Calls it; an Error on its way out gets the variant's name.
  template <class Action>
  auto watched(const Rung& rung, const std::string& over, const Action& action);

  const BenchOptions& options_;
  std::vector<File> files_;
  std::deque<std::vector<Rung>> rungs_;
  std::vector<Ladder> ladders_;
  std::map<const OwnVariant*, std::shared_ptr<const OwnFacts>> facts_;
  std::unique_ptr<TimeLimit> limit_;
};

}  // namespace imgpipe
