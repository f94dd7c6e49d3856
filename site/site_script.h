/* site/site_script.h - what is sent to a host: scripts for its shell, and requests to its pclient.
 *
 * Pure.  The scripts need a shell of POSIX and the usual small programs; all words that come from
 * the configuration are quoted, names of glideins need not be (site_request.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_SCRIPT_H
#define SITE_SITE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "site/site_request.h"

struct strbuf;

/* What the scripts print. */
#define SITE_SCRIPT_READY "ROOST-SITE-READY" /* the next step of the input may come */
#define SITE_SCRIPT_DONE  "ROOST-SITE-DONE"  /* all has been said */

#define SITE_SCRIPT_NAME_MAX 64 /* bytes of a glidein's name: of the mark of a detached job */

struct site_script {
    const char *prefix;    /* of the names of all glideins of the site */
    const char *directory; /* NULL: $ROOST_SITE_DIR, else ~/.roost-site */
    const char *host;      /* the name of the host's own directory in there */
    const char *pclient;   /* paths as the host knows them, relative to its own directory */
    const char *pilot;
};

/* Lists the glideins of the site, and drops what ended ones need no more.  Prints lines "R NAME
 * PID" (runs), "E NAME STATUS" (has ended; STATUS "lost": nobody knows how), "M pclient" and "M
 * pilot" (missing, where the path begins with "../"), and SITE_SCRIPT_DONE. */
void site_script_look(const struct site_script *script, struct strbuf *out);
/* Kills glideins.  Prints "G NAME" for each that ran and is gone, "S NAME" for each that is still
 * there, and SITE_SCRIPT_DONE. */
void site_script_remove(const struct site_script *script, const char *const *names, size_t count,
                        struct strbuf *out);
/* Prints SITE_SCRIPT_DONE and after that line the end of what a glidein has printed, at most
 * `length` bytes; exit status 3: not known here. */
void site_script_log(const struct site_script *script, const char *name, size_t length,
                     struct strbuf *out);
/* Takes a file from its input, after SITE_SCRIPT_READY, to a path that begins with "../". */
void site_script_copy(const struct site_script *script, const char *path, const char *sha256,
                      struct strbuf *out);
/* Stores the secret for each glidein and becomes, after SITE_SCRIPT_READY, a pclient of this
 * lease. */
void site_script_start(const struct site_script *script, const char *const *names, size_t count,
                       const struct site_request *request, int64_t lease_s, struct strbuf *out);
/* What that pclient is then asked: one job for each glidein, and its end. */
void site_script_jobs(const struct site_script *script, const char *const *names, size_t count,
                      const struct site_request *request, int64_t lease_s, struct strbuf *out);

#endif
