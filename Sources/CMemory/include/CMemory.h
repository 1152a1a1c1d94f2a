// What a large table in memory needs and Swift cannot say: pages of its own, huge ones where there are many, and a cache line asked for
// before it is read.
#ifndef WAYPULSE_CMEMORY_H
#define WAYPULSE_CMEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define CMEMORY_HUGE_PAGE_BYTES ((size_t)2 << 20)

// Zeroed pages, aligned to a huge page; NULL where there is no memory left. `huge` asks the kernel for huge pages, which it may refuse:
// then, and without it, only what is touched becomes resident.
static inline void *_Nullable cmemory_map(size_t byte_count, bool huge) {
    size_t reserved = byte_count + CMEMORY_HUGE_PAGE_BYTES;
    char *start = (char *)mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == (char *)MAP_FAILED) return NULL;
    size_t before = (size_t)(-(uintptr_t)start & (CMEMORY_HUGE_PAGE_BYTES - 1));
    size_t after = CMEMORY_HUGE_PAGE_BYTES - before;
    if (before > 0) munmap(start, before);
    if (after > 0) munmap(start + before + byte_count, after);
    if (huge) madvise(start + before, byte_count, MADV_HUGEPAGE);
    return start + before;
}

// - byte_count: a multiple of the page size, as given to `cmemory_map`.
static inline void cmemory_unmap(void *_Nonnull start, size_t byte_count) { munmap(start, byte_count); }

// A hint: any address will do.
static inline void cmemory_prefetch(const void *_Nonnull address) { __builtin_prefetch(address, 0, 3); }

#endif
