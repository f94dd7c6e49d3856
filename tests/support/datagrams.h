/* tests/support/datagrams.h - receives UDP datagrams, for tests that cannot include <sys/socket.h>.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_DATAGRAMS_H
#define TESTS_SUPPORT_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a UDP socket on a free port, at all addresses.  Returns the descriptor, for close(), and
 * sets *port; -1 on failure. */
int datagrams_open(uint16_t *port);
/* Reads the next datagram that has arrived, without waiting, and returns its size; -1: none has
 * arrived. */
ssize_t datagrams_read(int fd, void *data, size_t size);

#endif
