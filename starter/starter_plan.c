/* starter/starter_plan.c - decisions of the starter: see starter_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/starter_plan.h"

#include <errno.h>
#include <string.h>

#include "base/args.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/signal_name.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/checkpoint_attrs.h"

#define GAP_SLACK_MS 1000
#define LATE_MS      50
#define LEASE_MAX_S  86400

int starter_plan_argv(const struct ad *job, const char *program, struct vec *words, struct err *err)
{
    vec_push(words, mem_strdup(program));
    const char *text;
    int rc = 0;
    if (ad_get_string(job, "Arguments", &text) == 0) {
        rc = args_parse_v2(text, words, err);
        return rc != 0 ? err_prefix(err, rc, "Arguments") : 0;
    }
    if (ad_get_string(job, "Args", &text) == 0) {
        rc = args_parse_v1(text, words, err);
        return rc != 0 ? err_prefix(err, rc, "Args") : 0;
    }
    return 0;
}

/* Adds NAME=value unless the name is there already. */
static void add_default(struct vec *entries, const char *name, const char *value)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < entries->count; i++) {
        const char *entry = entries->items[i];
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
            return;
        }
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s=%s", name, value);
    vec_push(entries, strbuf_take(&text));
    strbuf_fini(&text);
}

static void add_number(struct vec *entries, const char *name, int64_t value)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%lld", (long long)value);
    add_default(entries, name, strbuf_text(&text));
    strbuf_fini(&text);
}

/* Removes variables that we set and the job may not set, except the one for its images. */
static void remove_ours(struct vec *entries)
{
    for (size_t i = entries->count; i > 0; i--) {
        char *entry = entries->items[i - 1];
        if (strncmp(entry, CKPT_ENV_CPU "=", strlen(CKPT_ENV_CPU "=")) != 0 &&
            (strncmp(entry, "_CONDOR_", 8) == 0 || strncmp(entry, "ROOST_", 6) == 0)) {
            vec_remove_at(entries, i - 1);
            mem_free(entry);
        }
    }
}

/* Names the units of custom resources that the job has, as _CONDOR_AssignedGPUs=CUDA0,CUDA1 and in
 * the form that CUDA reads.  A job that was given none sees none. */
static void add_assigned(const struct ad *machine, struct vec *entries)
{
    static const char PREFIX[] = "Assigned";
    size_t at = 0;
    const char *name;
    while (ad_next(machine, &at, &name, NULL)) {
        const char *units;
        if (strncmp(name, PREFIX, sizeof(PREFIX) - 1) != 0 ||
            ad_get_string(machine, name, &units) != 0) {
            continue;
        }
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_printf(&text, "_CONDOR_%s", name);
        add_default(entries, strbuf_text(&text), units);
        if (ad_name_compare(name, "AssignedGPUs") == 0) {
            strbuf_clear(&text);
            for (const char *unit = units; *unit != '\0'; unit++) {
                bool begins = unit == units || unit[-1] == ',';
                unit += begins && strncmp(unit, "CUDA", 4) == 0 ? 4 : 0;
                if (*unit == '\0') {
                    break;
                }
                strbuf_putc(&text, *unit);
            }
            add_default(entries, "CUDA_VISIBLE_DEVICES", strbuf_text(&text));
        }
        strbuf_fini(&text);
    }
}

/* Adds what the site gives every job; the job's own variables win. */
static int add_site(struct vec *entries, const char *text, struct err *err)
{
    struct vec site = {0};
    int rc = env_parse_v2(text, &site, err);
    for (size_t i = 0; i < site.count && rc == 0; i++) {
        char *entry = site.items[i];
        char *value = strchr(entry, '=');
        if (value != NULL) {
            *value = '\0';
            add_default(entries, entry, value + 1);
        }
    }
    vec_fini(&site, mem_free);
    return rc != 0 ? err_prefix(err, rc, "STARTER_JOB_ENVIRONMENT") : 0;
}

