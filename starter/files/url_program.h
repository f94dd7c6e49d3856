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
    /* The machine's transfer programs and the kinds of URLs that each supports, owned; NULL: the
     * programs were not asked yet. */
    struct transfer_plugins *plugins;
    size_t at;      /* index in the list of inputs of the URL that is fetched now */
    unsigned tries; /* attempts made for the present URL */
    bool is_curls;  /* true: curl was used for the present URL */
};

enum url_program_way { URL_FETCH, URL_UPLOAD };
/* Starts a program that fetches the URL into the file `name` of the sandbox (URL_FETCH), or sends
 * that file to the URL (URL_UPLOAD).  Returns 0 if the program was started: on_exit is called when
 * it ends.  Returns 1 if it is not known yet which program supports the URL: the caller must
 * return, and starter.c continues the run when that is known.  Returns -ENOTSUP if no program
 * supports such URLs; another -errno if the program could not be started. */
int url_program_run(struct starter *starter, enum url_program_way way, const char *url,
                    const char *name, os_exit_f on_exit, struct err *err);
/* Writes to ret why the transfer program failed: the end of its output, or else its exit status. */
void url_program_message(struct starter *starter, const struct os_exit *how, char *ret,
                         size_t size);
/* Returns whether another attempt for the URL would be useless, judged by how the transfer program
 * ended. */
bool url_program_is_hopeless(const struct starter *starter, const struct os_exit *how);
/* Removes from the sandbox the files that the transfer programs have left there (requests, answers,
 * messages). */
void url_program_tidy(struct starter *starter);

#endif
