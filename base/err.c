/* base/err.c - the text of an error, kept to one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes above 0x7f are kept, because texts are UTF-8.  A character that was cut in the middle is
 * not repaired. */
static void keep_one_line(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        }
    }
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (err) {
        /* Into a buffer first: the arguments may be err's own text. */
        char text[ERR_TEXT_MAX];
        va_list args;
        va_start(args, format);
        if (vsnprintf(text, sizeof(text), format, args) < 0) {
            text[0] = '\0';
        }
        va_end(args);
        keep_one_line(text);
        memcpy(err->text, text, sizeof(text));
    }
    return code;
}

int err_prefix(struct err *err, int code, const char *format, ...)
{
    if (err) {
        char prefix[ERR_TEXT_MAX];
        va_list args;
        va_start(args, format);
        if (vsnprintf(prefix, sizeof(prefix), format, args) < 0) {
            prefix[0] = '\0';
        }
        va_end(args);
        keep_one_line(prefix);
        size_t used = strlen(prefix);
        const char *separator = ": ";
        char text[ERR_TEXT_MAX];
        memcpy(text, prefix, used);
        for (; *separator && used < sizeof(text) - 1; separator++) {
            text[used++] = *separator;
        }
        size_t rest = strnlen(err->text, sizeof(err->text) - 1);
        if (rest > sizeof(text) - 1 - used) {
            rest = sizeof(text) - 1 - used;
        }
        memcpy(text + used, err->text, rest);
        text[used + rest] = '\0';
        memcpy(err->text, text, used + rest + 1);
    }
    return code;
}

const char *err_code_text(int code)
{
    /* strerrordesc_np: static, thread-safe and not translated; NULL for a number the C library does
     * not know. */
    const char *text = code < 0 ? strerrordesc_np(-code) : code == 0 ? "success" : NULL;
    return text ? text : "unknown error";
}

bool err_is_shortage(int code)
{
    switch (-code) {
    case EAGAIN:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EIO:
        return true;
    default:
        return false;
    }
}
