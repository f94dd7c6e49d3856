/* cli/drain_words_plan.h - what `roost drain` was asked, from its words.  Pure.
 *
 * Roost's own words and those of condor_drain; a word is understood the same wherever it stands.
 * What the startd would refuse as an argument is refused here already, once for all machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAIN_WORDS_PLAN_H
#define CLI_DRAIN_WORDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"
#include "cli/listing_plan.h"
#include "drain/drain.h"

struct ad_context;
struct err;

enum drain_verb { DRAIN_VERB_START, DRAIN_VERB_ESTIMATE, DRAIN_VERB_CANCEL, DRAIN_VERB_STATUS };

struct drain_words {
    enum drain_verb verb;
    struct vec nodes; /* names of machines, unfolded, owned */
    struct drain_request request;
    struct vec ids;   /* of CANCEL, char *, owned; none: whichever there is.  With nodes at most
                       * one, without nodes they say which machines */
    bool wait;        /* until all is done */
    const char *pool; /* borrowed of argv; NULL: ours */
    struct listing listing;
    const char *unknown; /* an option that there is not: -ENOENT */
};

/* argv[0] is the command's name.  now: time and zone of the caller.  0; -EINVAL with what is wrong;
 * -ENOENT: ret->unknown.  ret is to be released in any case. */
int drain_words_read(int argc, char *const *argv, const struct ad_context *now,
                     struct drain_words *ret, struct err *err);
void drain_words_fini(struct drain_words *words);

#endif
