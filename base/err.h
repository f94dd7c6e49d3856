/* base/err.h - one line that says what went wrong and with which thing.
 *
 * Functions return 0 or a negative errno, and fill the caller's struct err (last argument, may be
 * NULL) with one line naming the file, host, attribute or byte at fault.  The layer that handles
 * the error logs it, once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

#define ERR_TEXT_MAX 512 /* bytes with the terminating zero; longer texts are cut */

struct err {
    char text[ERR_TEXT_MAX];
};

/* Writes the text (unless err is NULL) and returns code, so that a caller can write one statement:
 *     return err_set(err, -EINVAL, "%s:%u: no such knob '%s'", file, line, name);
 * Control characters in the result are replaced by '?': one error is one line. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the formatted text and ": " before the text that err holds, and returns code. */
int err_prefix(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns a text for a negative errno, such as "no such file or directory".  Static storage; never
 * NULL. */
const char *err_code_text(int code);

/* Returns whether a negative errno says that the machine lacks something just now (processes,
 * memory, descriptors, disk space), or that its disk fails: the same call may succeed later, or on
 * another machine. */
bool err_is_shortage(int code);

#endif
