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

/* Whether a process is the X server of a display: no, possibly, or certainly. */
enum display_match { DISPLAY_OTHER, DISPLAY_MAYBE, DISPLAY_SURELY };
/* Decides by a process's command line (length bytes; each word ends with a zero byte, as in
 * /proc/PID/cmdline) whether the process is the X server of display `number`.  Returns
 * DISPLAY_MAYBE for an X server without a display number.  Writes the argument of its option -auth
 * to auth[0..size), "" if there is none; does not change auth when it returns DISPLAY_OTHER. */
enum display_match display_plan_server(const char *line, size_t length, int number, char *auth,
                                       size_t size);

/* Finds the cookie (secret) of display `number` in data, the contents of an Xauthority file.
 * Returns the cookie's number of bytes; -ENOENT if the file has no cookie for the display; -EINVAL
 * if the file is damaged.  The format is described in Xau's README: a family, then address, number,
 * name and data, each after its length in two bytes, high byte first. */
int display_plan_cookie(const void *data, size_t length, int number,
                        unsigned char ret[DISPLAY_COOKIE_MAX]);

#endif
