#ifndef WAYPULSE_CMICROHTTPD_H
#define WAYPULSE_CMICROHTTPD_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

// Variadic functions and members of unions are invisible to Swift.

struct cmicrohttpd_callbacks {
  MHD_NotifyConnectionCallback connected;
  void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback request;
  MHD_RequestCompletedCallback completed;
};

// Called for paths and queries alike. Nothing is decoded here: it would be done in place, and a decoded zero byte would end the text.
static inline size_t cmicrohttpd_leave_encoded(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return __builtin_strlen(text);
}

// A daemon whose loop is ours: epoll, and whatever it calls runs in cmicrohttpd_run on the calling thread.
// memory: what a connection may hold, the head of its request above all.
static inline struct MHD_Daemon *cmicrohttpd_start(
    const struct sockaddr *address, int takes_both_families, struct cmicrohttpd_callbacks callbacks, void *context,
    unsigned int connections, size_t memory) {
  unsigned int flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
  if (address->sa_family == AF_INET6) flags |= takes_both_families ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
  return MHD_start_daemon(
      flags, 0, NULL, NULL, callbacks.request, context, MHD_OPTION_SOCK_ADDR, address, MHD_OPTION_NOTIFY_COMPLETED,
      callbacks.completed, context, MHD_OPTION_NOTIFY_CONNECTION, callbacks.connected, context,
      MHD_OPTION_URI_LOG_CALLBACK, callbacks.target, context, MHD_OPTION_UNESCAPE_CALLBACK, cmicrohttpd_leave_encoded,
      NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_END);
}

static inline int cmicrohttpd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *information = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return information == NULL ? -1 : information->port;
}

static inline int cmicrohttpd_poll_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *information = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return information == NULL ? -1 : information->epoll_fd;
}

// Whether something is left to do that no descriptor will tell of.
static inline int cmicrohttpd_has_work(struct MHD_Daemon *daemon) {
  MHD_UNSIGNED_LONG_LONG milliseconds = 0;
  return MHD_get_timeout(daemon, &milliseconds) == MHD_YES && milliseconds == 0;
}

static inline int cmicrohttpd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return information == NULL ? -1 : information->connect_fd;
}

static inline void *cmicrohttpd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return information == NULL ? NULL : information->socket_context;
}

// Bytes from the method's first to the empty line's last.
static inline size_t cmicrohttpd_head_bytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return information == NULL ? 0 : information->header_size;
}

static inline const struct sockaddr *cmicrohttpd_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *information = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return information == NULL ? NULL : information->client_addr;
}

static inline int cmicrohttpd_is_closed(enum MHD_ConnectionNotificationCode event) {
  return event == MHD_CONNECTION_NOTIFY_CLOSED;
}

static inline void cmicrohttpd_each_field(
    struct MHD_Connection *connection, MHD_KeyValueIteratorN visit, void *context) {
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit, context);
}

// Takes a copy of the body.
static inline struct MHD_Response *cmicrohttpd_response(const void *body, size_t count) {
  return MHD_create_response_from_buffer(count, (void *)body, MHD_RESPMEM_MUST_COPY);
}

// How long ago the peer last sent something, in milliseconds; negative where the kernel does not say.
static inline int64_t cmicrohttpd_silence(int descriptor) {
  struct tcp_info information;
  socklen_t length = sizeof information;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &information, &length) != 0) return -1;
  return information.tcpi_last_data_recv;
}

#endif
