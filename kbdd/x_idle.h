/* kbdd/x_idle.h - when keyboard and mouse of an X display were used last: the wrapper of libXss.
 *
 * All of it waits for the X server: to be called on a lane.  When the connection breaks, Xlib ends
 * the process.  One display in a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KBDD_X_IDLE_H
#define KBDD_X_IDLE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct x_idle;

/* cookie: of MIT-MAGIC-COOKIE-1; length 0: none.  -ECONNREFUSED: the display cannot be opened;
 * -ENOTSUP: it has no screen saver extension. */
int x_idle_open(const char *display, const unsigned char *cookie, size_t length,
                struct x_idle **ret, struct err *err);
/* Milliseconds; -EIO. */
int64_t x_idle_ms(struct x_idle *x);
void x_idle_close(struct x_idle *x); /* NULL is allowed */

#endif
