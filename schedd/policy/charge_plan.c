/* schedd/policy/charge_plan.c - see charge_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/charge_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "classad/ad.h"

enum charge_attribute { CHARGE_NAME, CHARGE_GROUP, CHARGE_USER, CHARGE_ATTRIBUTES };
static const char *const NAMES[] = {
    [CHARGE_NAME] = "AccountingGroup",
    [CHARGE_GROUP] = "AcctGroup",
    [CHARGE_USER] = "AcctGroupUser",
};

bool charge_plan_matters(const struct ad *ad)
{
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (ad_has(ad, NAMES[i])) {
            return true;
        }
    }
    return false;
}

/* Returns whether text is a valid name: letters, digits, '_', '-' and single dots between them. */
static bool is_name(const char *text)
{
    size_t parts = 1;
    for (const char *at = text; *at != '\0'; at++) {
        bool word = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                    (*at >= '0' && *at <= '9') || strchr("._-", *at) != NULL;
        if (!word || (*at == '.' && (at == text || at[1] == '.' || at[1] == '\0'))) {
            return false;
        }
        parts += *at == '.' ? 1 : 0;
    }
    return text[0] != '\0' && strlen(text) <= CHARGE_NAME_MAX && parts <= CHARGE_PARTS_MAX;
}

/* Reads an attribute into *ret; "" when it is absent.  Returns 0, or -EINVAL with err. */
static int read_name(const struct ad *job, const char *attribute, const char **ret, struct err *err)
{
    struct ad_value value;
    int rc = ad_get_literal(job, attribute, &value);
    *ret = "";
    if (rc == -ENOENT) {
        return 0;
    }
    if (rc != 0 || value.type != AD_TYPE_STRING) {
        return err_set(err, -EINVAL, "%s is not a string literal; write its value in double quotes",
                       attribute);
    }
    if (value.string.text[0] != '\0' && !is_name(value.string.text)) {
        return err_set(err, -EINVAL,
                       "%s '%.100s' is not a valid name: expected letters, digits, '_', '-' and at "
                       "most %d parts separated by single dots",
                       attribute, value.string.text, CHARGE_PARTS_MAX);
    }
    *ret = value.string.text;
    return 0;
}

/* ---- the map's words ------------------------------------------------------------------------- */

#define BETWEEN ", \t\n"

typedef bool (*word_f)(const char *word, size_t length, const char *name, size_t name_length);

static bool any_word(const struct charge_rules *rules, word_f fits, const char *name,
                     size_t name_length)
{
    const char *at = rules->words != NULL ? rules->words : "";
    at += strspn(at, BETWEEN);
    while (*at != '\0') {
        size_t length = strcspn(at, BETWEEN);
        if (fits(at, length, name, name_length)) {
            return true;
        }
        at += length;
        at += strspn(at, BETWEEN);
    }
    return false;
}

static bool is_star(const char *word, size_t length)
{
    return length == 1 && word[0] == '*';
}

/* For "G.*" returns the length of "G."; else 0. */
static size_t tree_of(const char *word, size_t length)
{
    return length > 2 && word[length - 1] == '*' && word[length - 2] == '.' ? length - 1 : 0;
}

/* Returns whether a word of the map allows the name as a whole, or its group with any user. */
static bool covers_name(const char *word, size_t length, const char *name, size_t name_length)
{
    size_t tree = tree_of(word, length);
    return is_star(word, length) ||
           (tree > 0 && name_length > tree && memcmp(word, name, tree) == 0);
}

/* Returns whether a word of the map allows the group with the owner as its user. */
static bool covers_group(const char *word, size_t length, const char *group, size_t group_length)
{
    size_t tree = tree_of(word, length);
    return covers_name(word, length, group, group_length) ||
           (length == group_length && memcmp(word, group, length) == 0) ||
           (tree > 0 && group_length == tree - 1 && memcmp(word, group, group_length) == 0);
}

static bool may_name_group(const struct charge_rules *rules, const char *group, size_t length)
{
    bool is_nice = strlen(rules->nice) == length && memcmp(rules->nice, group, length) == 0;
    return rules->words == NULL || is_nice || any_word(rules, covers_group, group, length);
}

/* ---- judging --------------------------------------------------------------------------------- */

static int refuse_user(const struct charge_rules *rules, const char *attribute, const char *value,
                       struct err *err)
{
    return err_set(err, -EPERM,
                   "%s '%.100s' would charge another user: jobs of '%s' are charged to '%s' or "
                   "GROUP.%s%s",
                   attribute, value, rules->owner, rules->owner, rules->owner,
                   rules->words != NULL ? ", unless ACCOUNTING_MAP allows more" : "");
}

static int refuse_group(const struct charge_rules *rules, const char *attribute, const char *value,
                        struct err *err)
{
    return err_set(err, -EPERM, "%s '%.100s': ACCOUNTING_MAP does not allow that group for '%s'",
                   attribute, value, rules->owner);
}

/* Returns true when a longer end of the name than the owner's is an account: a user name may have
 * dots in it. */
static bool is_anothers(const struct charge_rules *rules, const char *name)
{
    size_t own = strlen(rules->owner);
    for (const char *end = name; end != NULL && strlen(end) > own;) {
        if (rules->is_account(rules->arg, end)) {
            return true;
        }
        end = strchr(end, '.');
        end = end != NULL ? end + 1 : NULL;
    }
    return false;
}

static int check_name(const struct charge_rules *rules, const char *name, struct err *err)
{
    size_t length = strlen(name), own = strlen(rules->owner);
    if (length == 0 || strcmp(name, rules->owner) == 0 ||
        any_word(rules, covers_name, name, length)) {
        return 0;
    }
    bool is_own = length > own + 1 && name[length - own - 1] == '.' &&
                  strcmp(name + length - own, rules->owner) == 0;
    if (!is_own || is_anothers(rules, name)) {
        return refuse_user(rules, NAMES[CHARGE_NAME], name, err);
    }
    return may_name_group(rules, name, length - own - 1)
               ? 0
               : refuse_group(rules, NAMES[CHARGE_NAME], name, err);
}

/* Checks AcctGroup and AcctGroupUser, which are shown to machines: the owner must be allowed to
 * name the group, and the user must be the owner, or one to whom the owner may charge jobs. */
static int check_parts(const struct charge_rules *rules, const char *group, const char *user,
                       struct err *err)
{
    if (group[0] != '\0' && !may_name_group(rules, group, strlen(group))) {
        return refuse_group(rules, NAMES[CHARGE_GROUP], group, err);
    }
    if (user[0] == '\0' || strcmp(user, rules->owner) == 0) {
        return 0;
    }
    char whole[2 * CHARGE_NAME_MAX + 2];
    size_t group_length = strlen(group), user_length = strlen(user);
    memcpy(whole, group, group_length);
    whole[group_length] = '.';
    memcpy(whole + group_length + 1, user, user_length + 1);
    const char *name = group_length > 0 ? whole : user;
    return any_word(rules, covers_name, name, strlen(name))
               ? 0
               : refuse_user(rules, NAMES[CHARGE_USER], user, err);
}

int charge_plan_check(const struct ad *job, const struct charge_rules *rules, struct err *err)
{
    const char *texts[CHARGE_ATTRIBUTES];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_COUNT(NAMES); i++) {
        rc = read_name(job, NAMES[i], &texts[i], err);
    }
    rc = rc != 0 ? rc : check_name(rules, texts[CHARGE_NAME], err);
    return rc != 0 ? rc : check_parts(rules, texts[CHARGE_GROUP], texts[CHARGE_USER], err);
}
