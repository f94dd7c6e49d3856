/* kbdd/x_idle.h - tells when keyboard and mouse of an X display were last used; wraps libXss.
 *
 * All functions block until the X server answers: call them on a lane (worker thread).  If the
 * connection breaks, Xlib ends the process.  One display per process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KBDD_X_IDLE_H
#define KBDD_X_IDLE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct x_idle;

/* Connects to the X display of that name (":0"). cookie[0..length): the secret for
 * MIT-MAGIC-COOKIE-1; length 0: none.  Returns 0; -ECONNREFUSED if the display cannot be opened;
 * -ENOTSUP if its server has no screen saver extension. */
int x_idle_open(const char *display, const unsigned char *cookie, size_t length,
                struct x_idle **ret, struct err *err);
/* Returns the ms since keyboard or mouse of the display were last used; -EIO if the X server does
 * not tell. */
int64_t x_idle_ms(struct x_idle *x);
void x_idle_close(struct x_idle *x); /* NULL is allowed */

#endif
