// Defines IMGPIPE_SANITIZER_ALLOCATES in builds with a sanitizer that checks the bounds of allocated blocks.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define IMGPIPE_SANITIZER_ALLOCATES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IMGPIPE_SANITIZER_ALLOCATES
#endif
