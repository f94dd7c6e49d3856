/* starter/starter_plan.h - the starter's judgements: what runs with what around it, what comes
 * back.
 *
 * Pure: ads and lists in, lists out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_STARTER_PLAN_H
#define STARTER_STARTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct err;
struct vec;

#define STARTER_STDOUT "_condor_stdout"
#define STARTER_STDERR "_condor_stderr"

/* argv of the job into words (mem_ blocks): the program first, then Arguments (V2) or Args (V1).
 * program is the absolute path.  -EINVAL names the attribute. */
int starter_plan_argv(const struct ad *job, const char *program, struct vec *words,
                      struct err *err);

struct starter_place {     /* what the machine adds to a job's environment; all borrowed */
    const char *sandbox;   /* absolute */
    const char *directory; /* the starter's: the mark by which leftovers are found */
    const char *slot;
    const char *boot_id;
    int64_t boot_time_s;
    int64_t cpus;
    const char *const *threads; /* names that are set to cpus; NULL-terminated; may be NULL */
    const char *site;           /* NAME=value ... (V2) for every job of this machine; may be NULL */
    const char *wrapper_errors; /* the file of the site's wrapper for it; NULL: there is none */
    const struct ad *machine;   /* the slot's ad: Assigned<resource>; may be NULL */
};
/* The job's environment into entries (mem_ blocks): its own wins over what the machine adds, but
 * for the names that begin with _CONDOR_ and ROOST_. */
int starter_plan_env(const struct ad *job, const struct starter_place *place, struct vec *entries,
                     struct err *err);

/* A file at the top of the sandbox, before and after the job. */
struct starter_file {
    const char *name;
    int64_t size_bytes;
    int64_t mtime_s;
    bool is_file;
};
/* Which files go back when the job names none: the new and the changed, never the executable, the
 * job's ad files, stdout and stderr (they go in any case).  Names into ret (mem_ blocks), in the
 * order of `after`. */
void starter_plan_outputs(const struct starter_file *before, size_t before_count,
                          const struct starter_file *after, size_t after_count, struct vec *ret);

/* The account a job gets on a machine whose starter is root: its owner's when User is Owner@domain
 * of this domain and it is not root, else NULL (the slot's low user). */
const char *starter_plan_account(const struct ad *job, const char *uid_domain);

/* Neither root nor a member of root's group: the least that an account of jobs must be. */
bool starter_plan_may_run_as(uint32_t uid, uint32_t gid);

enum starter_deferral { DEFERRAL_NONE, DEFERRAL_WAITS, DEFERRAL_INVALID };
/* May the job begin at once, or not before *begin_s, and not after *until_s (DeferralTime,
 * DeferralWindow: expressions, evaluated at now_s)?  A window that is no number is 0. */
enum starter_deferral starter_plan_deferral_read(const struct ad *job, int64_t now_s,
                                                 int64_t *begin_s, int64_t *until_s);

enum starter_stop_kind { STOP_OTHER, STOP_REMOVED, STOP_HELD };
/* "Remove", "Hold"; anything else: STOP_OTHER. */
enum starter_stop_kind starter_plan_stop_kind(const char *word);
/* The soft signal: RemoveKillSig, HoldKillSig where the job has them, else KillSig, else SIGTERM.
 */
int starter_plan_soft_signal(const struct ad *job, enum starter_stop_kind kind);
/* Seconds between that and KILL: KillSigTimeout of the job where that is less than what it gets. */
int64_t starter_plan_grace_s(const struct ad *job, int64_t grace_s);

/* Has the clock jumped (suspend, restored guest)?  tick_ms is the interval that was asked for. */
bool starter_plan_is_gap(uint64_t last_ms, uint64_t now_ms, uint64_t tick_ms, int64_t lease_s);

#endif
