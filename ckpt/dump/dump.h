/* ckpt/dump/dump.h - declarations shared by the source files that make a dump, that is an image of
 * a running job.
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

/* Neighbouring pages of a process that exist in memory or swap space.  Only the dump of a delta
 * uses page runs. */
struct page_run {
    uint64_t start, end;
    /* If is_changed: offset of the run's contents in the buffer to which the changed runs of the
     * process are copied (take_runs(), delta_read()). */
    uint64_t at;
    bool is_changed; /* true: the run has changed since the base image was made */
};

struct page_runs { /* a list of page runs, sorted by address */
    struct page_run *items;
    size_t count, capacity;
};

/* Maximum number of ended copies of one process that one dump reaps; later dumps reap the rest. */
#define STALE_MAX 8

/* One process of the job while its image is made. */
struct subject {
    struct tracee tracee;
    struct tracee copy;    /* a stopped copy (fork) of the process; pid 0: none */
    struct tracee *source; /* the process whose memory is read: &tracee or &copy */
    /* A descriptor of the new image, which the dumper opened in the process `source`, so that this
     * process can write its memory to the image itself (self_write_linux.h); -1: none. */
    int inner;
    /* Copies of the process left by earlier dumpers that were killed: zombies to be reaped. */
    pid_t stale[STALE_MAX];
    size_t stale_count;
    struct maps maps;
    struct ckpt_process process;
    struct page_runs runs;
    /* Contents of the changed page runs, already copied to the memory of the dumper; NULL: read
     * them from the process `source`. */
    const unsigned char *taken;
    struct image *before; /* the image from which the process was resumed; NULL: none */
    /* The entry of the image `before` for this process or, if it was forked since, for the process
     * whose memory it has inherited; NULL: none. */
    const struct ckpt_process *was;
};

struct shared_memory;

/* One dump of a job. */
struct dump {
    struct subject **subjects; /* the job's processes; parents come before their children */
    size_t count, capacity;
    struct subject *now; /* the process of the job that is being dumped at the moment */
    /* A child of one of the job's processes that does not belong to the job and is left out of the
     * image, such as a helper of the checkpoint library; 0: none. */
    pid_t unseen;
    pid_t keeper; /* process 1 of the job's PID namespace; 0: none */
    struct tables tables;
    struct ckpt_head head;
    /* list of the shared memory and removed files that this dump has found in the job so far */
    struct shared_memory *shared;
    size_t shared_count;
    struct new_file file;  /* the new image */
    int out;               /* descriptor of the new image */
    uint64_t at;           /* offset in the new image at which the next contents are written */
    struct follow *follow; /* the follower, which finds changed memory; NULL: none */
    uint64_t memory_left;  /* bytes of memory that copies (forks) of the processes may still use */
    bool is_whole;         /* true: the caller wants a whole image even if a delta is possible */
    bool is_delta;         /* true: the new image will be a delta */
    bool sums_fast;        /* true: the processor has an instruction for CRC-32C */
};

/* ---- dump_tree_linux.c: finds and stops the processes */
/* Stops the process `pid`, all its descendants, and all other processes below its keeper (process 1
 * of its PID namespace).  Returns 0; -EAGAIN: for 10 seconds, one of the processes was between
 * vfork and exec, was being resumed from an image, or had not begun its program; or another -errno.
 */
int dump_hold_all(struct dump *dump, pid_t pid, struct err *err);
/* Lets all processes of the dump continue or, if `kill`, kills them. */
void dump_release_all(struct dump *dump, bool kill);
void dump_fini_subjects(struct dump *dump);

/* ---- dump_check_linux.c */
/* Refuses the process dump->now if the process or one of its threads has something that no image
 * can hold.  To be called before the process is changed in any way.  Returns 0 or -errno. */
int dump_check(struct dump *dump, struct err *err);
/* ---- dump_thread_linux.c */
/* Saves the threads of the process dump->now.  Returns 0 or -errno. */
int dump_threads(struct dump *dump, struct err *err);
/* Saves the pending signals of the thread `tid` or, if `shared`, those of its whole process. *ret:
 * their entries in the image's table of signals.  Returns 0 or -errno. */
int dump_signals(struct dump *dump, pid_t tid, bool shared, struct ckpt_span *ret);
/* ---- dump_process_linux.c */
/* Saves what belongs to the process dump->now as a whole: signal handlers, pending signals, timers,
 * resource limits, addresses of its heap and stack.  Returns 0 or -errno. */
int dump_process(struct dump *dump, struct err *err);
/* ---- dump_waits_linux.c */
/* Returns whether a thread of a process resumed from the image `before` is in the code that
 * continues an interrupted wait (CKPT_WAIT_AT). rip: the thread's instruction address. */
