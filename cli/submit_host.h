/* cli/submit_host.h - what the submitting host gives to a submit file: files, names that match,
 * what commands print, the environment, macros, sizes.
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
    bool is_spooled;       /* set by the caller: output comes when it is asked for */
    struct strmap *macros; /* ARCH, YEAR and the like */
    char cwd[4096];
    char user[256];
    char domain[256];
    char arch[64], opsys[64];
    struct submit_world world;
    struct submit_place place;
};

/* file: the submit file's name.  A configuration that cannot be read is an error only where
 * it is needed. 0, or -errno and err. */
int submit_host_init(struct submit_host *host, struct cli *cli, const char *file, bool needs_config,
                     struct err *err);
void submit_host_fini(struct submit_host *host);

/* What a submit file is: text.  Without the mark that some editors begin it with; *length bytes and
 * a zero.  -EINVAL: another zero. */
int submit_host_check_text(const char *path, char *text, size_t *length, struct err *err);

#endif
