/* kbdd/x_idle.c - wraps libXss: see x_idle.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kbdd/x_idle.h"

#include <errno.h>
#include <string.h>

#include <X11/Xlib.h>
#include <X11/extensions/scrnsaver.h>

#include "base/err.h"
#include "base/mem.h"
#include "kbdd/display_plan.h"

struct x_idle {
    Display *display;
    XScreenSaverInfo *info;
};

int x_idle_open(const char *display, const unsigned char *cookie, size_t length,
                struct x_idle **ret, struct err *err)
{
    char name[] = DISPLAY_COOKIE, data[DISPLAY_COOKIE_MAX];
    int event, error;
    if (length > 0 && length <= sizeof data) {
        memcpy(data, cookie, length);
        XSetAuthorization(name, (int)strlen(name), data, (int)length); /* it copies them */
    }
    struct x_idle *x = mem_zalloc(sizeof *x);
    x->display = XOpenDisplay(display);
    if (x->display == NULL) {
        mem_free(x);
        return err_set(err, -ECONNREFUSED, "cannot open display %s", display);
    }
    if (!XScreenSaverQueryExtension(x->display, &event, &error) ||
        (x->info = XScreenSaverAllocInfo()) == NULL) {
        x_idle_close(x);
        return err_set(err, -ENOTSUP, "display %s has no screen saver extension", display);
    }
    *ret = x;
    return 0;
}

int64_t x_idle_ms(struct x_idle *x)
{
    if (XScreenSaverQueryInfo(x->display, DefaultRootWindow(x->display), x->info) == 0) {
        return -EIO;
    }
    return (int64_t)x->info->idle;
}

void x_idle_close(struct x_idle *x)
{
    if (x == NULL) {
        return;
    }
    if (x->info != NULL) {
        XFree(x->info);
    }
    XCloseDisplay(x->display);
    mem_free(x);
}
