/* kbdd/display_plan.h - whose is an X display, and how does one get in?
 *
 * Pure: names of sockets, command lines and Xauthority files come in as bytes, and may be
 * anybody's.
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

/* The number of the display whose socket has that name: 12 of "X12"; -1 for other names. */
int display_plan_number(const char *socket_name);

enum display_match { DISPLAY_OTHER, DISPLAY_MAYBE, DISPLAY_SURELY };
/* Is this the command line (words with a zero byte behind each, as in /proc/PID/cmdline) of the
 * server of that display?  Maybe: an X server that was not told its number.  auth: what follows
 * -auth, "" where nothing does; untouched for DISPLAY_OTHER. */
enum display_match display_plan_server(const char *line, size_t length, int number, char *auth,
                                       size_t size);

/* The cookie for that display in an Xauthority file (the format is in Xau's README: a family, then
 * address, number, name and data, each with its length in two bytes, high byte first).  The number
 * of bytes; -ENOENT: none for it; -EINVAL: damaged. */
int display_plan_cookie(const void *data, size_t length, int number,
                        unsigned char ret[DISPLAY_COOKIE_MAX]);

#endif
