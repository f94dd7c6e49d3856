/* startd/slot/slot_knobs.h - the configuration of slots, for each type or for each kind of
 * resource.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_KNOBS_H
#define STARTD_SLOT_SLOT_KNOBS_H

struct ad;
struct config;
struct err;
struct startd;

/* Returns the value of the knob <prefix><id><suffix>; NULL: not set. */
const char *slot_knobs_text(const struct config *config, const char *prefix, int id,
                            const char *suffix);
/* Returns the value of SLOT_TYPE_<id>_<knob>, for knobs that a type may have of its own; NULL: not
 * set. */
const char *slot_knobs_expr(const struct config *config, int type_id, const char *knob);
/* Checks the expressions of a type.  0 or -errno. */
int slot_knobs_check_type(const struct config *config, int type_id, struct err *err);

/* Reads MODIFY_REQUEST_EXPR_REQUEST... into startd->division.modify. */
void slot_knobs_find_modifiers(struct startd *startd);
/* Writes these expressions into an ad, so that the negotiator counts as we do. */
void slot_knobs_show_modifiers(const struct startd *startd, struct ad *ad);

#endif
