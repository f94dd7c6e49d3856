/* tests/support/datagrams.h - receives UDP datagrams, for tests that cannot include <sys/socket.h>.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_DATAGRAMS_H
#define TESTS_SUPPORT_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a UDP socket on a free port, at all addresses; -1 on failure.  Close the socket with
 * close(). */
int datagrams_open(uint16_t *port);
/* Reads the next datagram that has arrived; -1: none. */
ssize_t datagrams_read(int fd, void *data, size_t size);

#endif
