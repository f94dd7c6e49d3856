/* factory/site_logs.c - see site_logs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/site_logs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "factory/log_plan.h"
#include "factory/site.h"
#include "factory/site_words.h"

#define WANTED_MAX 32 /* logs of a site that wait */

struct site_log {
    int64_t id;
    char name[GLIDEIN_NAME_MAX];
    bool is_to_keep; /* no order waits for it */
    bool is_done, is_found;
    char *text;
};

static void free_log(void *item)
{
    struct site_log *log = item;
    mem_free(log->text);
    mem_free(log);
}

static struct site_log *find_log(const struct site *site, int64_t id, size_t *at)
{
    const struct vec *wanted = &site->logs.wanted;
    for (size_t i = 0; i < wanted->count; i++) {
        struct site_log *log = wanted->items[i];
        if (log->id == id) {
            *at = i;
            return log;
        }
    }
    return NULL;
}

static int64_t add_log(struct site *site, const char *name, bool is_to_keep)
{
    if (site->logs.wanted.count >= WANTED_MAX) {
        return -EBUSY;
    }
    struct site_log *log = mem_zalloc(sizeof(*log));
    log->id = ++site->logs.last_id;
    log->is_to_keep = is_to_keep;
    (void)snprintf(log->name, sizeof(log->name), "%s", name);
    vec_push(&site->logs.wanted, log);
    return log->id;
}

int64_t site_logs_want(struct site *site, const char *name)
{
    return add_log(site, name, false);
}

void site_logs_drop(struct site *site, int64_t id)
{
    size_t at;
    struct site_log *log = find_log(site, id, &at);
    if (log != NULL) {
        vec_remove_at(&site->logs.wanted, at);
        free_log(log);
    }
}

void site_logs_keep(struct site *site, const char *name)
{
    for (size_t i = 0; i < site->logs.wanted.count; i++) {
        const struct site_log *log = site->logs.wanted.items[i];
        if (log->is_to_keep) {
            return; /* many end at the same time: one tells why */
        }
    }
    (void)add_log(site, name, true);
}

const char *site_logs_next(struct site *site)
{
    for (size_t i = 0; i < site->logs.wanted.count; i++) {
        const struct site_log *log = site->logs.wanted.items[i];
        if (!log->is_done) {
            site->logs.asked_id = log->id;
            return log->name;
        }
    }
    return NULL;
}

static void keep_end(struct site *site, const struct site_log *log)
{
    struct site_logs *logs = &site->logs;
    mem_free(logs->kept);
    logs->kept = mem_strdup(log_plan_end(log->text, SITE_LOGS_KEPT));
    (void)snprintf(logs->kept_of, sizeof(logs->kept_of), "%s", log->name);
    log_plan_last_line(logs->kept, logs->kept_line, sizeof(logs->kept_line));
}

void site_logs_answered(struct site *site, const struct site_answer *answer)
{
    size_t at;
    struct site_log *log = find_log(site, site->logs.asked_id, &at);
    if (log == NULL) {
        return; /* dropped meanwhile */
    }
    log->is_done = true;
    log->is_found = answer->outcome == SITE_DONE;
    log->text = mem_strdup(log_plan_end(answer->text, SITE_LOGS_BYTES));
    if (log->is_to_keep) {
        if (log->is_found) {
            keep_end(site, log);
        }
        site_logs_drop(site, log->id);
    }
}

bool site_logs_take(struct site *site, int64_t id, bool *found, char **text)
{
    size_t at;
    struct site_log *log = find_log(site, id, &at);
    if (log == NULL || !log->is_done) {
        return false;
    }
    *found = log->is_found;
    *text = log->text;
    log->text = NULL;
    site_logs_drop(site, id);
    return true;
}

const char *site_logs_kept(const struct site *site, const char *name)
{
    return site->logs.kept != NULL && strcmp(site->logs.kept_of, name) == 0 ? site->logs.kept
                                                                            : NULL;
}

void site_logs_put(const struct site *site, struct ad *ad)
{
    if (site->logs.kept != NULL) {
        ad_set_string(ad, "LogOf", site->logs.kept_of);
        ad_set_string(ad, "LogEnd", site->logs.kept_line);
    }
}

void site_logs_fini(struct site *site)
{
    vec_fini(&site->logs.wanted, free_log);
    mem_free(site->logs.kept);
}
