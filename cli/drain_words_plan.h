/* cli/drain_words_plan.h - the command line of `roost drain`.  Pure.
 *
 * Roost's own options and those of condor_drain, in any order.  Arguments that a startd would
 * refuse are refused here, once for all machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAIN_WORDS_PLAN_H
#define CLI_DRAIN_WORDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "cli/listing_plan.h"
#include "drain/drain.h"

struct ad_context;
struct err;
struct hostlist_groups;

enum drain_verb { DRAIN_VERB_START, DRAIN_VERB_ESTIMATE, DRAIN_VERB_CANCEL, DRAIN_VERB_STATUS };

struct drain_words {
    enum drain_verb verb;
    /* machine names (char *, owned); wn[01-03] on the command line has become three names.  None,
     * and no ids: the machines of the listing's constraints. */
    struct vec nodes;
    struct drain_request request;
    /* ids of the drain requests to cancel (char *, owned).  With nodes: at most one id; no id: the
     * request in force at each machine.  Without nodes: the machines that have a request with one
     * of these ids are meant. */
    struct vec ids;
    bool wait; /* --wait: until each machine is drained, or its request has ended */
    /* value of --at-once: so many machines drain at the same time; 0: all */
    int64_t at_once;
    const char *pool; /* value of -pool, borrowed from argv; NULL: the caller's pool */
    struct listing listing;
    const char *unknown; /* the unknown option, when drain_words_read() returned -ENOENT */
};

/* Parses the command line; argv[0] is the command's name; now holds the caller's time and time
 * zone; groups: the groups of machines that "@NAME" names.  Returns 0; -EINVAL with the reason in
 * err; -ENOENT with the option in ret->unknown. Release ret in any case. */
int drain_words_read(int argc, char *const *argv, const struct ad_context *now,
                     const struct hostlist_groups *groups, struct drain_words *ret,
                     struct err *err);
void drain_words_fini(struct drain_words *words);

#endif
