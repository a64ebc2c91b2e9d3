#include "lab/bench/kernel_build.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/exit_code.h"
#include "app/log.h"
#include "app/signals.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/text.h"
#include "lab/bench/kernel_template.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

bool can_run(const fs::path& file) {
  std::error_code none;
  return fs::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0;
}

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Returns the program that a shell would run, or "".
std::string in_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return can_run(name) ? name : "";
  const std::string path = value_of("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const fs::path file = fs::path(path.substr(at, end - at)) / name;
    if (end > at && can_run(file)) return file.string();
    at = end + 1;
  }
  return "";
}

class TemporaryBuild {
 public:
  TemporaryBuild() {
    std::error_code error;
    fs::path below = fs::temp_directory_path(error);
    if (error) below = "/tmp";
    std::string name = (below / "imgpipe-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorKind::output, printable(below.string()) + ": cannot create a temporary directory: " +
                                         std::system_category().message(errno) +
                                         "; set TMPDIR to another directory");
    directory_ = name;
  }
  ~TemporaryBuild() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  TemporaryBuild(const TemporaryBuild&) = delete;
  TemporaryBuild& operator=(const TemporaryBuild&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return (directory_ / name).string(); }
  [[nodiscard]] std::string path() const { return directory_.string(); }

 private:
  fs::path directory_;
};

// The files and signals that a child inherits.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // stdout is for results, so the compiler's output goes to stderr.
    ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  [[nodiscard]] int spawn(pid_t& child, char* const* arguments) const {
    return ::posix_spawn(&child, arguments[0], &actions_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Waits for the child to end; passes a termination signal on to it.
int status_of(pid_t child, const SignalGuard& signals) {
  constexpr useconds_t kPollUs = 10'000;
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (signals.received() != 0 && !told) {
      ::kill(child, SIGTERM);
      told = true;
    }
    ::usleep(kPollUs);
  }
}

// nvcc copies file names into double-quoted strings of shell commands, where `$(...)` would run, and into
// comma-separated lists.
void check_name(const std::string& path) {
  constexpr std::string_view kHarmful = "$`\"\\,";
  for (const char c : path) {
    if (kHarmful.find(c) == kHarmful.npos && std::iscntrl(static_cast<unsigned char>(c)) == 0) continue;
    throw Error(ErrorKind::input, printable(path) + ": contains '" + printable(std::string(1, c)) +
                                      "', which nvcc does not support in file names");
  }
}

std::string shown(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + printable(word);
  return text;
}

// Runs the compiler. Throws Error(input) if it fails, unless a signal has arrived.
void run_compiler(const std::vector<std::string>& command, const SignalGuard& signals) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = SpawnSettings().spawn(child, arguments.data()); error != 0)
    throw Error(ErrorKind::device,
                "cannot run " + printable(words.front()) + ": " + std::system_category().message(error));
  const int status = status_of(child, signals);
  if (status == 0 || signals.received() != 0) return;
  const std::string how = WIFEXITED(status) ? "exit code " + std::to_string(WEXITSTATUS(status))
                                            : "signal " + std::to_string(WTERMSIG(status));
  throw Error(ErrorKind::input, "nvcc failed (" + how + "): " + shown(command));
}

}  // namespace

std::vector<std::string> split_words(const std::string& option, std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  const auto add = [&](char c) {
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      add(text[++i]);
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        add(c);
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      if (!in_word) words.emplace_back();
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      in_word = false;
    } else {
      add(c);
    }
  }
  if (quote != 0) throw Error(ErrorKind::usage, "--" + option + ": unclosed quote");
  return words;
}

std::string find_nvcc() {
  for (const char* variable : {"NVCC", "CUDACXX"}) {
    const std::string named = value_of(variable);
    if (named.empty()) continue;
    if (std::string found = in_path(named); !found.empty()) return found;
    throw Error(ErrorKind::device,
                std::string(variable) + ": not an executable program: " + printable(named));
  }
  if (std::string found = in_path("nvcc"); !found.empty()) return found;
  if (std::string usual = "/usr/local/cuda/bin/nvcc"; can_run(usual)) return usual;
  throw Error(ErrorKind::device,
              "nvcc: not found; install the CUDA toolkit, add nvcc to PATH, or set NVCC=/PATH/TO/nvcc");
}

std::vector<std::string> nvcc_arguments(const std::string& source, const std::string& library,
                                        const std::string& include_directory, int capability,
                                        const std::vector<std::string>& flags) {
  std::vector<std::string> arguments{"-shared", "-Xcompiler", "-fPIC", "-O3", "-lineinfo"};
  const bool names_one = std::ranges::any_of(flags, [](const std::string& flag) {
    return flag.starts_with("-arch") || flag.starts_with("--gpu-architecture") ||
           flag.starts_with("-gencode") || flag.starts_with("--generate-code");
  });
  if (capability > 0 && !names_one) arguments.push_back("-arch=sm_" + std::to_string(capability));
  arguments.insert(arguments.end(), {"-I", include_directory, "-x", "cu", "-o", library, source});
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

void with_compiled(const std::string& source, int capability, const std::vector<std::string>& flags,
                   const std::function<void(const std::string& library)>& use) {
  const std::string nvcc = find_nvcc();
  const std::string whole = fs::absolute(source).lexically_normal().string();
  check_name(whole);
  // Outlives the directory: on a signal, this process removes the directory before it ends.
  const SignalGuard signals;
  {
    const TemporaryBuild build;
    check_name(build.path());
    write_file(build.file("imgpipe_kernel.h"), std::as_bytes(std::span(kernel_header())));
    const std::string library = build.file("kernels.so");
    std::vector<std::string> command = nvcc_arguments(whole, library, build.path(), capability, flags);
    command.insert(command.begin(), nvcc);
    log_detail(shown(command));
    run_compiler(command, signals);
    if (signals.received() == 0) use(library);
  }
  if (signals.received() != 0) ::_exit(kExitSignalBase + signals.received());
}

}  // namespace imgpipe
