/* base/knob_check.h - checks of values for tables of knobs (base/knob.h, `check`).
 *
 * Each function returns 0, or -EINVAL with the text quoted in err.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_KNOB_CHECK_H
#define BASE_KNOB_CHECK_H

struct err;

/* HOST, HOST:PORT, [IPV6] or [IPV6]:PORT, as net_text_address() reads them; one host only */
int knob_check_address(const char *text, struct err *err);
/* as knob_check_address(), and not a port alone, which would be taken as a host */
int knob_check_listen(const char *text, struct err *err);
/* a SHA-256 fingerprint, as net_text_fingerprint() reads it */
int knob_check_fingerprint(const char *text, struct err *err);
/* a name that stands in ads, in names of slots and in lists: no blanks, quotes, commas, '/' and
 * '#' */
int knob_check_name(const char *text, struct err *err);
/* an account that jobs may have: not root */
int knob_check_account(const char *text, struct err *err);
/* a program by its absolute path, perhaps with arguments, as args_parse_v2() splits them */
int knob_check_program(const char *text, struct err *err);
/* a list of CPUs, as cpu_list_parse() reads it */
int knob_check_cpus(const char *text, struct err *err);
int knob_check_number(const char *text, struct err *err); /* a number that is not below 0 */
int knob_check_whole(const char *text, struct err *err);  /* a whole number, not below 0 */

#endif
