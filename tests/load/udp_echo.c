/* SPDX-License-Identifier: MIT */
/*
 * UDP over loopback with known counts: MESSAGES of SIZE bytes there and back,
 * one after the other, between two sockets of this process.
 */
#include "load.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define SIZE_MAX_BYTES 4096

static int bound_socket(struct sockaddr_in *ret_address) {
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  load_check(fd < 0, "socket");
  *ret_address = (struct sockaddr_in){.sin_family = AF_INET,
                                      .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t length = sizeof(*ret_address);
  load_check(bind(fd, (struct sockaddr *)ret_address, length) != 0, "bind");
  load_check(getsockname(fd, (struct sockaddr *)ret_address, &length) != 0,
             "getsockname");
  return fd;
}

static void pass(int from, int to, const struct sockaddr_in *address,
                 size_t size) {
  char buffer[SIZE_MAX_BYTES] = {0};
  load_check(sendto(from, buffer, size, 0, (const struct sockaddr *)address,
                    sizeof(*address)) < 0,
             "sendto");
  load_check(recv(to, buffer, sizeof(buffer), 0) < 0, "recv");
}

int main(int argc, char **argv) {
  load_usage(argc, argv, 2, "MESSAGES SIZE");
  const long long messages = load_number(argv[1], "MESSAGES", 1, 100000000);
  const size_t size = load_number(argv[2], "SIZE", 1, SIZE_MAX_BYTES);

  struct sockaddr_in left_address, right_address;
  const int left = bound_socket(&left_address);
  const int right = bound_socket(&right_address);
  for (long long i = 0; i < messages; i++) {
    pass(left, right, &right_address, size);
    pass(right, left, &left_address, size);
  }
  printf("datagrams=%lld\n", 2 * messages);
  return EXIT_SUCCESS;
}