int starter_plan_env(const struct ad *job, const struct starter_place *place, struct vec *entries,
                     struct err *err)
{
    const char *text;
    int rc = 0;
    if (ad_get_string(job, "Environment", &text) == 0) {
        rc = env_parse_v2(text, entries, err);
    } else if (ad_get_string(job, "Env", &text) == 0) {
        rc = env_parse_v1(text, entries, err);
    }
    if (rc != 0) {
        return err_prefix(err, rc, "environment");
    }
    remove_ours(entries);
    add_default(entries, "_CONDOR_SCRATCH_DIR", place->sandbox);
    add_default(entries, "_CONDOR_SLOT", place->slot);
    add_default(entries, "_CONDOR_JOB_IWD", place->sandbox);
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/.job.ad", place->sandbox);
    add_default(entries, "_CONDOR_JOB_AD", strbuf_text(&path));
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/.machine.ad", place->sandbox);
    add_default(entries, "_CONDOR_MACHINE_AD", strbuf_text(&path));
    if (place->wrapper_errors != NULL) {
        strbuf_clear(&path);
        strbuf_printf(&path, "%s/%s", place->sandbox, place->wrapper_errors);
        add_default(entries, "_CONDOR_WRAPPER_ERROR_FILE", strbuf_text(&path));
    }
    strbuf_fini(&path);
    add_default(entries, "ROOST_STARTER_DIR", place->directory);
    add_default(entries, "ROOST_BOOT_ID", place->boot_id);
    add_number(entries, "ROOST_BOOT_TIME", place->boot_time_s);
    for (size_t i = 0; place->threads != NULL && place->threads[i] != NULL; i++) {
        add_number(entries, place->threads[i], place->cpus > 0 ? place->cpus : 1);
    }
    add_default(entries, "BATCH_SYSTEM", "HTCondor"); /* programs look for that word */
    if (place->machine != NULL) {
        add_assigned(place->machine, entries);
    }
    if (rc == 0 && place->site != NULL) {
        rc = add_site(entries, place->site, err);
    }
    add_default(entries, "PATH", "/usr/local/bin:/usr/bin:/bin");
    add_default(entries, "TMPDIR", place->sandbox);
    add_default(entries, "TMP", place->sandbox);
    add_default(entries, "TEMP", place->sandbox);
    return rc;
}

static bool is_ours(const char *name)
{
    return strncmp(name, "_condor_", 8) == 0 || strcmp(name, "condor_exec.exe") == 0 ||
           strcmp(name, ".job.ad") == 0 || strcmp(name, ".machine.ad") == 0;
}

static bool is_unchanged(const struct starter_file *before, size_t count,
                         const struct starter_file *file)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(before[i].name, file->name) == 0) {
            return before[i].size_bytes == file->size_bytes && before[i].mtime_s == file->mtime_s;
        }
    }
    return false;
}

void starter_plan_outputs(const struct starter_file *before, size_t before_count,
                          const struct starter_file *after, size_t after_count, struct vec *ret)
{
    for (size_t i = 0; i < after_count; i++) {
        const struct starter_file *file = &after[i];
        if (file->is_file && !is_ours(file->name) && !is_unchanged(before, before_count, file)) {
            vec_push(ret, mem_strdup(file->name));
        }
    }
}

const char *starter_plan_account(const struct ad *job, const char *uid_domain)
{
    const char *owner, *user;
    if (ad_get_string(job, "Owner", &owner) != 0 || ad_get_string(job, "User", &user) != 0 ||
        strcmp(owner, "root") == 0 || uid_domain == NULL) {
        return NULL;
    }
    size_t length = strlen(owner); /* the ad comes from a shadow, which runs as its owner */
    bool same = length > 0 && strncmp(user, owner, length) == 0 && user[length] == '@';
    return same && ad_name_compare(user + length + 1, uid_domain) == 0 ? owner : NULL;
}

