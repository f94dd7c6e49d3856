/* cli/why/why_ask.h - the data about the pool for `roost why` and `roost q -analyze`: queried once,
 * used for several jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_ASK_H
#define CLI_WHY_WHY_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/rooster_ask.h"
#include "cli/why/why_plan.h"
#include "cli/why/why_time.h"

struct listing;
struct strbuf;
struct why_verdict;

/* The rooster's answer about all machines; it is asked once, when needed. */
struct why_nodes {
    bool asked;
    struct rooster_ask rooster;
    struct cli_reply reply;
    struct err silence; /* why the rooster did not answer; text "": it did */
};

struct why_view {
    struct cli *cli;
    bool loaded;
    struct why_nodes nodes;
    struct cli_reply machines, negotiators, requests, accounts, sites;
    struct why_other *slots; /* slots, without absent ads and dynamic slots */
    /* struct ad *, owned: ads made by why_reason_whole(), to which `slots` points */
    struct vec wholes;
    size_t slot_count;
    struct why_time time; /* time limit of the current answer */
};

void why_view_init(struct why_view *view, struct cli *cli);
void why_view_fini(struct why_view *view);

/* Queries the collector at the first call.  Returns 0 or -errno. */
int why_view_load(struct why_view *view, struct err *err);
/* Compares one job with all slots; call why_view_load() first.  changes: also search for changes of
 * the job's ad after which slots would match.  Release with why_answer_destroy(). */
struct why_answer *why_view_answer(struct why_view *view, const struct ad *job, bool changes);
void why_view_verdict(struct why_view *view, const struct ad *job, const struct why_answer *answer,
                      struct why_verdict *ret);

/* Prints `roost q -analyze` for one job; call why_view_load() first. */
void why_view_analyze(struct why_view *view, const struct ad *job, struct strbuf *out);

/* `roost why -slot`: explains the slots and machines that `words` (char *) name.  If the style of
 * `listing` is LISTING_TABLE, appends text to out; else adds ads (struct ad *, owned by the caller)
 * to answers.  Returns 0; -ENOENT: no slot or machine has that name; or another -errno. */
int why_view_slots(struct why_view *view, const struct vec *words, const struct listing *listing,
                   struct strbuf *out, struct vec *answers, struct err *err);

void why_destroy_ad(void *ad);

#endif
