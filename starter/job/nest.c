/* starter/job/nest.c - what is kept of a run's directory for the claim's next run ("the nest").
 *
 * Making and removing directories and files costs a file system more than a short job: whenever
 * ext4 makes an inode, it looks at each inode freed in the last seconds.  So the directory of a run
 * that ended without incident is emptied instead of removed.  The next run uses its inodes under
 * its own name, which the startd gives it (startd/starters.c).
 *
 * Only as root, and only after a job in namespaces: then nobody but us can be in what is kept once
 * its processes are gone.  Each part belongs to us alone while it is kept, was found empty, and has
 * no attributes left by its last user (os_renew_directory()).  Otherwise, or if the directory
 * contains anything unknown, everything is removed.
 *
 * The cgroup is kept in the same way, if nothing of its use remains; it keeps the name of the run
 * for which it was made.
 *
 * What is removed is renamed first: the startd, which may be about to take it for the next run,
 * finds it complete or not at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/nest.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/os/os_cgroup.h"
#include "base/strbuf.h"
#include "starter/job/cage.h"
#include "starter/job_run.h"
#include "starter/starter.h"

#define SANDBOX_MODE 0700
#define EMPTIED_MS   5000 /* for killed processes to be gone */

/* Files that are in each sandbox; they are kept beside it between runs. */
static const char *const ADS[] = {STARTER_JOB_AD, STARTER_MACHINE_AD};

static char *join_path(const char *directory, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", directory, name);
    char *text = strbuf_take(&path);
    strbuf_fini(&path);
    return text;
}

char *nest_ad_path(const struct starter *starter, const char *name)
{
    return join_path(starter->run.directory, name);
}

static bool is_ours(const struct os_stat *stat)
{
    return stat->is_file && stat->uid == 0;
}

/* Moves the ad files out of the sandbox.  The job may have put something else in their place: a
 * file of root's is one that we made.  If the run ended early the sandbox still belongs to the
 * account, and another process of it may replace the file at any moment.  So a moved file is
 * checked again where it is ours, and no link is followed. */
static void save_ads(struct starter *starter)
{
    struct os *os = starter->env.os;
    const char *top = starter->run.directory;
    for (size_t i = 0; i < sizeof ADS / sizeof ADS[0]; i++) {
        struct os_stat stat;
        if (os_below_stat(os, starter->run.sandbox, ADS[i], &stat) != 0 || !is_ours(&stat) ||
            os_below_rename(os, starter->run.sandbox, ADS[i], top, ADS[i], NULL) != 0) {
            continue; /* it goes as the rest */
        }
        if (os_below_stat(os, top, ADS[i], &stat) != 0 || !is_ours(&stat) ||
            os_below_chmod(os, top, ADS[i], STARTER_AD_BESIDE_MODE, NULL) != 0) {
            (void)os_below_remove(os, top, ADS[i], NULL); /* is made anew */
        }
    }
}

struct look {
    struct starter *starter;
    bool is_clean;
};

static void look_at(void *arg, const char *name)
{
    static const char *const KNOWN[] = {"job.record", STARTER_CGROUPS_FILE, STARTER_LEASE_FILE,
                                        STARTER_JOB_AD, STARTER_MACHINE_AD};
    struct look *look = arg;
    struct err err;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (strcmp(name, KNOWN[i]) == 0) {
            return;
        }
    }
    if (!look->is_clean) {
        return;
    }
    char *path = join_path(look->starter->run.directory, name);
    const char *inner = cage_scratch_inner(look->starter, path);
    bool mine = strcmp(path, look->starter->run.sandbox) == 0 || inner != NULL;
    if (!mine || os_renew_directory(look->starter->env.os, path, inner, SANDBOX_MODE, &err) != 0) {
        log_info(look->starter->env.log, "nest.not_kept", mine ? err.text : path,
                 LOG_TEXT("job", look->starter->run.job_id));
        look->is_clean = false;
    }
    mem_free(path);
}

