#ifndef WAYPULSE_CMICROHTTPD_H
#define WAYPULSE_CMICROHTTPD_H

#include <microhttpd.h>

// Variadic functions are invisible to Swift.
static inline struct MHD_Daemon *cmicrohttpd_start(
    unsigned int flags, const struct sockaddr *address, MHD_AccessHandlerCallback handler, void *context,
    unsigned int connection_limit, unsigned int timeout_seconds) {
  return MHD_start_daemon(
      flags, 0, NULL, NULL, handler, context, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_CONNECTION_LIMIT,
      connection_limit, MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds, MHD_OPTION_END);
}

static inline int cmicrohttpd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *information = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return information == NULL ? -1 : information->port;
}

#endif
