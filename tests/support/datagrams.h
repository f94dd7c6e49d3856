/* tests/support/datagrams.h - what arrives by UDP, for tests that cannot have <sys/socket.h>.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_DATAGRAMS_H
#define TESTS_SUPPORT_DATAGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Listens on a port of its own at all addresses; -1: cannot.  To be closed by close(). */
int datagrams_open(uint16_t *port);
/* The next that has arrived; -1: none. */
ssize_t datagrams_read(int fd, void *data, size_t size);

#endif
