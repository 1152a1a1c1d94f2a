// What Glibc's Swift module leaves out of Linux' own interfaces, and macros that Swift cannot see.
#ifndef WAYPULSE_CLINUX_H
#define WAYPULSE_CLINUX_H

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static inline void clinux_prefetch(const void *address) { __builtin_prefetch(address); }

#endif