static bool may_keep(const struct starter *starter)
{
    return job_run_may_stay(starter) && starter->run.account.change_user && cage_has_walls(starter);
}

static void remove_group(struct starter *starter)
{
    struct err err;
    if (starter->nest.group != NULL &&
        os_cgroup_remove(starter->nest.group, EMPTIED_MS, &err) != 0) {
        log_error(starter->env.log, "cgroup.remove", err.text);
        starter->run.end.odd = true;
    }
    os_cgroup_close(starter->nest.group);
    starter->nest.group = NULL;
    mem_free(starter->nest.cpus);
    starter->nest.cpus = NULL;
}

bool nest_keep_group(struct starter *starter, struct os_cgroup *group,
                     const struct os_cgroup_limits *limits)
{
    struct err err;
    if (!may_keep(starter)) {
        return false;
    }
    if (os_cgroup_renew(group, EMPTIED_MS, &err) != 0) {
        log_debug(starter->env.log, "nest.no_group", err.text,
                  LOG_TEXT("job", starter->run.job_id));
        return false;
    }
    remove_group(starter); /* there is none */
    starter->nest.group = group;
    starter->nest.limits = *limits;
    starter->nest.cpus = limits->cpu_list != NULL ? mem_strdup(limits->cpu_list) : NULL;
    starter->nest.limits.cpu_list = starter->nest.cpus;
    return true;
}

static bool are_same(const struct os_cgroup_limits *a, const struct os_cgroup_limits *b)
{
    return a->memory_bytes == b->memory_bytes && a->no_swap == b->no_swap &&
           a->processes == b->processes && a->cpu_weight == b->cpu_weight && !(a->cpus < b->cpus) &&
           !(a->cpus > b->cpus) && (a->cpu_list == NULL) == (b->cpu_list == NULL) &&
           (a->cpu_list == NULL || strcmp(a->cpu_list, b->cpu_list) == 0);
}

struct os_cgroup *nest_take_group(struct starter *starter, const struct os_cgroup_limits *limits)
{
    if (!are_same(limits, &starter->nest.limits)) {
        remove_group(starter);
    }
    struct os_cgroup *group = starter->nest.group;
    starter->nest.group = NULL;
    remove_group(starter); /* what is known of it */
    return group;
}

bool nest_keep(struct starter *starter)
{
    struct look look = {.starter = starter, .is_clean = true};
    if (!may_keep(starter)) {
        remove_group(starter);
        return false;
    }
    save_ads(starter);
    if (os_list(starter->env.os, starter->run.directory, look_at, &look, NULL) != 0 ||
        !look.is_clean) {
        remove_group(starter); /* the note of it goes with the directory */
        return false;
    }
    starter->nest.directory = mem_strdup(starter->run.directory);
    return true;
}

bool nest_has_sandbox(struct starter *starter)
{
    struct os_stat stat;
    bool has = starter->nest.directory != NULL && starter->runs > 1 &&
               os_stat(starter->env.os, starter->run.sandbox, &stat) == 0 && stat.is_dir;
    if (has) { /* it has this run's name now */
        mem_free(starter->nest.directory);
        starter->nest.directory = NULL;
        return true;
    }
    nest_remove(starter);
    return false;
}

void nest_remove(struct starter *starter)
{
    struct err err;
    remove_group(starter);
    if (starter->nest.directory == NULL) {
        return;
    }
    char *aside = NULL;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s.old", starter->nest.directory);
    aside = strbuf_take(&path);
    strbuf_fini(&path);
    if (os_rename(starter->env.os, starter->nest.directory, aside, false, NULL) == 0 &&
        os_remove_tree(starter->env.os, aside, &err) != 0) {
        log_error(starter->env.log, "sandbox.remove", err.text);
    }
    mem_free(aside);
    mem_free(starter->nest.directory);
    starter->nest.directory = NULL;
}
