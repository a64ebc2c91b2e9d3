// Whether this build has a sanitizer (address, thread, memory), which uses memory itself: detected by gcc's
// and clang's macros. For code without instrumentation, the build defines IMGPIPE_TEST_SANITIZED.
#pragma once

#ifdef IMGPIPE_TEST_SANITIZED
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IMGPIPE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IMGPIPE_TEST_SANITIZED 1
#endif
#endif
#ifndef IMGPIPE_TEST_SANITIZED
#define IMGPIPE_TEST_SANITIZED 0
#endif

namespace imgpipe::test {

inline constexpr bool kSanitized = IMGPIPE_TEST_SANITIZED != 0;

}  // namespace imgpipe::test
