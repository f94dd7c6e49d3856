/* site/site_rounds.h - speaks with many hosts at the same time, each through a shell of its own.
 *
 * A round runs one script on each host that is to be asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_ROUNDS_H
#define SITE_SITE_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "site/site.h"
#include "site/site_programs.h"
#include "site/site_script.h"

struct strmap;

struct site_host {
    char *name;
    struct vec argv;    /* char *, ended by NULL: starts a shell there */
    uint64_t failed_ms; /* when it did not answer, by loop_now_ms(); 0: the last time it did */
    /* Of the request under way. */
    bool asked, answered;
    bool lacks_pclient, lacks_pilot;
    size_t running;   /* our glideins there */
    struct vec names; /* char *: what is to be started there */
    struct strbuf script, jobs;
    char why[SITE_COMPLAINT_MAX + 64]; /* it did not answer */
};

/* What is in the field `own` of struct site. */
struct site_hosts {
    struct vec all; /* struct site_host * */
    bool copy;
    int64_t per_host, connects, timeout_s;
    const char *directory, *pilot; /* options; NULL: not given */
    char *pclient;                 /* path or name, here if it is copied, else there */
};

/* A glidein that a host has told us of. */
struct site_seen {
    const struct site_host *host;
    bool runs;
    char told[32]; /* pid or exit status */
};

struct site_round {
    struct site_host **hosts;      /* those that are asked */
    struct site_program *programs; /* of each */
    size_t count;
};

/* A file of this machine, and its path on the hosts. */
struct site_brought {
    char *data; /* the caller frees it with mem_free() */
    size_t length;
    char sha256[DIGEST_HEX_SIZE];
    char there[64];
};

/* Forgets what belongs to the last request. */
void site_host_reset(struct site_host *host);
struct site_script site_host_script(const struct site *site, const struct site_host *host);
/* Notes, and logs the first time, that a host did not do what it was asked. */
void site_host_failed(const struct site *site, struct site_host *host,
                      const struct site_program *program);

/* Returns a program for each host with `asked`, with the host's script as its first step. */
struct site_round site_round_make(const struct site_hosts *hosts);
void site_round_free(struct site_round *round);
/* Runs the programs.  The hosts whose script came to SITE_SCRIPT_DONE have `answered` then. */
void site_round_run(const struct site *site, struct site_round *round, uint64_t end_ms);
/* Returns the output after the line SITE_SCRIPT_DONE; NULL: there is no such line. */
const char *site_round_rest(struct site_program *program);
/* Splits the line at *at into three words, and moves *at to the next line.  Returns false at the
 * end. */
bool site_round_words(const char **at, char words[3][SITE_NAME_MAX + 1]);

/* Asks the hosts for their glideins, and adds a struct site_seen under the name of each to seen.
 * leave_silent: hosts that have not answered lately are not asked.  pclient, pilot: where these
 * files are on the hosts; NULL: they are not copied.  Returns how many hosts did not answer or were
 * not asked. */
size_t site_round_list(const struct site *site, bool leave_silent, const char *pclient,
                       const char *pilot, uint64_t end_ms, struct strmap *seen);
/* Returns SITE_FAILS with err: no host answers, and why the first does not. */
enum site_result site_round_silence(const struct site_hosts *hosts, struct err *err);

/* Reads a file that is to be copied; name: the beginning of its name on the hosts.  Returns 0 or
 * -errno. */
int site_brought_read(const struct site *site, const char *path, const char *name,
                      struct site_brought *ret, struct err *err);
/* Copies the file to the hosts that are asked and lack it; those that do not get it are not asked
 * any more. */
void site_brought_send(const struct site *site, const struct site_brought *file, bool is_pilot);

#endif
