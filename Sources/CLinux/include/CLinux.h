// What Glibc's Swift module leaves out of Linux' own interfaces, and macros that Swift cannot see.
#ifndef WAYPULSE_CLINUX_H
#define WAYPULSE_CLINUX_H

#include <arpa/inet.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// As <poll.h> declares it for _GNU_SOURCE alone.
extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

// poll with a timeout in nanoseconds, which must not be negative.
static inline int clinux_poll(struct pollfd *descriptors, nfds_t count, int64_t nanoseconds) {
    struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return ppoll(descriptors, count, &timeout, 0);
}

// How much later than asked the calling thread may be woken from a timed wait; the kernel's default is 50 microseconds.
static inline int clinux_set_timer_slack(unsigned long nanoseconds) { return prctl(PR_SET_TIMERSLACK, nanoseconds); }

// Not left out and not moved, though nobody in this process reads it: somebody else does, after it has crashed.
static inline void clinux_store_for_others(int64_t *place, int64_t value) { *(volatile int64_t *)place = value; }

static inline void clinux_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
