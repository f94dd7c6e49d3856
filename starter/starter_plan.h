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

/* STARTER_STDOUT and STARTER_STDERR are the names of the files in the sandbox for the job's
 * standard output and standard error. */
#define STARTER_STDOUT "_condor_stdout"
#define STARTER_STDERR "_condor_stderr"

/* Appends the job's command line to words (strings that the caller frees): program, which is an
 * absolute path, then the words of the job's Arguments (V2 syntax) or Args (V1 syntax).  Returns 0;
 * or -EINVAL, with the name of the malformed attribute in err. */
int starter_plan_argv(const struct ad *job, const char *program, struct vec *words,
                      struct err *err);

/* What the machine adds to a job's environment; all pointers are borrowed. */
struct starter_place {
    const char *sandbox; /* absolute path of the sandbox */
    /* the run's directory; processes that a run leaves behind are found by this value in their
     * environment */
    const char *directory;
    const char *slot;
    const char *boot_id;
    int64_t boot_time_s;
    int64_t cpus; /* number of CPUs of the slot */
    /* names of variables that are set to `cpus`, such as OMP_NUM_THREADS; ends with NULL; may be
     * NULL */
    const char *const *threads;
    /* variables for every job of this machine, "NAME=value ..." in V2 syntax; may be NULL */
    const char *site;
    /* name of the file for messages of USER_JOB_WRAPPER; NULL: no such program is configured */
    const char *wrapper_errors;
    const struct ad *machine; /* the slot's ad, read for Assigned<resource>; may be NULL */
};
/* Appends the job's environment to entries (strings that the caller frees, "NAME=value"): the job's
 * own variables first, then variables that the machine adds where the job has not set them.  The
 * job cannot set names that begin with _CONDOR_ or ROOST_, except the variable that limits CPU
 * features for checkpoints.  Returns 0; or -errno, with the reason in err. */
int starter_plan_env(const struct ad *job, const struct starter_place *place, struct vec *entries,
                     struct err *err);

/* A file at the top of the sandbox, as found before or after the job ran. */
struct starter_file {
    const char *name;
    int64_t size_bytes;
    int64_t mtime_s;
    bool is_file;
};
/* Chooses the output files that are sent back if the job names none: files that are new or changed.
 * before[] and after[]: the files before and after the job ran.  Leaves out the executable, the two
 * ad files, and standard output and error, which are always sent.  Appends the names to ret
 * (strings that the caller frees), in the order of `after`. */
void starter_plan_outputs(const struct starter_file *before, size_t before_count,
                          const struct starter_file *after, size_t after_count, struct vec *ret);

/* Returns the name of the account for a job when the starter is root: the job's Owner if its User
 * is Owner@uid_domain and Owner is not root; else NULL, and the slot's account must be used.
 * Borrowed from the job ad. */
const char *starter_plan_account(const struct ad *job, const char *uid_domain);

/* Returns whether jobs may run as this account: it is not root and not in root's group. */
bool starter_plan_may_run_as(uint32_t uid, uint32_t gid);

/* NONE: start the job at once; WAITS: start the job at its DeferralTime; INVALID: DeferralTime is
 * not a valid time. */
enum starter_deferral { DEFERRAL_NONE, DEFERRAL_WAITS, DEFERRAL_INVALID };
/* Reads when the job may begin: not before *begin_s and not after *until_s, seconds since 1970.
 * Both are set only for DEFERRAL_WAITS.  Evaluates the job's DeferralTime and DeferralWindow at
 * now_s; a DeferralWindow that is not a number counts as 0. */
enum starter_deferral starter_plan_deferral_read(const struct ad *job, int64_t now_s,
                                                 int64_t *begin_s, int64_t *until_s);

/* Why a run is stopped: the job was removed, held, or anything else. */
enum starter_stop_kind { STOP_OTHER, STOP_REMOVED, STOP_HELD };
/* Translates the word Kind of the startd's order to stop: "Remove", "Hold"; any other gives
 * STOP_OTHER. */
enum starter_stop_kind starter_plan_stop_kind(const char *word);
/* Returns the soft signal for the job: RemoveKillSig or HoldKillSig of the job for that kind of
 * stop, if set; else its KillSig, if set; else SIGTERM. */
int starter_plan_soft_signal(const struct ad *job, enum starter_stop_kind kind);
/* Returns the seconds between the soft signal and KILL: grace_s, or the job's KillSigTimeout if
 * that is less. */
int64_t starter_plan_grace_s(const struct ad *job, int64_t grace_s);

/* Returns whether the clock has jumped, because the machine was suspended or a virtual machine was
 * restored: from last_ms to now_ms (the last firing of a timer and the present one, on the loop's
 * clock), more has passed than tick_ms, the timer's interval, plus a third of lease_s, the length
 * of the claim's lease. */
bool starter_plan_is_gap(uint64_t last_ms, uint64_t now_ms, uint64_t tick_ms, int64_t lease_s);
/* Judges what the startd says of the lease: it ends at end_ms (ms since boot) and is length_s long.
 * Returns true and sets *sent_ms, when the startd asked for this renewal, if that was after
 * known_sent_ms, the last one known.  Returns false otherwise: what comes late is old news, and
 * changes nothing. */
bool starter_plan_renews(int64_t end_ms, int64_t length_s, uint64_t known_sent_ms,
                         uint64_t *sent_ms);
/* Returns whether a renewal confirms the claim after a gap that was noticed at gap_ms: the renewal
 * was asked for at sent_ms, after the gap and not before.  A startd that goes on a moment before
 * its starter may ask up to a second before the starter notices the gap. */
bool starter_plan_ends_gap(uint64_t sent_ms, uint64_t gap_ms);
/* Returns whether the end of a lease at end_ms is noticed so late that this process must have stood
 * still. */
bool starter_plan_is_late(uint64_t end_ms, uint64_t now_ms);

#endif
