/* cli/advertise_plan.c - see advertise_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/advertise_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"

/* The words that may stand between UPDATE_ and _AD, or INVALIDATE_ and _ADS, with the type of ads
 * that each means.  SUBMITTOR is HTCondor's spelling. */
static const struct {
    const char *word, *type;
} TYPES[] = {
    {"STARTD", "Machine"},
    {"MACHINE", "Machine"},
    {"SCHEDD", "Scheduler"},
    {"SCHEDULER", "Scheduler"},
    {"MASTER", "DaemonMaster"},
    {"SUBMITTOR", "Submitter"},
    {"SUBMITTER", "Submitter"},
    {"NEGOTIATOR", "Negotiator"},
    {"COLLECTOR", "Collector"},
    {"ACCOUNTING", "Accounting"},
    {"ROOSTER", "Rooster"},
    {"FACTORY", "Factory"},
    {"SITE", "Site"},
    {"GLIDEIN", "Glidein"},
    {"REQUEST", "Request"},
    {"GRID", "Grid"},
    {"HAD", "HAD"},
    {"LICENSE", "License"},
    {"STORAGE", "Storage"},
    {"DEFRAG", "Defrag"},
    {"GATEWAY", "Gateway"},
    {"CKPT_SRVR", "CkptServer"},
};

/* Returns whether word is the prefix, some text and the suffix; *length is then the length of that
 * text.  The case of letters does not matter. */
static bool is_around(const char *word, const char *prefix, const char *suffix, size_t *length)
{
    size_t all = strlen(word), front = strlen(prefix), back = strlen(suffix);
    if (all <= front + back || !text_equal_nocase(word + all - back, suffix)) {
        return false;
    }
    *length = all - front - back;
    for (size_t i = 0; i < front; i++) {
        char c = word[i] >= 'a' && word[i] <= 'z' ? (char)(word[i] - ('a' - 'A')) : word[i];
        if (c != prefix[i]) {
            return false;
        }
    }
    return true;
}

bool advertise_plan_command(const char *word, struct advertise_command *ret)
{
    size_t length, front;
    if (text_equal_nocase(word, "UPDATE_AD_GENERIC") ||
        text_equal_nocase(word, "INVALIDATE_ADS_GENERIC")) {
        *ret = (struct advertise_command){"Generic", word[0] == 'I' || word[0] == 'i'};
        return true;
    }
    bool invalidate = is_around(word, "INVALIDATE_", "_ADS", &length) ||
                      is_around(word, "INVALIDATE_", "_AD", &length);
    if (!invalidate && !is_around(word, "UPDATE_", "_AD", &length)) {
        return false;
    }
    front = invalidate ? strlen("INVALIDATE_") : strlen("UPDATE_");
    for (size_t i = 0; i < ARRAY_COUNT(TYPES); i++) {
        char middle[32] = "";
        if (length < sizeof middle) {
            memcpy(middle, word + front, length);
        }
        if (text_equal_nocase(TYPES[i].word, middle)) {
            *ret = (struct advertise_command){TYPES[i].type, invalidate};
            return true;
        }
    }
    return false;
}

int advertise_plan_prepare(const struct advertise_command *command, struct ad *ad, struct err *err)
{
    const char *name = ad_string_or(ad, "Name", "");
    const char *type = ad_string_or(ad, "MyType", "");
    if (name[0] == '\0') {
        return err_set(err, -EINVAL, "the ad has no Name");
    }
    if (type[0] == '\0' && command->type == NULL) {
        return err_set(err, -EINVAL, "'%s' has no MyType; name a type", name);
    }
    if (type[0] == '\0') {
        ad_set_string(ad, "MyType", command->type);
    } else if (command->type != NULL && !text_equal_nocase(command->type, "Generic") &&
               !text_equal_nocase(command->type, type)) {
        return err_set(err, -EINVAL, "'%s' is of type %s, not %s", name, type, command->type);
    }
    return 0;
}

struct ad *advertise_plan_invalidation(const struct advertise_command *command,
                                       const struct ad *query, struct err *err)
{
    const char *type = command->type;
    if (type == NULL || text_equal_nocase(type, "Generic")) {
        const char *own = ad_string_or(query, "MyType", "");
        type = text_equal_nocase(own, "Query") || own[0] == '\0'
                   ? ad_string_or(query, "TargetType", type != NULL ? type : "")
                   : own;
    }
    const char *name = ad_string_or(query, "Name", "");
    const struct ad_expr *requirements = ad_lookup(query, "Requirements");
    if (type[0] == '\0' || (name[0] == '\0' && requirements == NULL)) {
        (void)err_set(err, -EINVAL, "the ad has neither %s",
                      type[0] == '\0' ? "MyType nor TargetType" : "a Name nor Requirements");
        return NULL;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", type);
    if (name[0] != '\0') {
        ad_set_strings(args, "Names", &name, 1);
    } else {
        struct strbuf text;
        strbuf_init(&text, 0);
        ad_expr_print(requirements, AD_OLD, &text);
        ad_set_string(args, "Constraint", strbuf_text(&text));
        strbuf_fini(&text);
    }
    return args;
}
