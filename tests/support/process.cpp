#include "tests/support/process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/files.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

// Makes the kernel fail these system calls (seccomp) for this process and the program that it executes.
void fail_calls(const std::map<long, int>& errors) {
  std::vector<sock_filter> filter{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
  for (const auto& [call, error] : errors) {
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<__u32>(call)});
    filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<__u32>(error)});
  }
  filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  const bool is_set = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  if (!is_set) ::_exit(125);
}

[[noreturn]] void become_imgpipe(const std::vector<std::string>& arguments, const RunOptions& options,
                                 const Pipe& in, const Pipe& out, const Pipe& err) {
  ::dup2(in.read_end, STDIN_FILENO);
  const int out_fd =
      options.stdout_path ? ::open(options.stdout_path->c_str(), O_WRONLY | O_CREAT, 0666) : out.write_end;
  ::dup2(out_fd, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(126);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.file_size_limit) {
    const rlimit limit{*options.file_size_limit, *options.file_size_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!options.failing_calls.empty()) fail_calls(options.failing_calls);
  std::vector<char*> argv{const_cast<char*>("imgpipe")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(kProgram, argv.data());
  ::_exit(127);
}

bool has_temporary_file(const std::string& directory) {
  DIR* dir = ::opendir(directory.c_str());
  if (dir == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(dir))
    found = found || std::strstr(entry->d_name, ".imgpipe-") != nullptr;
  ::closedir(dir);
  return found;
}

// Reads what is available from a pipe; false at its end.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got > 0) into.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

RunResult run_imgpipe(const std::vector<std::string>& arguments, const RunOptions& options) {
  Pipe in;
  Pipe out;
  Pipe err;
  const auto start = Clock::now();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) become_imgpipe(arguments, options, in, out, err);
  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  ::signal(SIGPIPE, SIG_IGN);
  ::fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  RunResult result;
  std::size_t sent = 0;
  bool signal_sent = false;
  while (out.read_end >= 0 || err.read_end >= 0) {
    if (in.write_end >= 0 && sent >= options.input.size()) Pipe::close_end(in.write_end);
    if (options.signal && !signal_sent && has_temporary_file(options.signal_directory)) {
      ::kill(child, *options.signal);
      signal_sent = true;
    }
    if (!result.timed_out && Clock::now() - start > std::chrono::seconds(options.timeout_s)) {
      ::kill(child, SIGKILL);
      result.timed_out = true;
    }
    std::array<pollfd, 3> fds{pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0},
                              pollfd{in.write_end, POLLOUT, 0}};
    ::poll(fds.data(), fds.size(), options.signal && !signal_sent ? 0 : 100);
    if ((fds[0].revents & (POLLIN | POLLHUP)) != 0 && !drain(out.read_end, result.out))
      Pipe::close_end(out.read_end);
    if ((fds[1].revents & (POLLIN | POLLHUP)) != 0 && !drain(err.read_end, result.err))
      Pipe::close_end(err.read_end);
    if ((fds[2].revents & (POLLOUT | POLLERR)) != 0) {
      const ssize_t wrote = ::write(in.write_end, options.input.data() + sent, options.input.size() - sent);
      if (wrote > 0) sent += static_cast<std::size_t>(wrote);
      if (wrote < 0 && errno != EAGAIN) sent = options.input.size();
    }
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  result.signalled = WIFSIGNALED(status);
  result.exit_code = result.signalled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.max_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

int run_bash(const std::string& line, const std::string& directory) {
  const std::string file = directory + "/line.sh";
  save_text(file, "cd '" + directory + "'\nI='" + kProgram + "'\n" + line);
  const int status = std::system(("bash '" + file + "'").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace imgpipe::test
