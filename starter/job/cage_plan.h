/* starter/job/cage_plan.h - decisions about the cage (the job's namespaces, mounts and limits):
 * what the job sees of its machine, and whether it has used too much.
 *
 * Pure: names and figures in; mounts, names and verdicts out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_CAGE_PLAN_H
#define STARTER_JOB_CAGE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/os_cage.h"

struct ad;
struct strbuf;

#define CAGE_SCRATCH_MAX 8   /* directories that a job can have to itself */
#define CAGE_MOUNTS_MAX  112 /* mounts of one cage */
#define CAGE_KEPT_MAX    32  /* entries of each list of protected paths: ways, readonly */

struct cage_place {        /* what the view is made of; all pointers are borrowed */
    const char *directory; /* the run's directory, below EXECUTE */
    const char *sandbox;   /* below it; the job sees nothing else of EXECUTE */
    /* Directories of the daemons that the job sees empty; includes EXECUTE. */
    const char *const *hide;
    size_t hide_count;
    /* A file to hide, unless one of those directories contains it; may be NULL. */
    const char *secret;
    const char *const *scratch; /* directories that the job has to itself: MOUNT_UNDER_SCRATCH */
    size_t scratch_count;
    bool private_shm; /* the job has its own /dev/shm */
    /* For a job that runs under the daemons' account: directories that it must not rename,
     * outermost first, and files and directories that it must not change. */
    const char *const *ways;
    size_t way_count;
    const char *const *readonly;
    size_t readonly_count;
    const char *const *programs; /* directories of programs that start the job; it must see them */
    size_t program_count;
    /* For a job with checkpoints: the path of its sandbox as it sees it, the same on every machine.
     * NULL: a job without checkpoints. */
    const char *home;
    const char *images;    /* the directory of its checkpoint images */
    const char *images_at; /* the path at which the job sees that directory */
};

struct cage_view { /* what a job sees; made by cage_plan_view() */
    /* In order; their strings are borrowed from the cage_place, or from names. */
    struct os_mount mounts[CAGE_MOUNTS_MAX];
    size_t mount_count;
    size_t kept_count; /* how many mounts at the beginning only protect what lies at that place */
    /* Directories that the caller must make for the scratch directories, as DIRECTORY/scratch<n>/in
     * with mode 1777.  Only the job's account may enter the directory above. mem_ blocks. */
    char *names[CAGE_SCRATCH_MAX];
    size_t name_count;
    /* Where the sandbox lies inside a scratch directory: the first directory of the way to it.
     * NULL: not needed. */
    char *way;
};

/* Decides what is mounted for a job, and in which order.  A scratch directory stays the machine's
 * own if the job names a file in it (its program, its standard files, its Iwd when no files are
 * transferred).  Entries of a list beyond its limit are left out.  A job with place->home gets a
 * directory for /dev/shm, so that its files are in the checkpoint.  The directories of
 * place->programs stay visible even in a scratch directory.  End with cage_view_fini(). */
void cage_plan_view(const struct ad *job, const struct cage_place *place, struct cage_view *ret);
void cage_view_fini(struct cage_view *view);

/* Returns whether `home`, the path at which the job is to see its sandbox, lies in a scratch
 * directory that the job will have to itself. */
bool cage_plan_home_fits(const struct ad *job, const char *const *scratch, size_t scratch_count,
                         const char *home);

/* Appends the name of the job's cgroup to *ret: the path of the run's directory with _ for /, cut
 * to its last 200 characters. */
void cage_plan_group_name(const char *directory, struct strbuf *ret);

#define CAGE_KNOB_SIZE 80 /* bytes of a knob's name, with the zero */
/* Writes the names of the two knobs that may hold a setting of the slot: for "slot1_2@wn" and
 * "USER" they are SLOT1_2_USER and, for the whole slot, SLOT1_USER.  "" where there is none. */
void cage_plan_slot_knobs(const char *slot, const char *suffix, char ret[2][CAGE_KNOB_SIZE]);

/* Reads a list of CPUs such as "0,2,4-7" into the bits of ret.  False, with ret untouched: not a
 * list, empty, or a CPU number is OS_CAGE_CPUS_MAX or greater. */
bool cage_plan_cpus(const char *list, uint64_t ret[OS_CAGE_CPUS_MAX / 64]);
/* Appends the CPUs whose bits are set as text, "0,2,4", for a cpuset. */
void cage_plan_cpus_text(const uint64_t cpus[OS_CAGE_CPUS_MAX / 64], struct strbuf *ret);
/* Returns the n of "slot<n>@wn"; 0 for other names, dynamic slots included. */
int64_t cage_plan_slot_number(const char *slot);

struct cage_taken {     /* what a job uses; a limit of 0 is no limit */
    uint64_t oom_kills; /* processes of the job that the kernel killed for lack of memory */
    int64_t memory_mib, memory_limit_mib;
    int64_t disk_kib, disk_limit_kib;
    int64_t files, files_limit; /* of any kind */
};
struct cage_verdict {
    int code;    /* HoldReasonCode: 34; 0: nothing is wrong */
    int subcode; /* 102: too much memory; 104: too much disk, or too many files */
    char reason[400];
};
/* Judges whether the job has used more than it may; `slot` names the slot in the reason.  Sets
 * *ret. */
void cage_plan_judge(const char *slot, const struct cage_taken *taken, struct cage_verdict *ret);

#endif
