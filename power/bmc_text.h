/* power/bmc_text.h - what programs that speak with management controllers print, and where a
 * controller is.
 *
 * Pure, and for any bytes: a controller's name for an error, or its whole answer, passes through
 * such a program as it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_BMC_TEXT_H
#define POWER_BMC_TEXT_H

#include <stddef.h>

#include "power/power.h"

#define BMC_TEXT_HOST_MAX 256 /* bytes, with the zero */
#define BMC_TEXT_PORT_MAX 8

/* What `ipmitool chassis power status` says: POWER_UNKNOWN for all but its own words, to the last
 * byte. */
enum power_state bmc_text_state(const char *data, size_t length);

/* "HOST", "HOST:9001", "[::1]", "[::1]:9001"; also an address of IPv6 as it is, without a port.
 * port is default_port unless it says one.  -EINVAL: none of these. */
int bmc_text_address(const char *text, int default_port, char host[BMC_TEXT_HOST_MAX],
                     char port[BMC_TEXT_PORT_MAX]);

/* The last line that is not blank, as bmc_text_clean() leaves it, cut to size - 1 bytes; "": there
 * is none. */
void bmc_text_last_line(const char *data, size_t length, char *ret, size_t size);

/* Makes of any bytes a line for logs and ads: what is neither printable ASCII nor a blank becomes
 * '?', white space a blank. */
void bmc_text_clean(char *text);

#endif
