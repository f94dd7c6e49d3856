/* cli/submit_host.h - what the submitting host provides for a submit file: files, matching file
 * names, output of commands, environment, macros, file sizes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SUBMIT_HOST_H
#define CLI_SUBMIT_HOST_H

#include <stdbool.h>

#include "submit/submit_file.h"
#include "submit/submit_job.h"

struct cli;
struct err;
struct strmap;

struct submit_host {
    struct cli *cli;
    bool is_spooled;       /* set by the caller: output stays at the schedd until it is fetched */
    struct strmap *macros; /* predefined macros such as ARCH and YEAR */
    /* paths that were found good last: a directory for output files, a log; NULL: none */
    char *good_directory, *good_log;
    struct strmap *good_names;  /* names in good_directory; NULL: not read */
    unsigned good_names_wanted; /* number of files that were looked for there */
    char cwd[4096];
    char user[256];
    char domain[256];
    char arch[64], opsys[64];
    struct submit_world world;
    struct submit_place place;
};

/* Fills host; file is the submit file's name.  A configuration that cannot be read is an error only
 * if needs_config.  Returns 0, or -errno with err filled. */
int submit_host_init(struct submit_host *host, struct cli *cli, const char *file, bool needs_config,
                     struct err *err);
void submit_host_fini(struct submit_host *host);

/* Checks that a submit file is text and removes a byte order mark at its beginning.  text has
 * *length bytes and a final zero; path is for messages.  -EINVAL: there is another zero byte. */
int submit_host_check_text(const char *path, char *text, size_t *length, struct err *err);

#endif
