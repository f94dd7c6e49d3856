/* base/daemon/daemon_checking.c - see daemon_checking.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon_checking.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/args.h"
#include "base/config/config.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define DOUBT_MAX 1000 /* most bytes of a doubt without its place, with the terminating zero */

void daemon_doubt(const struct daemon_checking *checking, const char *knob, const char *format, ...)
{
    char text[DOUBT_MAX];
    struct config_origin origin;
    struct strbuf line;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args); /* cut: the beginning says it */
    va_end(args);
    strbuf_init(&line, 0);
    if (config_why(checking->config, knob, &origin) && origin.file != NULL) {
        strbuf_puts(&line, origin.file);
        if (origin.line > 0) {
            strbuf_printf(&line, ":%u", origin.line);
        }
        strbuf_puts(&line, ": ");
    }
    strbuf_puts(&line, text);
    checking->doubt(checking->arg, strbuf_text(&line));
    strbuf_fini(&line);
}

const char *daemon_doubt_path(const struct daemon_checking *checking, const char *path,
                              bool is_program)
{
    struct os_stat found;
    if (path[0] != '/') {
        return "is not an absolute path";
    }
    if (os_stat(checking->os, path, &found) != 0) {
        return "does not exist on this host";
    }
    if (found.is_link) {
        return NULL; /* who uses the path follows the link */
    }
    return found.is_dir                             ? "is a directory"
           : is_program && (found.mode & 0111) == 0 ? "is not a program: it is not executable"
                                                    : NULL;
}

void daemon_doubt_command(const struct daemon_checking *checking, const char *knob,
                          const char *command)
{
    struct vec words = {0};
    if (command != NULL && args_parse_v2(command, &words, NULL) == 0 && words.count > 0) {
        const char *why = daemon_doubt_path(checking, words.items[0], true);
        if (why != NULL) {
            daemon_doubt(checking, knob, "%s: %s %s", knob, (const char *)words.items[0], why);
        }
    }
    vec_fini(&words, mem_free);
}
