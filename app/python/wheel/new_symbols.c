// What a static libstdc++ of GCC 12 to 14 uses of glibc 2.32 and later.
#include <stdint.h>
#include <stdlib.h>

int getentropy(void* buffer, size_t length);

// Set by glibc while a process has one thread; libstdc++ then counts references without atomic instructions.
char __libc_single_threaded = 0;

uint32_t arc4random(void) {
  uint32_t value;
  if (getentropy(&value, sizeof value) != 0) {
    abort();
  }
  return value;
}
