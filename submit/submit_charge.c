/* submit/submit_charge.c - accounting_group, nice_user, concurrency_limits: to whose account a job
 * is charged, and which limited things it uses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/submit_job.h"
#include "submit/submit_making.h"

/* Returns whether this is a valid name of a submitter: letters, digits, '_', '-' and single dots
 * between them. */
static bool is_submitter(const char *name)
{
    for (const char *at = name; *at != '\0'; at++) {
        bool word = (text_lower(*at) >= 'a' && text_lower(*at) <= 'z') ||
                    (*at >= '0' && *at <= '9') || strchr("._-", *at) != NULL;
        if (!word || (*at == '.' && (at == name || at[1] == '.' || at[1] == '\0'))) {
            return false;
        }
    }
    return name[0] != '\0';
}

static int set_account(struct submit_making *making, const char *group, const char *user,
                       struct err *err)
{
    if (group != NULL && !is_submitter(group)) {
        return making_refuse(making, err,
                             "Invalid accounting_group: %.100s: expected letters, digits, '_', '-' "
                             "and single dots between them",
                             group);
    }
    if (user == NULL || !is_submitter(user)) {
        return making_refuse(making, err, "Invalid accounting_group_user: %.100s",
                             user != NULL ? user : "");
    }
    const char *own = making->place->user;
    if (making->place->own_charge_only && own != NULL && strcmp(user, own) != 0) {
        return making_refuse(making, err,
                             "accounting_group_user '%.100s' would charge another user: jobs of "
                             "'%s' are charged to '%s', in any accounting_group; ACCOUNTING_MAP "
                             "is not set",
                             user, own, own);
    }
    struct strbuf name;
    strbuf_init(&name, 0);
    ad_set_string(making->ad, "AcctGroupUser", user);
    if (group != NULL) {
        ad_set_string(making->ad, "AcctGroup", group);
        strbuf_printf(&name, "%s.", group);
    }
    strbuf_puts(&name, user);
    ad_set_string(making->ad, "AccountingGroup", strbuf_text(&name));
    strbuf_fini(&name);
    return 0;
}

int charge_set_account(struct submit_making *making, struct err *err)
{
    char *group = NULL, *user = NULL;
    bool nice = false;
    int rc = making_bool_of(making, "nice_user", "NiceUser", &nice, NULL, err);
    rc = rc != 0 ? rc : making_value(making, "accounting_group_user", "AcctGroupUser", &user, err);
    rc = rc != 0 ? rc : making_value(making, "accounting_group", "AccountingGroup", &group, err);
    if (rc == 0 && nice) {
        const char *nobody = making_site(making, "NICE_USER_ACCOUNTING_GROUP_NAME", "nice-user");
        if (group == NULL) {
            group = mem_strdup(nobody);
        } else if (strcmp(group, nobody) != 0) {
            making_warn(making,
                        "nice_user conflicts with accounting_group. nice_user will be ignored");
        }
        ad_set_int(making->ad, "MaxJobRetirementTime", 0); /* its own wish, if any, comes later */
    }
    if (rc == 0 && (group != NULL || user != NULL)) {
        rc = set_account(making, group, user != NULL ? user : making->place->user, err);
    }
    mem_free(group);
    mem_free(user);
    return rc;
}

/* Returns whether this is a concurrency limit: NAME or NAME:COUNT, with at most one dot in NAME. */
static bool is_limit(const char *text)
{
    double count = 1;
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    return name > 0 && (text[name] == '\0' ||
                        (text[name] == ':' &&
                         text_parse_double(text + name + 1, &count, NULL) == 0 && count >= 0));
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Sets ConcurrencyLimits in one form, whatever way it was written: "SW.b:2, a" becomes
 * "a,sw.b:2". */
static int set_limits(struct submit_making *making, char *value, struct err *err)
{
    struct vec names = {0};
    struct strbuf text;
    int rc = 0;
    for (char *at = value; *at != '\0'; at++) {
        *at = text_lower(*at);
    }
    making_split(value, ", \t\n", &names);
    for (size_t i = 0; i < names.count && rc == 0; i++) {
        if (!is_limit(names.items[i])) {
            rc = making_refuse(making, err,
                               "Invalid concurrency limit '%.100s': NAME or NAME:COUNT is expected",
                               (const char *)names.items[i]);
        }
    }
    strbuf_init(&text, 0);
    if (names.count > 1) {
        qsort(names.items, names.count, sizeof(char *), by_text);
    }
    making_join(&names, &text);
    if (rc == 0 && names.count > 0) {
        ad_set_string(making->ad, "ConcurrencyLimits", strbuf_text(&text));
    }
    strbuf_fini(&text);
    vec_fini(&names, mem_free);
    return rc;
}

int charge_set_limits(struct submit_making *making, struct err *err)
{
    char *value = NULL, *expr = NULL;
    int rc = making_value(making, "concurrency_limits", NULL, &value, err);
    unsigned line = making->line;
    rc = rc != 0 ? rc : making_value(making, "concurrency_limits_expr", NULL, &expr, err);
    making->line = value != NULL ? line : making->line;
    if (rc == 0 && value != NULL && expr != NULL) {
        rc = making_refuse(making, err,
                           "concurrency_limits and concurrency_limits_expr can't be used together");
    } else if (rc == 0 && value != NULL) {
        rc = set_limits(making, value, err);
    } else if (rc == 0 && expr != NULL) {
        rc = making_expr(making, "ConcurrencyLimits", expr, err);
    }
    mem_free(value);
    mem_free(expr);
    return rc;
}
