/* base/knob_check.h - checks of values for tables of knobs (base/knob.h, `check`).
 *
 * Each function returns 0, or -EINVAL with the text quoted in err.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_KNOB_CHECK_H
#define BASE_KNOB_CHECK_H

struct err;

/* HOST, HOST:PORT, [IPV6] or [IPV6]:PORT, as net_text_address() reads them */
int knob_check_address(const char *text, struct err *err);
/* a program by its absolute path, perhaps with arguments, as args_parse_v2() splits them */
int knob_check_program(const char *text, struct err *err);
int knob_check_number(const char *text, struct err *err); /* a number that is not below 0 */
int knob_check_whole(const char *text, struct err *err);  /* a whole number, not below 0 */

#endif
