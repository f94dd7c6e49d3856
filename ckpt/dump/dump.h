/* ckpt/dump/dump.h - what the parts of a dump share.
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

/* Pages that are there.  Of a delta only. */
struct page_run {
    uint64_t start, end;
    uint64_t at;     /* its bytes in what was taken, if it has changed */
    bool is_changed; /* since the base was made: else they are as there */
};

struct page_runs { /* by address */
    struct page_run *items;
    size_t count, capacity;
};

#define STALE_MAX 8 /* more are left to the next image */

struct subject { /* a process */
    struct tracee tracee;
    struct tracee copy;     /* of it; without one: pid 0 */
    struct tracee *source;  /* whose memory is read: one of these */
    int inner;              /* the image's descriptor in the source; -1: it has none */
    pid_t stale[STALE_MAX]; /* copies of it that have ended, and their dumpers with them */
    size_t stale_count;
    struct maps maps;
    struct ckpt_process process;
    struct page_runs runs;
    const unsigned char *taken;     /* contents of the runs that have changed; NULL: read them */
    struct image *before;           /* the image that it was resumed from; NULL: none */
    const struct ckpt_process *was; /* in it: itself, or whose memory it has a copy of; else NULL */
};

struct shared_memory;

struct dump {
    struct subject **subjects; /* parents before their children */
    size_t count, capacity;
    struct subject *now; /* of whom it is the turn */
    pid_t unseen;        /* as in dump_options */
    pid_t keeper;        /* of all of them; 0: they have none */
    struct tables tables;
    struct ckpt_head head;
    struct shared_memory *shared; /* seen so far: dump_nameless_linux.c */
    size_t shared_count;
    struct new_file file;  /* the new image */
    int out;               /* the same */
    uint64_t at;           /* where its next contents go */
    struct follow *follow; /* NULL: nobody follows what changes */
    uint64_t memory_left;  /* that copies may take, as the job goes on */
    bool is_whole;         /* a whole image is asked for */
    bool is_delta;         /* what it is to become */
    bool sums_fast;        /* ckpt_sum_is_fast() */
};

/* ---- dump_tree_linux.c: which processes */
/* Holds that one and all that descend from it, or that its keeper has.  -EAGAIN: one is between
 * vfork and exec, or is being resumed, and stayed so for 10 s. */
int dump_hold_all(struct dump *dump, pid_t pid, struct err *err);
/* Lets them go, or ends them. */
void dump_release_all(struct dump *dump, bool kill);
void dump_fini_subjects(struct dump *dump);

/* ---- dump_check_linux.c */
/* What no image can hold of a process and its threads is refused, before it is made to do anything.
 */
int dump_check(struct dump *dump, struct err *err);
/* ---- dump_thread_linux.c */
int dump_threads(struct dump *dump, struct err *err);
/* Those that are pending, of that thread or of all of its process. */
int dump_signals(struct dump *dump, pid_t tid, bool shared, struct ckpt_span *ret);
/* ---- dump_process_linux.c: signals, timers, limits, places */
int dump_process(struct dump *dump, struct err *err);
/* ---- dump_waits_linux.c */
/* Is it in the code of its window that waits? */
bool dump_is_waiting(const struct image *before, uint64_t rip);
/* That thread of a process that was resumed as one that is stopped, and has been since: as it was
 * in its image; else NULL. */
const struct ckpt_thread *dump_halted(const struct subject *subject,
                                      const struct tracee_thread *held);
/* A wait that was interrupted once already is a restart_syscall() to all who look: which call it
 * was, by the code before it or else by its arguments.  -1: it cannot be told. */
int64_t dump_interrupted_call(const struct dump *dump, const struct ckpt_registers *registers);
/* What is left of its wait; again: its registers are to issue a system call that was interrupted;
 * is_mended: as of tracee_mend_wait().  Who is in the code that waits gets the registers of the
 * job's own call. */
int dump_wait(const struct dump *dump, struct ckpt_thread *thread, bool again, bool is_mended);
/* ---- dump_pending_linux.c: when all signals and threads of the process are known */
void dump_pending(struct dump *dump);
/* ---- dump_files_linux.c */
/* Of all processes: who shares an open file shares it again. */
int dump_files(struct dump *dump, struct err *err);
/* ---- dump_fd_disk_linux.c */
/* A name that leads to the file that is mapped, as its process sees it: the one that it was mapped
 * by, or another one in the same directory.  False: there is none; it gets the one it was mapped
 * by.
 */
bool dump_mapped_name(const struct subject *subject, const struct map *map, char *path,
                      size_t size);
/* ---- dump_nameless_linux.c: memory that processes share, and removed files */
/* The memory that this mapping shares with others: its index in the table of files. */
uint32_t dump_shared_memory(struct dump *dump, const struct map *map);
/* The same, of an open file; its contents are still to be saved if *ret_new. */
uint32_t dump_nameless_file(struct dump *dump, const struct stat *st, const char *path,
                            bool *ret_new);
/* An open file has all that it holds: nothing is to be read of it where it is mapped. */
bool dump_is_whole(const struct dump *dump, uint32_t file);
void dump_fini_shared(struct dump *dump);
/* ---- dump_memory_linux.c */
/* What would be saved of each mapping: fills the table of regions, refuses what cannot be. */
int dump_regions(struct dump *dump, struct err *err);
/* The contents of the regions, to the image: of those that a copy has not, before it is made; of
 * all others. */
int dump_memory(struct dump *dump, bool uncopied, struct err *err);

/* ---- dump_shared_linux.c */
/* Of memory that processes share. */
int dump_shared(struct dump *dump, struct err *err);

/* ---- dump_machine_linux.c: the processors on which they began, and the clocks */
void dump_machine(struct dump *dump);

/* ---- dump_linux.c: contents */
/* These bytes, at the image's next page; from there on more of the same extent follow on. */
int dump_put(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes,
             struct err *err);
/* The same, of bytes that somebody else writes there, at dump->at. */
void dump_count(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes);
/* The next extent begins on a page of its own. */
void dump_begin_extent(struct dump *dump, struct ckpt_extent *extent, uint64_t start);

#endif
