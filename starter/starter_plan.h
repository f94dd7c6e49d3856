/* starter/starter_plan.h - decisions of the starter: command line, environment, output files,
 * account, signals.
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

/* Names, in the sandbox, of the job's standard output and error. */
#define STARTER_STDOUT "_condor_stdout"
#define STARTER_STDERR "_condor_stderr"

/* Appends the job's command line to words (mem_ blocks): program, an absolute path, then the words
 * of Arguments (V2) or Args (V1).  0, or -EINVAL with err naming the attribute. */
int starter_plan_argv(const struct ad *job, const char *program, struct vec *words,
                      struct err *err);

struct starter_place { /* what the machine adds to a job's environment; all pointers are borrowed */
    const char *sandbox;   /* absolute */
    const char *directory; /* of the run; leftover processes are found by this value */
    const char *slot;
    const char *boot_id;
    int64_t boot_time_s;
    int64_t cpus;               /* of the slot */
    const char *const *threads; /* variables that are set to cpus; ends with NULL; may be NULL */
    const char *site; /* NAME=value ... (V2), added to every job of this machine; may be NULL */
    const char *wrapper_errors; /* file name for messages of USER_JOB_WRAPPER; NULL: no wrapper */
    const struct ad *machine;   /* the slot's ad, read for Assigned<resource>; may be NULL */
};
/* Appends the job's environment to entries (mem_ blocks, "NAME=value"): the job's variables first,
 * then what the machine adds where the job has not set it.  The job cannot set names that begin
 * with _CONDOR_ or ROOST_, except the one that limits CPU features for checkpoints.  0, or -errno
 * with err filled. */
int starter_plan_env(const struct ad *job, const struct starter_place *place, struct vec *entries,
                     struct err *err);

/* A file at the top of the sandbox, as found before or after the job ran. */
struct starter_file {
    const char *name;
    int64_t size_bytes;
    int64_t mtime_s;
    bool is_file;
};
/* Chooses the files that go back when the job names none: those that are new or changed.  Leaves
 * out the executable, the two ad files, stdout and stderr (which always go).  Appends the names to
 * ret (mem_ blocks), in the order of `after`. */
void starter_plan_outputs(const struct starter_file *before, size_t before_count,
                          const struct starter_file *after, size_t after_count, struct vec *ret);

/* Returns the account for a job when the starter is root: Owner, if User is Owner@uid_domain and
 * Owner is not root.  NULL: use the slot's account.  Borrowed from the job ad. */
const char *starter_plan_account(const struct ad *job, const char *uid_domain);

/* Returns whether jobs may run as this account: it is not root and not in root's group. */
bool starter_plan_may_run_as(uint32_t uid, uint32_t gid);

/* NONE: start at once; WAITS: start at a set time; INVALID: DeferralTime is not a time. */
enum starter_deferral { DEFERRAL_NONE, DEFERRAL_WAITS, DEFERRAL_INVALID };
/* Reads when the job may begin: not before *begin_s and not after *until_s, seconds since 1970.
 * Both are set only for DEFERRAL_WAITS.  Evaluates the job's DeferralTime and DeferralWindow at
 * now_s; a DeferralWindow that is not a number counts as 0. */
enum starter_deferral starter_plan_deferral_read(const struct ad *job, int64_t now_s,
                                                 int64_t *begin_s, int64_t *until_s);

/* Why a run is stopped: the job was removed, held, or anything else. */
enum starter_stop_kind { STOP_OTHER, STOP_REMOVED, STOP_HELD };
/* Translates the word of the startd's message: "Remove", "Hold"; any other is STOP_OTHER. */
enum starter_stop_kind starter_plan_stop_kind(const char *word);
/* Returns the signal that asks the job to end: RemoveKillSig or HoldKillSig for that kind of stop,
 * else KillSig, else SIGTERM. */
int starter_plan_soft_signal(const struct ad *job, enum starter_stop_kind kind);
/* Returns the seconds between the soft signal and KILL: grace_s, or the job's KillSigTimeout if
 * that is less. */
int64_t starter_plan_grace_s(const struct ad *job, int64_t grace_s);

/* Returns whether the clock has jumped (machine suspended, virtual machine restored): much more
 * time than tick_ms, the interval that was asked for, has passed since last_ms. */
bool starter_plan_is_gap(uint64_t last_ms, uint64_t now_ms, uint64_t tick_ms, int64_t lease_s);

#endif
