#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "CBenchmarks.h"

void cbenchmarks_give_back_memory(void) { malloc_trim(0); }
void cbenchmarks_sleep_exactly(void) { prctl(PR_SET_TIMERSLACK, 1); }

// The program's own malloc comes before glibc's, counts, and hands on to it. A sanitizer brings its own.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

static _Thread_local uint64_t allocations;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    allocations++;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    allocations++;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

uint64_t cbenchmarks_allocations(void) { return allocations; }

#else

uint64_t cbenchmarks_allocations(void) { return 0; }

#endif
