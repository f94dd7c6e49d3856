/* startd/slot/slot_knobs.c - see slot_knobs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/slot/slot_knobs.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/startd_state.h"

/* most bytes of an attribute's name, with the terminating zero */
#define MODIFIER_MAX (RESOURCE_NAME_MAX + 40)

/* ---- types */

const char *slot_knobs_text(const struct config *config, const char *prefix, int id,
                            const char *suffix)
{
    char name[80];
    (void)snprintf(name, sizeof name, "%s%d%s", prefix, id, suffix); /* fits */
    return config_text(config, name);
}

/* HIBERNATE is not among them, because the machine sleeps as a whole. */
static const char *const TYPE_KNOBS[] = {
    "START",    "RANK",    "MAXJOBRETIREMENTTIME", "MACHINEMAXVACATETIME", "UNHIBERNATE", "SUSPEND",
    "CONTINUE", "PREEMPT", "WANT_SUSPEND",         "WANT_VACATE",          "KILL"};

const char *slot_knobs_expr(const struct config *config, int type_id, const char *knob)
{
    char suffix[48];
    for (size_t i = 0; type_id > 0 && i < ARRAY_COUNT(TYPE_KNOBS); i++) {
        if (strcmp(TYPE_KNOBS[i], knob) == 0) {
            (void)snprintf(suffix, sizeof suffix, "_%s", knob); /* fits */
            return slot_knobs_text(config, "SLOT_TYPE_", type_id, suffix);
        }
    }
    return NULL;
}

#define PARTITIONABLE "PARTITIONABLE"
#define EDITS_MAX     3 /* in a misspelt suffix */

bool slot_knobs_is_suffix(const char *suffix)
{
    bool found = text_equal_nocase(suffix, PARTITIONABLE);
    for (size_t i = 0; i < ARRAY_COUNT(TYPE_KNOBS); i++) {
        found = found || text_equal_nocase(suffix, TYPE_KNOBS[i]);
    }
    return found;
}

const char *slot_knobs_nearest_suffix(const char *suffix)
{
    size_t distance = text_distance(PARTITIONABLE, suffix, EDITS_MAX);
    const char *best = distance <= EDITS_MAX ? PARTITIONABLE : NULL;
    for (size_t i = 0; i < ARRAY_COUNT(TYPE_KNOBS); i++) {
        size_t edits = text_distance(TYPE_KNOBS[i], suffix, EDITS_MAX);
        if (edits <= EDITS_MAX && edits < distance) {
            distance = edits;
            best = TYPE_KNOBS[i];
        }
    }
    return best;
}

int slot_knobs_check_type(const struct config *config, int type_id, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(TYPE_KNOBS); i++) {
        const char *text = slot_knobs_expr(config, type_id, TYPE_KNOBS[i]);
        rc = text != NULL ? ad_expr_check(NULL, text, err) : 0;
        rc = rc != 0 ? err_prefix(err, rc, "SLOT_TYPE_%d_%s", type_id, TYPE_KNOBS[i]) : 0;
    }
    return rc;
}

/* ---- what is added to requests */

/* Returns the text of MODIFY_REQUEST_EXPR_REQUEST<kind>, and writes that knob's name to name; NULL:
 * not set. */
static const char *modifier_text(const struct startd *startd, size_t kind, char *name, size_t size)
{
    static const char *const KNOBS[RESOURCE_CUSTOM] = {"MODIFY_REQUEST_EXPR_REQUESTCPUS",
                                                       "MODIFY_REQUEST_EXPR_REQUESTMEMORY",
                                                       "MODIFY_REQUEST_EXPR_REQUESTDISK"};
    (void)snprintf(name, size, "MODIFY_REQUEST_EXPR_REQUEST%s",
                   startd->division.kinds->kinds[kind].name); /* fits */
    return kind < RESOURCE_CUSTOM ? config_expr(startd->env.config, KNOBS[kind])
                                  : config_text(startd->env.config, name);
}

void slot_knobs_show_modifiers(const struct startd *startd, struct ad *ad)
{
    for (size_t i = 0; i < startd->division.kinds->count; i++) {
        char name[MODIFIER_MAX];
        const char *text = modifier_text(startd, i, name, sizeof name);
        if (startd->division.modify[i] != NULL) {
            (void)ad_set_expr_old(ad, name, text, NULL); /* it was parsed before */
        }
    }
}

void slot_knobs_find_modifiers(struct startd *startd)
{
    for (size_t i = 0; i < startd->division.kinds->count; i++) {
        char name[MODIFIER_MAX];
        struct err err;
        const char *text = modifier_text(startd, i, name, sizeof name);
        ad_expr_destroy(startd->division.modify[i]);
        startd->division.modify[i] = NULL;
        if (text != NULL && text[0] != '\0' &&
            ad_expr_parse(text, strlen(text), AD_OLD, &startd->division.modify[i], &err) != 0) {
            startd->division.modify[i] = NULL;
            log_error(startd->env.log, "config.expr", err.text, LOG_TEXT("knob", name));
        }
    }
}
