/* starter/files/url_program.h - programs that know URLs, in the job's cage and as its account.
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

#define STARTER_URL_TRIES_MAX 3 /* of one URL, before the job is held */

struct starter_urls {
    struct transfer_plugins *plugins; /* NULL: not asked for yet */
    size_t at;                        /* in the list of inputs */
    unsigned tries;
    bool is_curls;
};

enum url_program_way { URL_FETCH, URL_UPLOAD };
/* Fetches the URL to that name below the sandbox, or sends it.  1: not now, the run is
 * woken when it is known who can; -ENOTSUP: nobody can. */
int url_program_run(struct starter *starter, enum url_program_way way, const char *url,
                    const char *name, os_exit_f on_exit, struct err *err);
/* What it said, of why it failed: at most size - 1 bytes. */
void url_program_message(struct starter *starter, const struct os_exit *how, char *ret,
                         size_t size);
bool url_program_is_hopeless(const struct starter *starter, const struct os_exit *how);
void url_program_tidy(struct starter *starter); /* removes its files from the sandbox */

#endif
