/* power/bmc_text.h - parses the output of programs that talk to management controllers, and a
 * controller's address.
 *
 * Pure, and safe for any bytes: such programs may print a controller's answer unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_BMC_TEXT_H
#define POWER_BMC_TEXT_H

#include <stddef.h>

#include "power/power.h"

#define BMC_TEXT_HOST_MAX 256 /* bytes, with the terminating zero */
#define BMC_TEXT_PORT_MAX 8

/* Parses the output of `ipmitool chassis power status`.  POWER_UNKNOWN for anything but its exact
 * words, to the last byte. */
enum power_state bmc_text_state(const char *data, size_t length);

/* Parses "HOST", "HOST:9001", "[::1]", "[::1]:9001", or a bare IPv6 address without a port.  port
 * is default_port if text has none.  Returns 0, or -EINVAL for anything else. */
int bmc_text_address(const char *text, int default_port, char host[BMC_TEXT_HOST_MAX],
                     char port[BMC_TEXT_PORT_MAX]);

/* Copies the last line that is not blank, cleaned by bmc_text_clean() and cut to size - 1 bytes;
 * "": there is none. */
void bmc_text_last_line(const char *data, size_t length, char *ret, size_t size);

/* Makes any text fit for logs and ads: white space becomes a blank, and everything else that is not
 * printable ASCII becomes '?'. */
void bmc_text_clean(char *text);

#endif
