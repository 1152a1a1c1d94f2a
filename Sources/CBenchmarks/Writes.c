// The program's own SSL_write comes before OpenSSL's, looks at what is written, and hands on to it: so a benchmark learns when a request
// left, whatever wrote it, and the product needs no hook for that.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "CBenchmarks.h"

struct ssl_st;
static int (*next_write)(struct ssl_st *, const void *, int);

static _Atomic uint64_t writes, written_bytes;

static struct {
    const char *mark;
    size_t length;
    _Atomic int64_t *times;
    size_t count;
} watch;
static atomic_bool is_watching;

__attribute__((constructor)) static void find_next_write(void) {
    next_write = (int (*)(struct ssl_st *, const void *, int))dlsym(RTLD_NEXT, "SSL_write");
    if (!next_write) abort();
}

static void look_for_marks(const char *bytes, size_t length) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *end = bytes + length;
    for (const char *place = bytes; (place = memmem(place, (size_t)(end - place), watch.mark, watch.length));) {
        place += watch.length;
        size_t number = 0;
        while (place < end && *place >= '0' && *place <= '9') number = number * 10 + (size_t)(*place++ - '0');
        if (number < watch.count)
            atomic_store_explicit(
                &watch.times[number], now.tv_sec * INT64_C(1000000000) + now.tv_nsec, memory_order_relaxed);
    }
}

int SSL_write(struct ssl_st *ssl, const void *bytes, int count) {
    int written = next_write(ssl, bytes, count);
    if (written > 0) {
        atomic_fetch_add_explicit(&writes, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&written_bytes, (uint64_t)written, memory_order_relaxed);
        if (atomic_load_explicit(&is_watching, memory_order_acquire)) look_for_marks(bytes, (size_t)written);
    }
    return written;
}

uint64_t cbenchmarks_writes(void) { return atomic_load(&writes); }
uint64_t cbenchmarks_written_bytes(void) { return atomic_load(&written_bytes); }

void cbenchmarks_watch_writes(const char *mark, size_t count) {
    watch.mark = strdup(mark);
    watch.length = watch.mark ? strlen(mark) : 0;
    watch.times = calloc(count, sizeof *watch.times);
    watch.count = watch.mark && watch.times ? count : 0;
    atomic_store_explicit(&is_watching, watch.count > 0, memory_order_release);
}

int64_t cbenchmarks_written_at(size_t number) {
    return number < watch.count ? atomic_load_explicit(&watch.times[number], memory_order_relaxed) : 0;
}
