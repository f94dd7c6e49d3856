/* starter/files/url_program.h - runs programs that transfer URLs, curl or a plug-in, in the job's
 * cage and as its account.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_FILES_URL_PROGRAM_H
#define STARTER_FILES_URL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/os/os.h"

struct err;
struct starter;
struct transfer_plugins;

#define STARTER_URL_TRIES_MAX 3 /* attempts for one URL before the job is held */

struct starter_urls {
    /* The programs and the URL schemes that they know; NULL: not asked yet. */
    struct transfer_plugins *plugins;
    size_t at;      /* index in the list of inputs */
    unsigned tries; /* attempts for the URL in hand */
    bool is_curls;  /* curl was used for it */
};

enum url_program_way { URL_FETCH, URL_UPLOAD };
/* Starts a program that fetches the URL into the file `name` of the sandbox, or sends that file.
 * 0: it runs, and on_exit is called.  1: it is not known yet which program to use; the run is woken
 * when it is.  -ENOTSUP: no program knows such URLs.  Other -errno: it could not be started. */
int url_program_run(struct starter *starter, enum url_program_way way, const char *url,
                    const char *name, os_exit_f on_exit, struct err *err);
/* Writes why the program failed into ret: the end of its output, or its exit status. */
void url_program_message(struct starter *starter, const struct os_exit *how, char *ret,
                         size_t size);
/* Returns whether another attempt is useless, judged by how the program ended. */
bool url_program_is_hopeless(const struct starter *starter, const struct os_exit *how);
/* Removes the program's own files from the sandbox. */
void url_program_tidy(struct starter *starter);

#endif
