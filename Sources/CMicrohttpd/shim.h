#ifndef WAYPULSE_CMICROHTTPD_H
#define WAYPULSE_CMICROHTTPD_H

#include <microhttpd.h>

// Variadic functions are invisible to Swift.
static inline struct MHD_Daemon *cmicrohttpd_start(
    const struct sockaddr *address, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
    void *context, unsigned int connection_limit, unsigned int timeout_seconds) {
  return MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handler, context, MHD_OPTION_SOCK_ADDR, address,
      MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_CONNECTION_LIMIT, connection_limit,
      MHD_OPTION_CONNECTION_TIMEOUT, timeout_seconds, MHD_OPTION_END);
}

// Takes a copy of the body.
static inline enum MHD_Result cmicrohttpd_respond(
    struct MHD_Connection *connection, unsigned int status, const char *content_type, const void *body, size_t count) {
  struct MHD_Response *response = MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
  if (response == NULL) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
  enum MHD_Result result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result;
}

static inline int cmicrohttpd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *information = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return information == NULL ? -1 : information->port;
}

#endif
