#include "app/program.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include <malloc.h>
#include <sys/resource.h>

#include "app/exit_code.h"
#include "app/log.h"
#include "app/signals.h"
#include "app/standard_streams.h"
#include "images/names.h"
#include "images/simd.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// malloc serves only small blocks and C libraries. These settings make it return large blocks to the system
// at once. By default, it raises its mmap threshold after freeing a large block and then keeps such blocks.
void configure_malloc() {
#ifdef __GLIBC__
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  // `ulimit -v` and -d also count the address space that malloc reserves for each thread.
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) ::mallopt(M_ARENA_MAX, 1);
  }
#endif
}

// libjxl, dav1d and libde265 print lines about damaged files. Discards what libraries print to the stream;
// the messages of imgpipe go to the original stream or the descriptor.
void silence_libraries() {
#ifdef __GLIBC__
  if (std::FILE* discarded = ::fopencookie(nullptr, "w", {}); discarded != nullptr) stderr = discarded;
#endif
}

}  // namespace

void set_up_process() {
  configure_malloc();
  silence_libraries();
  // Load all CUDA kernels when the context is created, on its thread, instead of at their first launch.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  open_standard_streams();
  install_signal_handlers();
  install_last_resort();
}

LoggingOptions find_logging(const std::vector<std::string>& arguments) {
  const std::string option = "--log-format";
  LoggingOptions logging;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    std::string_view value;
    if (arguments[i] == option && i + 1 < arguments.size()) value = arguments[i + 1];
    if (arguments[i].starts_with(option + "="))
      value = std::string_view(arguments[i]).substr(option.size() + 1);
    for (const auto& [name, format] : kLogFormats)
      logging.log_format = value == name ? format : logging.log_format;
    logging.no_color = logging.no_color || canonical_spelling(arguments[i]) == "--no-color";
  }
  return logging;
}

void use_simd_from_environment() {
  if (const char* simd = std::getenv("IMGPIPE_SIMD"); simd != nullptr && *simd != '\0') use_simd(simd);
}

int run_guarded(const std::function<int()>& work, const std::function<LogSubject(const Error&)>& subject) {
  try {
    return work();
  } catch (const Error& error) {
    log_error(error.what(), subject ? subject(error) : LogSubject());
    return exit_code_of(error.kind());
  } catch (const std::bad_alloc&) {
    log_error("not enough memory");
  } catch (const std::system_error& error) {
    const bool threads = error.code() == std::errc::resource_unavailable_try_again;
    log_error((threads ? "cannot start a thread: " : "internal error: ") + printable(error.what()));
  } catch (const std::exception& error) {
    log_error("internal error: " + printable(error.what()));
  }
  return kExitInput;
}

}  // namespace imgpipe
