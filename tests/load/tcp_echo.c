/* SPDX-License-Identifier: MIT */
/*
 * TCP over loopback with known counts: CONNECTIONS, one after the other, each
 * with MESSAGES of SIZE bytes there and back. FAMILY is 4 or 6. Client and
 * server are threads of one process, so all sends and receives are its own:
 * every message is one send and one receive at either end, and the server
 * receives the end of each connection.
 */
#include "load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#define SIZE_MAX_BYTES 4096

static long long connections, messages, size;
static int listener;

/* Whole messages only: no segment is longer than SIZE_MAX_BYTES, and there is
 * never more than one on its way. */
static void transfer(ssize_t done, const char *what) {
  load_check(done < 0, what);
  if (done == size)
    return;
  fprintf(stderr, "%s: %zd bytes instead of %lld\n", what, done, size);
  exit(EXIT_FAILURE);
}

static void no_delay(int fd) {
  const int on = 1;
  load_check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0,
             "setsockopt");
}

static void *serve(void *arg) {
  char buffer[SIZE_MAX_BYTES];
  for (long long i = 0; i < connections; i++) {
    const int fd = accept(listener, NULL, NULL);
    load_check(fd < 0, "accept");
    no_delay(fd);
    ssize_t got;
    while ((got = recv(fd, buffer, sizeof(buffer), 0)) != 0) {
      transfer(got, "recv");
      transfer(send(fd, buffer, size, 0), "send");
    }
    load_check(close(fd) != 0, "close");
  }
  return arg;
}

static void ask(const struct sockaddr *address, socklen_t length) {
  char buffer[SIZE_MAX_BYTES] = {0};
  const int fd = socket(address->sa_family, SOCK_STREAM, 0);
  load_check(fd < 0, "socket");
  load_check(connect(fd, address, length) != 0, "connect");
  no_delay(fd);
  for (long long i = 0; i < messages; i++) {
    transfer(send(fd, buffer, size, 0), "send");
    transfer(recv(fd, buffer, sizeof(buffer), 0), "recv");
  }
  load_check(close(fd) != 0, "close");
}

int main(int argc, char **argv) {
  load_usage(argc, argv, 4, "FAMILY CONNECTIONS MESSAGES SIZE");
  const bool is_six = load_number(argv[1], "FAMILY", 4, 6) == 6;
  connections = load_number(argv[2], "CONNECTIONS", 1, 1000000);
  messages = load_number(argv[3], "MESSAGES", 0, 1000000);
  size = load_number(argv[4], "SIZE", 1, SIZE_MAX_BYTES);

  union {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
  } address = {0};
  socklen_t length = sizeof(address);
  if (is_six)
    address.six = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                        .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  else
    address.four = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
  listener = socket(address.any.sa_family, SOCK_STREAM, 0);
  load_check(listener < 0, "socket");
  load_check(bind(listener, &address.any,
                  is_six ? sizeof(address.six) : sizeof(address.four)) != 0,
             "bind");
  load_check(listen(listener, 16) != 0, "listen");
  load_check(getsockname(listener, &address.any, &length) != 0, "getsockname");

  pthread_t server;
  errno = pthread_create(&server, NULL, serve, NULL);
  load_check(errno != 0, "pthread_create");
  for (long long i = 0; i < connections; i++)
    ask(&address.any, length);
  errno = pthread_join(server, NULL);
  load_check(errno != 0, "pthread_join");
  printf("sends=%lld\nreceives=%lld\n", 2 * connections * messages,
         2 * connections * messages + connections);
  return EXIT_SUCCESS;
}
