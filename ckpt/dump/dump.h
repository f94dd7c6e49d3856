/* ckpt/dump/dump.h - what the files that make a dump (an image of a running job) share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_DUMP_DUMP_H
#define CKPT_DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ckpt/maps_linux.h"
#include "ckpt/image/new_file_linux.h"
#include "ckpt/image/tables.h"
#include "ckpt/tracee/tracee_linux.h"

struct err;
struct follow;
struct image;

/* Pages that are present; used for a delta only. */
struct page_run {
    uint64_t start, end;
    uint64_t at;     /* if it has changed: its place in subject.taken */
    bool is_changed; /* since the base image was made; false: the base has the same contents */
};

struct page_runs { /* sorted by address */
    struct page_run *items;
    size_t count, capacity;
};

#define STALE_MAX 8 /* more of them are left to the next image */

/* One process of the job while its image is made. */
struct subject {
    struct tracee tracee;
    struct tracee copy;     /* a copy of the process; pid 0: none */
    struct tracee *source;  /* the one whose memory is read: tracee or copy */
    int inner;              /* number of the image's descriptor in the source; -1: it has none */
    pid_t stale[STALE_MAX]; /* copies of it that have ended and whose dumpers were killed */
    size_t stale_count;
    struct maps maps;
    struct ckpt_process process;
    struct page_runs runs;
    const unsigned char *taken; /* contents of the changed runs; NULL: read them from the source */
    struct image *before;       /* the image from which the process was resumed; NULL: none */
    /* The process in `before` that it was, or whose memory it has inherited; NULL: none. */
    const struct ckpt_process *was;
};

struct shared_memory;

/* One dump of a job. */
struct dump {
    struct subject **subjects; /* parents before their children */
    size_t count, capacity;
    struct subject *now; /* the process that is being worked on */
    pid_t unseen;        /* see dump_options */
    pid_t keeper;        /* process 1 of the job's namespace; 0: none */
    struct tables tables;
    struct ckpt_head head;
    struct shared_memory *shared; /* found so far; see dump_nameless_linux.c */
    size_t shared_count;
    struct new_file file;  /* the new image */
    int out;               /* its descriptor */
    uint64_t at;           /* offset for its next contents */
    struct follow *follow; /* NULL: no follower records what changes */
    uint64_t memory_left;  /* bytes that copies of the job may still use */
    bool is_whole;         /* a whole image was asked for */
    bool is_delta;         /* the image will be a delta */
    bool sums_fast;        /* result of ckpt_sum_is_fast() */
};

/* ---- dump_tree_linux.c: which processes */
/* Stops the process, all its descendants, and all other processes of its keeper (process 1 of its
 * namespace).  0; -EAGAIN: one is between vfork and exec, or is being resumed, and stayed so for 10
 * s; or another -errno. */
int dump_hold_all(struct dump *dump, pid_t pid, struct err *err);
/* Lets all processes continue, or kills them. */
void dump_release_all(struct dump *dump, bool kill);
void dump_fini_subjects(struct dump *dump);

/* ---- dump_check_linux.c */
/* Refuses processes and threads with something that no image can hold, before they are changed in
 * any way.  0 or -EOPNOTSUPP. */
int dump_check(struct dump *dump, struct err *err);
/* ---- dump_thread_linux.c */
int dump_threads(struct dump *dump, struct err *err);
/* Saves the signals that are pending for a thread, or (shared) for its whole process. */
int dump_signals(struct dump *dump, pid_t tid, bool shared, struct ckpt_span *ret);
/* ---- dump_process_linux.c: signals, timers, limits, places */
int dump_process(struct dump *dump, struct err *err);
/* ---- dump_waits_linux.c */
/* Returns whether that address is in the code of the image's window that continues a wait
 * (CKPT_WAIT_AT). */
bool dump_is_waiting(const struct image *before, uint64_t rip);
/* If the process was resumed as a stopped one and has been stopped since, returns the thread as it
 * was in its image; else NULL. */
const struct ckpt_thread *dump_halted(const struct subject *subject,
                                      const struct tracee_thread *held);
/* A wait that was interrupted before looks like restart_syscall().  Returns the number of the real
 * call, found by the code before the instruction or by the arguments; -1: it cannot be found. */
int64_t dump_interrupted_call(const struct dump *dump, const struct ckpt_registers *registers);
/* Finds out what is left of the thread's wait. again: its registers will issue an interrupted
 * system call; is_mended: see tracee_mend_wait().  For a thread in the code that continues a wait,
 * the registers become those of the job's own call. */
int dump_wait(const struct dump *dump, struct ckpt_thread *thread, bool again, bool is_mended);
/* ---- dump_pending_linux.c: when all signals and threads of the process are known */
/* Ends calls that must end because of a pending signal.  Call it when all signals and threads of
 * the process are known. */
void dump_pending(struct dump *dump);
/* ---- dump_files_linux.c */
/* Saves the open files of all processes; processes that share one will share it again. */
int dump_files(struct dump *dump, struct err *err);
/* ---- dump_fd_disk_linux.c */
/* Finds a path at which the process sees the file of a mapping: the path by which it was mapped, or
 * another one in the same directory.  False: there is none; *path is the path by which it was
 * mapped. */
bool dump_mapped_name(const struct subject *subject, const struct map *map, char *path,
                      size_t size);
/* ---- dump_nameless_linux.c: memory that processes share, and removed files */
/* Returns the index, in the table of files, of the memory that this mapping shares with others. */
uint32_t dump_shared_memory(struct dump *dump, const struct map *map);
/* The same for an open file without a name. *ret_new: its contents must still be saved. */
uint32_t dump_nameless_file(struct dump *dump, const struct stat *st, const char *path,
                            bool *ret_new);
/* Returns whether the contents of that file were saved by an open file: then they are not read from
 * mappings. */
bool dump_is_whole(const struct dump *dump, uint32_t file);
void dump_fini_shared(struct dump *dump);
/* ---- dump_memory_linux.c */
/* Fills the table of regions with what will be saved of each mapping, and refuses mappings that
 * cannot be saved.  0 or -errno. */
int dump_regions(struct dump *dump, struct err *err);
/* Writes the contents of the regions to the image. uncopied: only of those regions that a copy of
 * the process does not have, to be done before it is made; else of all others.  0 or -errno. */
int dump_memory(struct dump *dump, bool uncopied, struct err *err);

/* ---- dump_shared_linux.c */
/* Writes the contents of memory that processes share.  0 or -errno. */
int dump_shared(struct dump *dump, struct err *err);

/* ---- dump_machine_linux.c: the processors on which they began, and the clocks */
void dump_machine(struct dump *dump);

/* ---- dump_linux.c: contents */
/* Writes bytes to the image at dump->at and adds them to the extent, whose earlier bytes they
 * follow.  0 or -errno. */
int dump_put(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes,
             struct err *err);
/* Adds bytes to the extent that somebody else writes at dump->at. */
void dump_count(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes);
/* Begins an extent, on a page of its own in the image. */
void dump_begin_extent(struct dump *dump, struct ckpt_extent *extent, uint64_t start);

#endif
