/* startd/slot/slot_knobs.h - what the configuration says of slots, for each type or for each kind
 * of resource.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_KNOBS_H
#define STARTD_SLOT_SLOT_KNOBS_H

struct ad;
struct config;
struct err;
struct startd;

/* An option of a type, prefix<id>suffix; NULL when it is not set. */
const char *slot_knobs_text(const struct config *config, const char *prefix, int id,
                            const char *suffix);
/* SLOT_TYPE_<id>_<knob>, for the knobs that a type may have of its own; NULL: not set. */
const char *slot_knobs_expr(const struct config *config, int type_id, const char *knob);
int slot_knobs_check_type(const struct config *config, int type_id, struct err *err);

void slot_knobs_find_modifiers(struct startd *startd);
/* MODIFY_REQUEST_EXPR_REQUEST..., by which the negotiator counts as we do */
void slot_knobs_show_modifiers(const struct startd *startd, struct ad *ad);

#endif
