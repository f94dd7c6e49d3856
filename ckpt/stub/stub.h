/* ckpt/stub/stub.h - the stub: the program at the head of an image, which becomes the job.
 *
 * It is a flat piece of code (stub.ld) that runs at any address, has no data of its own and uses no
 * library.  Of its process it keeps only the window, the addresses at which it lies with its
 * tables, and a stack for each thread.  The order, for one process:
 *
 *     start.c        options; can this machine run the image?; namespaces (keeper.c)
 *     tree.c         the processes, with their former numbers; sessions and groups
 *     descriptors.c  open files, with their numbers, positions and flags
 *     memory.c       the kernel's pages put aside, all else unmapped, regions made and filled
 *     process.c      what a process has once: handlers, timers, limits, the end of its heap ...
 *     threads.c      its threads, with their former numbers; they wait for each other; each loads
 *                    its registers by returning from a signal that never was
 *
 * Nothing after memory.c can be undone: an error then is printed, and the process ends with
 * STUB_EXIT_LOST.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_STUB_H
#define CKPT_STUB_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"

#define STUB_EXIT_LOST 125 /* exit status: the job could not be resumed */

/* Stages of resuming.  All processes reach a stage before any of them continues. */
enum stub_stage {
    STUB_BORN,     /* all processes exist */
    STUB_LEADS,    /* leaders of process groups have made their groups */
    STUB_GROUPED,  /* all have joined their groups */
    STUB_READY,    /* memory and threads are made */
    STUB_FINISHED, /* descriptors are finished */
    STUB_HALTED,   /* processes that were stopped are stopped again */
    STUB_STAGES
};

struct stub_meeting { /* in memory that all processes share */
    uint32_t arrived[STUB_STAGES];
    uint32_t lost; /* not 0: a process has failed, and all must end */
};

struct stub { /* what a process of the stub knows */
    const struct ckpt_head *head;
    const struct ckpt_process *process; /* the process that it becomes */
    uint64_t stub;                      /* address of the stub's code */
    struct ckpt_xstate_layout xstate;   /* layout of this machine */
    int image;   /* descriptor of the image, a number that the job does not use */
    int say;     /* descriptor for error messages, likewise */
    int out;     /* the keeper's; -1: none */
    bool lazy;   /* option --lazy: read pages from the image when they are used */
    bool stdio;  /* --stdio: restore descriptors 0 to 2 as well */
    bool inside; /* option --inside: we are in the job's namespace already */
    bool check;  /* option --check: only tell whether the job could be resumed here */
    bool sums;   /* compare checksums of what is read */
    int high;    /* the job has no descriptor from this number on */
    uint32_t file_count;
    struct stub_meeting *meeting;
    uint32_t ready, released; /* for the threads of this process to wait for each other */
};

static inline const void *stub_entry(const struct stub *stub, enum ckpt_table table, uint32_t index,
                                     size_t size)
{
    return (const char *)stub->head + stub->head->tables[table].offset + index * size;
}

#define STUB_ENTRY(stub, table, type, index) \
    ((const type *)stub_entry((stub), (table), (index), sizeof(type)))

static inline const char *stub_text(const struct stub *stub, uint32_t text)
{
    return (const char *)stub->head + stub->head->tables[CKPT_TEXTS].offset + text;
}

/* Prints "cannot resume: WHAT [THING]: ENOENT" and ends the process. */
_Noreturn void stub_fail(const struct stub *stub, const char *what, const char *thing, long error);
/* The same with a number. */
_Noreturn void stub_fail_at(const struct stub *stub, const char *what, uint64_t address,
                            long error);
/* Calls stub_fail() if result is an error; else returns it. */
long stub_must(const struct stub *stub, long result, const char *what);

/* entry.S */
/* Calls function(arg) on that stack; does not return. */
_Noreturn void stub_on_stack(void (*function)(void *arg), void *arg, uint64_t stack);
/* clone3() of a thread that begins with function(arg), on the stack that args names. */
long stub_clone(const void *args, size_t size, void (*function)(void *arg), void *arg);
_Noreturn void stub_sigreturn(uint64_t frame);

/* Opens all files of all processes, at high descriptor numbers.  Called once, before the other
 * processes exist. */
void stub_open_files(struct stub *stub);
/* Gives this process its descriptors, at their numbers. */
void stub_make_descriptors(struct stub *stub);
/* Returns the descriptor of shared memory; valid until stub_finish_descriptors(). */
int stub_memory_file(const struct stub *stub, uint32_t file);
/* Finishes what refers to processes and threads, when all of them exist. */
void stub_finish_descriptors(const struct stub *stub);
/* Closes all, in a process that does not belong to the job. */
void stub_forget_files(const struct stub *stub);
/* Waits until all processes have reached the stage.  Ends this process if one of them has
 * failed. */
void stub_meet(struct stub *stub, enum stub_stage stage);
/* Makes all other processes end: this one has failed. */
void stub_give_up(const struct stub *stub);
/* Makes the children of this process, each of which continues with child(), and its session and
 * process group. */
void stub_make_tree(struct stub *stub, void (*child)(struct stub *stub));
/* ---- fd_terminal.c: of the session that this process leads, and has just begun */
/* Gives the session that this process has just begun its controlling terminal. */
void stub_take_terminal(const struct stub *stub);
/* Sets the terminal's foreground process group, when the groups exist. */
void stub_put_in_front(const struct stub *stub);
/* Stops the children that were stopped in the image.  If this process was stopped too, its parent
 * stops it here: it has nothing more to do. */
void stub_stop_children(struct stub *stub);
/* Called by the keeper (process 1 of the namespace) when a child of it has ended.  If not all
 * processes were complete yet, ends the resuming. */
void stub_see_end(const struct stub *stub, long pid);
/* Called by the keeper: makes the processes whose parent has ended. */
void stub_make_orphans(struct stub *stub, void (*child)(struct stub *stub));
/* Makes the memory of this process.  Runs on a stack in the window. */
void stub_make_memory(struct stub *stub);
/* Maps the saved pages of the kernel's own as ordinary writable memory. */
void stub_map_kept(const struct stub *stub, const struct ckpt_region *region);
/* The job uses the vdso of another kernel: makes its functions jump to those of the vdso at
 * `vdso`. */
void stub_patch_vdso(const struct stub *stub, uint64_t vdso);
void stub_make_process(struct stub *stub);
/* Makes and sets timers; some are for threads, which must exist. */
void stub_start_timers(struct stub *stub);
_Noreturn void stub_run_threads(struct stub *stub);

#endif