bool starter_plan_may_run_as(uint32_t uid, uint32_t gid)
{
    return uid != 0 && gid != 0;
}

bool starter_plan_is_gap(uint64_t last_ms, uint64_t now_ms, uint64_t tick_ms, int64_t lease_s)
{
    return now_ms > last_ms + tick_ms + (uint64_t)lease_s * 1000 / 3;
}

bool starter_plan_renews(int64_t end_ms, int64_t length_s, uint64_t known_sent_ms,
                         uint64_t *sent_ms)
{
    if (length_s < 1 || length_s > LEASE_MAX_S || end_ms <= length_s * 1000) {
        return false;
    }
    *sent_ms = (uint64_t)(end_ms - length_s * 1000);
    return *sent_ms > known_sent_ms;
}

bool starter_plan_ends_gap(uint64_t sent_ms, uint64_t gap_ms)
{
    return sent_ms + GAP_SLACK_MS >= gap_ms;
}

bool starter_plan_is_late(uint64_t end_ms, uint64_t now_ms)
{
    return now_ms > end_ms + LATE_MS;
}

/* ---- when it begins, how it is told to end ----------------------------------------------------
 */

/* Evaluates an attribute as a number.  0 and *ret; -ENOENT: undefined or absent; -EINVAL: not a
 * number. */
static int number_of(const struct ad *job, const char *name, int64_t now_s, int64_t *ret)
{
    const struct ad_context context = {.now_s = now_s};
    struct ad_value value;
    if (!ad_has(job, name) || ad_eval_attr(job, NULL, name, &context, &value) != 0) {
        return -ENOENT;
    }
    int rc = -EINVAL;
    if (value.type == AD_TYPE_INT) {
        *ret = value.integer;
        rc = 0;
    } else if (value.type == AD_TYPE_REAL && value.real > -9e15 && value.real < 9e15) {
        *ret = (int64_t)value.real;
        rc = 0;
    } else if (value.type == AD_TYPE_UNDEFINED) {
        rc = -ENOENT;
    }
    ad_value_fini(&value);
    return rc;
}

enum starter_deferral starter_plan_deferral_read(const struct ad *job, int64_t now_s,
                                                 int64_t *begin_s, int64_t *until_s)
{
    int64_t window_s = 0;
    int rc = number_of(job, "DeferralTime", now_s, begin_s);
    if (rc == -ENOENT) {
        return DEFERRAL_NONE;
    }
    if (rc != 0 || *begin_s <= 0) {
        return DEFERRAL_INVALID;
    }
    if (number_of(job, "DeferralWindow", now_s, &window_s) != 0 || window_s < 0) {
        window_s = 0;
    }
    *until_s = *begin_s > INT64_MAX - window_s ? INT64_MAX : *begin_s + window_s;
    return DEFERRAL_WAITS;
}

enum starter_stop_kind starter_plan_stop_kind(const char *word)
{
    return strcmp(word, "Remove") == 0 ? STOP_REMOVED
           : strcmp(word, "Hold") == 0 ? STOP_HELD
                                       : STOP_OTHER;
}

int starter_plan_soft_signal(const struct ad *job, enum starter_stop_kind kind)
{
    static const char *const OWN[] = {
        [STOP_OTHER] = "KillSig", [STOP_REMOVED] = "RemoveKillSig", [STOP_HELD] = "HoldKillSig"};
    int number = signal_name_number(ad_string_or(job, OWN[kind], ""));
    number = number != 0 ? number : signal_name_number(ad_string_or(job, "KillSig", ""));
    return number != 0 ? number : signal_name_number("SIGTERM");
}

int64_t starter_plan_grace_s(const struct ad *job, int64_t grace_s)
{
    int64_t own_s = ad_int_or(job, "KillSigTimeout", -1);
    return own_s >= 0 && own_s < grace_s ? own_s : grace_s;
}
