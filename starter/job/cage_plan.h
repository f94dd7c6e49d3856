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

/* most scratch directories (private directories under common names, such as /tmp) of a job */
#define CAGE_SCRATCH_MAX 8
#define CAGE_MOUNTS_MAX  112 /* most mounts of one cage */
/* most entries of each of the two lists of protected paths, `ways` and `readonly` */
#define CAGE_KEPT_MAX 32

/* The paths by which cage_plan_view() decides what a job sees of the machine's files; all pointers
 * are borrowed. */
struct cage_place {
    const char *directory; /* the run's directory, below EXECUTE */
    /* the job's sandbox, in the run's directory; the job sees nothing else of EXECUTE */
    const char *sandbox;
    /* Directories of the daemons that the job sees empty; includes EXECUTE. */
    const char *const *hide;
    size_t hide_count;
    /* A file (the machine's token) to hide, unless a directory of `hide` contains it; may be
     * NULL. */
    const char *secret;
    /* MOUNT_UNDER_SCRATCH: directories, such as /tmp, of which the job gets a private one */
    const char *const *scratch;
    size_t scratch_count;
    bool private_shm; /* the job has its own /dev/shm */
    /* For a job that runs under the daemons' account: `ways`: directories that it must not rename,
     * outermost first; `readonly`: files and directories that it must not change
     * (starter/files/kept.h). */
    const char *const *ways;
    size_t way_count;
    const char *const *readonly;
    size_t readonly_count;
    /* Directories that the job must see because they contain programs that are needed to start
     * it. */
    const char *const *programs;
    size_t program_count;
    /* For a job with checkpoints: the path at which it sees its sandbox, the same on every machine.
     * NULL: a job without checkpoints. */
    const char *home;
    const char *images;    /* for a job with checkpoints: the machine's path of the directory of the
                              job's images */
    const char *images_at; /* the path in the cage at which the directory `images` is mounted */
};

/* What a job sees of the machine's files; made by cage_plan_view(). */
struct cage_view {
    /* The mounts to make, in this order; their strings are borrowed from the struct cage_place, or
     * from `names` and `way`. */
    struct os_mount mounts[CAGE_MOUNTS_MAX];
    size_t mount_count;
    /* number of mounts at the start of `mounts` that move nothing: each only protects a file or
     * directory from being changed or renamed by the job */
    size_t kept_count;
    /* Paths, owned, of directories that the caller must make for the scratch directories:
     * DIRECTORY/scratch<n>/in, with mode 1777, where DIRECTORY is the run's directory.  Only the
     * job's account may enter DIRECTORY/scratch<n>. */
    char *names[CAGE_SCRATCH_MAX];
    size_t name_count;
    /* If the sandbox lies below a scratch directory: the path, owned, of the first directory on the
     * way from the scratch directory to the sandbox; a file system in memory is mounted on it.
     * NULL: not needed. */
    char *way;
};

/* Decides what is mounted for a job, and in which order.  A directory of place->scratch is not made
 * private if the job names a file in it (its program, its standard files, its Iwd when no files are
 * transferred).  Entries of a list beyond its limit are left out.  A job with place->home gets a
 * directory on disk for /dev/shm, so that the files in it are in the checkpoint.  The directories
 * of place->programs stay visible even in a scratch directory.  Free the result with
 * cage_view_fini(). */
void cage_plan_view(const struct ad *job, const struct cage_place *place, struct cage_view *ret);
void cage_view_fini(struct cage_view *view);

/* Returns whether `home`, the path at which the job is to see its sandbox, lies in one of the
 * directories of `scratch`, and the job names no file there, so that the directory will be
 * private. */
bool cage_plan_home_fits(const struct ad *job, const char *const *scratch, size_t scratch_count,
                         const char *home);

/* Appends the name of the job's cgroup to *ret: the path of the run's directory with _ for /, cut
 * to its last 200 characters. */
void cage_plan_group_name(const char *directory, struct strbuf *ret);

#define CAGE_KNOB_SIZE 80 /* bytes of a knob's name, with the terminating zero */
/* Writes the names of the two knobs with that suffix that may configure the slot: for the slot
 * "slot1_2@wn" and the suffix "USER", SLOT1_2_USER and SLOT1_USER.  Writes "" instead of a name
 * that does not apply to the slot. */
void cage_plan_slot_knobs(const char *slot, const char *suffix, char ret[2][CAGE_KNOB_SIZE]);

/* Returns the n of "slot<n>@wn"; 0 for other names, dynamic slots included. */
int64_t cage_plan_slot_number(const char *slot);

/* What a job uses, and what it may use; a limit of 0 means no limit. */
struct cage_taken {
    uint64_t oom_kills; /* processes of the job that the kernel killed for lack of memory */
    /* how often the job reached the memory limit of its own cgroup */
    uint64_t limit_hits;
    int64_t memory_mib, memory_limit_mib;
    int64_t disk_kib, disk_limit_kib;
    /* files: number of the job's files, directories and links; files_limit: the most that it may
     * have */
    int64_t files, files_limit;
};
struct cage_verdict {
    int code; /* HoldReasonCode for the job: 34; 0: the job has not used too much */
    /* HoldReasonSubCode: 102 for too much memory, 104 for too much disk or too many files */
    int subcode;
    char reason[400];
};
/* Returns whether the kernel killed processes of the job although the job was within the limit of
 * its own cgroup: the machine, or a group above the job's, had no memory left. */
bool cage_plan_is_machines_oom(const struct cage_taken *taken);
/* Returns whether the job has more memory than its limit, or the kernel killed processes of it
 * because of that limit. */
bool cage_plan_is_over_memory(const struct cage_taken *taken);
/* Decides whether the job has used more than it may, and sets *ret. slot: the slot's name, for the
 * text of the reason. */
void cage_plan_judge(const char *slot, const struct cage_taken *taken, struct cage_verdict *ret);

#endif
