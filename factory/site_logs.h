/* factory/site_logs.h - logs of glideins that a site is asked for: by somebody's order, and of each
 * glidein that has ended unused.
 *
 * The text is a stranger's: it is bounded, kept in memory only, and never interpreted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SITE_LOGS_H
#define FACTORY_SITE_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "factory/glidein.h"

struct ad;
struct site;
struct site_answer;

#define SITE_LOGS_BYTES ((size_t)64 << 10) /* of a log, its end */
#define SITE_LOGS_KEPT  ((size_t)4 << 10)  /* of the log that is kept */
#define SITE_LOGS_LINE  200                /* of the last line of the log that is kept */

/* A part of struct site. */
struct site_logs {
    struct vec wanted; /* of struct site_log (site_logs.c), in the order of asking */
    int64_t last_id;   /* of the log that was wanted last */
    int64_t asked_id;  /* of the log that the site is being asked for */
    char *kept;        /* the end of the log of the glidein that ended unused last; NULL: none */
    char kept_of[GLIDEIN_NAME_MAX];
    char kept_line[SITE_LOGS_LINE]; /* its last line; "": it is empty, or could not be had */
};

/* Has the site asked for the log of a glidein.  Returns the id of the wish, above 0; or -EBUSY if
 * too many wait. */
int64_t site_logs_want(struct site *site, const char *name);
/* Nobody waits for it any more. */
void site_logs_drop(struct site *site, int64_t id);
/* The log of a glidein that has ended unused is kept. */
void site_logs_keep(struct site *site, const char *name);
/* Returns the glidein whose log the site is to be asked for next; NULL: none. */
const char *site_logs_next(struct site *site);
void site_logs_answered(struct site *site, const struct site_answer *answer);
/* If the site has answered: returns true, sets *text, owned by the caller, to the log, or to why it
 * could not be had, and drops the wish. */
bool site_logs_take(struct site *site, int64_t id, bool *found, char **text);
/* Returns the end of the log of this glidein, if it is the one that is kept; else NULL. */
const char *site_logs_kept(const struct site *site, const char *name);
/* Adds LogOf and LogEnd to the site's ad. */
void site_logs_put(const struct site *site, struct ad *ad);
void site_logs_fini(struct site *site);

#endif