bool dump_is_waiting(const struct image *before, uint64_t rip);
/* Returns the entry of the thread `held` in subject->before, the image from which the process was
 * resumed, if the process was already stopped by a signal when that image was made, and has not run
 * since it was resumed; else NULL. */
const struct ckpt_thread *dump_halted(const struct subject *subject,
                                      const struct tracee_thread *held);
/* For a thread in restart_syscall(), by which the kernel continues an interrupted wait: returns the
 * number of the system call that the program made, guessed from the program's code and the
 * arguments; -1: it cannot be found. */
int64_t dump_interrupted_call(const struct dump *dump, const struct ckpt_registers *registers);
/* Sets thread->left_s and left_ns: how much time is left of the thread's wait; left_s -1: not
 * known, or the thread does not wait.  If the thread is in the code that continues a wait
 * (CKPT_WAIT_AT), also changes thread->registers, as if the thread were at the system call in the
 * job's own code instead. again: the registers will issue an interrupted system call again;
 * is_mended: that call ended with EINTR only because the dumper stopped the thread
 * (tracee_mend_wait()).  Returns 0; or -EFAULT: the record of that wait (struct ckpt_wait) cannot
 * be read from the thread's stack. */
int dump_wait(const struct dump *dump, struct ckpt_thread *thread, bool again, bool is_mended);
/* ---- dump_pending_linux.c */
/* Makes each system call that a pending signal interrupts end with EINTR in the saved registers of
 * its thread.  To be called when all signals and threads of the process dump->now are saved. */
void dump_pending(struct dump *dump);
/* ---- dump_files_linux.c */
/* Saves the open files of all processes; processes that share an open file will share it again when
 * resumed.  Returns 0 or -errno. */
int dump_files(struct dump *dump, struct err *err);
/* ---- dump_fd_disk_linux.c */
/* Writes to `path` (`size` bytes) a path at which the process sees the file of a mapping: the path
 * by which the file was mapped, or another one in the same directory.  Returns false if there is no
 * such path; then `path` gets the path by which the file was mapped. */
bool dump_mapped_name(const struct subject *subject, const struct map *map, char *path,
                      size_t size);
/* ---- dump_nameless_linux.c: memory that processes share, and removed files */
/* Returns the index, in the image's table of files, of the shared memory that `map` maps; adds it
 * to the table if it is new. */
uint32_t dump_shared_memory(struct dump *dump, const struct map *map);
/* Returns the index, in the image's table of files, of an open file that has no name any more; adds
 * the file to the table if it is new. st: fstat() of the file; path: the name that the kernel shows
 * for it; *ret_new: true if the caller must still save its contents. */
uint32_t dump_nameless_file(struct dump *dump, const struct stat *st, const char *path,
                            bool *ret_new);
/* Returns whether a memory file of the job (such as shared memory) was also found as an open file:
 * then its contents are saved from there, and need not be saved from the mappings of processes.
 * file: index of the memory file in the image's table of files. */
bool dump_is_whole(const struct dump *dump, uint32_t file);
void dump_fini_shared(struct dump *dump);
/* ---- dump_memory_linux.c */
/* Fills the table of regions with what will be saved of each mapping of the process dump->now, and
 * refuses mappings that cannot be saved.  Returns 0 or -errno. */
int dump_regions(struct dump *dump, struct err *err);
/* Writes the contents of the memory regions of the process dump->now to the image. uncopied: true:
 * only the regions that fork() does not copy, to be saved before the process is copied; false: all
 * other regions.  Returns 0 or -errno. */
int dump_memory(struct dump *dump, bool uncopied, struct err *err);

/* ---- dump_shared_linux.c */
/* Writes the contents of memory that processes share.  0 or -errno. */
int dump_shared(struct dump *dump, struct err *err);

/* ---- dump_machine_linux.c */
/* Saves the features of the processors on which the job's programs began, the layout of the
 * extended registers, and the job's clocks. */
void dump_machine(struct dump *dump);

/* ---- dump_put_linux.c: contents */
/* Writes bytes to the image at offset dump->at and adds them to the end of the extent.  Returns 0
 * or -errno. */
int dump_put(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes,
             struct err *err);
/* Adds bytes to the size and checksum of the extent, without writing them: the process being dumped
 * writes them itself, at offset dump->at. */
void dump_count(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes);
/* Begins an extent, at the next page boundary in the image. start: address of its first byte in the
 * process, or offset in the shared memory or file. */
void dump_begin_extent(struct dump *dump, struct ckpt_extent *extent, uint64_t start);

#endif
