/* startd/slot/slot_knobs.h - the configuration of slots, for each type or for each kind of
 * resource.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_KNOBS_H
#define STARTD_SLOT_SLOT_KNOBS_H

#include <stdbool.h>

struct ad;
struct config;
struct err;
struct startd;

/* Returns the value of the knob <prefix><id><suffix>, such as SLOT_TYPE_1_PARTITIONABLE; NULL if it
 * is not set. */
const char *slot_knobs_text(const struct config *config, const char *prefix, int id,
                            const char *suffix);
/* Returns the value of SLOT_TYPE_<id>_<knob>; NULL if it is not set, or if the knob (START, RANK,
 * SUSPEND ...) cannot be set for a slot type. */
const char *slot_knobs_expr(const struct config *config, int type_id, const char *knob);
/* Checks that all expressions SLOT_TYPE_<id>_<knob> of a slot type can be parsed.  Returns 0 or
 * -errno. */
int slot_knobs_check_type(const struct config *config, int type_id, struct err *err);

/* Parses the knobs MODIFY_REQUEST_EXPR_REQUEST<kind>, which round the requests of jobs, into
 * startd->division.modify. */
void slot_knobs_find_modifiers(struct startd *startd);
/* Writes the expressions MODIFY_REQUEST_EXPR_REQUEST<kind> into a slot's ad, so that the negotiator
 * rounds requests as the startd does. */
void slot_knobs_show_modifiers(const struct startd *startd, struct ad *ad);

/* Returns whether SLOT_TYPE_<n>_<suffix> is a knob. */
bool slot_knobs_is_suffix(const char *suffix);
/* Returns the suffix of a knob SLOT_TYPE_<n>_<suffix> that differs in at most three letters; NULL:
 * there is none. */
const char *slot_knobs_nearest_suffix(const char *suffix);

#endif
