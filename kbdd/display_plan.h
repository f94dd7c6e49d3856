/* kbdd/display_plan.h - finds X displays, their servers, and the cookie that gives access to them.
 *
 * Pure: names of sockets, command lines and Xauthority files come in as bytes, and may come from
 * anybody.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KBDD_DISPLAY_PLAN_H
#define KBDD_DISPLAY_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define DISPLAY_NUMBER_MAX 65535
#define DISPLAY_COOKIE_MAX 256
#define DISPLAY_COOKIE     "MIT-MAGIC-COOKIE-1"

/* Returns the number of the display whose socket has that name: 12 for "X12"; -1 for other
 * names. */
int display_plan_number(const char *socket_name);

/* Whether a process is the server of a display. */
enum display_match { DISPLAY_OTHER, DISPLAY_MAYBE, DISPLAY_SURELY };
/* Judges a command line (words that end with a zero byte, as in /proc/PID/cmdline): whether it is
 * that of the X server of this display.  DISPLAY_MAYBE: an X server without a display number.  auth
 * gets the argument of -auth, "" if there is none; for DISPLAY_OTHER it is unchanged. */
enum display_match display_plan_server(const char *line, size_t length, int number, char *auth,
                                       size_t size);

/* Finds the cookie of that display in an Xauthority file (format in Xau's README: a family, then
 * address, number, name and data, each after its length in two bytes, high byte first).  Returns
 * the number of bytes; -ENOENT: no cookie for it; -EINVAL: damaged file. */
int display_plan_cookie(const void *data, size_t length, int number,
                        unsigned char ret[DISPLAY_COOKIE_MAX]);

#endif
