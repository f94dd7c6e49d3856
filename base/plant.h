/* base/plant.h - bugs that a test build contains on purpose, to prove that the simulator finds
 * them.
 *
 * PLANTED(name) is the constant false, unless the build defines ROOST_PLANT_<name> (cmake
 * -DROOST_PLANT=<name>).  So the compiler checks the wrong code in each build, but only that build
 * contains it.  A name that is not in the list below does not compile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_PLANT_H
#define BASE_PLANT_H

enum {
    /* store: reports a transaction as committed before it is committed */
    PLANT_KNOWN_reply_before_commit = 1,
    PLANT_KNOWN_lease_check_skipped = 1, /* a claim counts as alive after the end of its lease */
    PLANT_KNOWN_slot_matched_twice = 1,  /* negotiator: a slot stays free after a match */
    PLANT_KNOWN_offline_ad_lost_on_restart = 1, /* collector: offline ads live in memory only */
    /* startd: resources given to a dynamic slot still count as free. */
    PLANT_KNOWN_piece_given_twice = 1,
    PLANT_KNOWN_wake_without_demand = 1, /* rooster: wakes machines that nobody matched */
    /* shadow: reports a checkpoint as kept without asking the schedd. */
    PLANT_KNOWN_checkpoint_told_early = 1,
    PLANT_KNOWN_checkpoint_not_synced = 1, /* shadow: commits a checkpoint before it is on disk */
    /* starter: resumes a job from its second newest checkpoint. */
    PLANT_KNOWN_checkpoint_of_before = 1,
    PLANT_KNOWN_checkpoint_forgotten = 1, /* schedd: an evicted job starts from its beginning */
    /* schedd: checkpoints of jobs that left the queue are never removed. */
    PLANT_KNOWN_checkpoint_left = 1,
    /* starter: when the check of a checkpoint is killed, takes the checkpoint for damaged */
    PLANT_KNOWN_killed_check_is_damage = 1,
    /* a startd drops a claim that is not made yet without a word, and the schedd does not ask */
    PLANT_KNOWN_claim_unsaid = 1,
    /* rooster: the power method of a machine that does not respond is not asked */
    PLANT_KNOWN_silent_not_asked = 1,
    PLANT_KNOWN_wake_too_early = 1, /* rooster: wakes machines that are still going down */
    /* negotiator: a match that came to nothing still counts as use */
    PLANT_KNOWN_charge_kept = 1,
    /* schedd: commits each job of a submission alone, without a note that others follow */
    PLANT_KNOWN_submission_in_pieces = 1,
    /* schedd: of many jobs that are to be removed, only some are */
    PLANT_KNOWN_removal_in_part = 1,
    /* starter: a job whose keeper was killed counts as ended by itself */
    PLANT_KNOWN_keeper_ends_job = 1,
    /* starter: a job that the kernel killed because the machine has no memory counts as ended */
    PLANT_KNOWN_oom_ends_job = 1,
    PLANT_KNOWN_fork_holds_job = 1, /* starter: holds a job that the machine cannot start now */
    PLANT_KNOWN_lease_timer_missing = 1, /* starter: a job's cage has no lease process */
    /* startd: counts a lease from when it reads the answer, and not from when it asked */
    PLANT_KNOWN_lease_by_remainder = 1,
    PLANT_KNOWN_full_disk_ends = 1,       /* store: a full disk ends the daemon */
    PLANT_KNOWN_damage_unsaid = 1,        /* store: leaves a damaged row out without a word */
    PLANT_KNOWN_uptime_by_wall = 1,       /* startd: its uptime is a difference of wall times */
    PLANT_KNOWN_submit_before_record = 1, /* factory: a submission does not wait for the journal */
    PLANT_KNOWN_breaker_stuck = 1,     /* factory: a site that failed once is never asked again */
    PLANT_KNOWN_breaker_missing = 1,   /* factory: a site that fails is asked again at once */
    PLANT_KNOWN_multiplicity_kept = 1, /* factory: samples stand for what a site has no room for */
    PLANT_KNOWN_sample_kept = 1,    /* factory: samples stay when their site's section is removed */
    PLANT_KNOWN_settle_ignored = 1, /* factory: what one look does not show is gone */
    PLANT_KNOWN_removal_of_all = 1, /* factory: removes all that it may, at once */
};

/* PLANTED(name) is 1 in a build that defines ROOST_PLANT_<name> as 1, and 0 in any other.  How:
 * PLANT_VALUE_ yields the second element of a list.  If ROOST_PLANT_x is undefined,
 * PLANT_SLOT_ROOST_PLANT_x is one unknown word, and the list is (word 1, 0, 0); if it is 1,
 * PLANT_SLOT_1 expands to "0," and the list is (0, 1, 0, 0). */
#define PLANTED(name)                     (PLANT_KNOWN_##name == 1 && PLANT_VALUE_(ROOST_PLANT_##name))
#define PLANT_VALUE_(value)               PLANT_LIST_(value)
#define PLANT_LIST_(value)                PLANT_PICK_(PLANT_SLOT_##value 1, 0, 0)
#define PLANT_PICK_(...)                  PLANT_SECOND_(__VA_ARGS__)
#define PLANT_SECOND_(first, second, ...) second
#define PLANT_SLOT_1                      0,

#endif
