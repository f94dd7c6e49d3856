/* power/bmc_text.h - parses the output of programs that talk to management controllers, and a
 * controller's address.
 *
 * Pure, and safe for any bytes, because such programs may print a controller's answer unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_BMC_TEXT_H
#define POWER_BMC_TEXT_H

#include <stddef.h>

#include "power/power.h"

#define BMC_TEXT_HOST_MAX 256 /* most bytes of a host name, with the zero */
#define BMC_TEXT_PORT_MAX 8

/* Parses the output of `ipmitool chassis power status`.  Returns POWER_UNKNOWN unless the output is
 * exactly what ipmitool prints for on or off. */
enum power_state bmc_text_state(const char *data, size_t length);

/* Splits a controller's address into host and port.  text is "HOST", "HOST:9001", "[::1]",
 * "[::1]:9001", or a bare IPv6 address without a port.  If text has no port, port is default_port.
 * Returns 0; -EINVAL: text is something else. */
int bmc_text_address(const char *text, int default_port, char host[BMC_TEXT_HOST_MAX],
                     char port[BMC_TEXT_PORT_MAX]);

/* Copies the last line of data that is not blank to ret, cleaned by bmc_text_clean() and cut to
 * size - 1 bytes; "" if there is no such line. */
void bmc_text_last_line(const char *data, size_t length, char *ret, size_t size);

/* Makes any text fit for logs and ads: white space becomes a blank, and everything else that is not
 * printable ASCII becomes '?'. */
void bmc_text_clean(char *text);

#endif
