/* tests/support/datagrams.c - see datagrams.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/datagrams.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

int datagrams_open(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    if (bind(fd, (const struct sockaddr *)&address, length) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        (void)close(fd); /* nothing was read */
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

ssize_t datagrams_read(int fd, void *data, size_t size)
{
    return recv(fd, data, size, 0);
}
