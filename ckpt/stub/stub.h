/* ckpt/stub/stub.h - the stub: the program at the head of an image, which becomes the job.
 *
 * The stub is a flat piece of code (stub.ld) that runs at any address, has no data of its own and
 * uses no library.  Of the memory of its process it keeps only the window: the range of addresses
 * with the stub, the image's tables, and a stack for each thread.  The steps, for one process:
 *
 *     start.c        reads options; checks whether this machine can run the image; makes the
 *                    namespaces (keeper.c)
 *     tree.c         makes the processes, with their former numbers, sessions and groups
 *     descriptors.c  opens files, with their descriptor numbers, positions and flags
 *     memory.c       puts the kernel's pages aside, unmaps all else, makes and fills the regions
 *     process.c      restores what a process has once: signal handlers, timers, limits ...
 *     threads.c      makes the threads, with their former numbers; they wait for each other; each
 *                    loads its registers by returning from a signal handler (sigreturn)
 *
 * Nothing after memory.c can be undone: if an error happens then, it is printed, and the process
 * ends with STUB_EXIT_LOST.
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

/* Stages of resuming.  A process that has reached a stage waits until all processes of the job have
 * reached it. */
enum stub_stage {
    STUB_BORN,     /* all processes exist */
    STUB_LEADS,    /* leaders of process groups have made their groups */
    STUB_GROUPED,  /* all processes have joined their process groups */
    STUB_READY,    /* memory and threads of all processes are made */
    STUB_FINISHED, /* the descriptors of all processes are complete */
    STUB_HALTED,   /* processes that were stopped are stopped again */
    STUB_STAGES
};

/* By this struct, in memory that all processes of the job share, they wait for each other at each
 * stage of resuming. */
struct stub_meeting {
    uint32_t arrived[STUB_STAGES]; /* number of processes that have reached each stage */
    uint32_t lost;                 /* not 0: a process has failed, and all processes must end */
};

struct stub { /* the stub's state in one process */
    const struct ckpt_head *head;
    const struct ckpt_process *process; /* the process of the image that this process becomes */
    uint64_t stub;                      /* address of the stub's code */
    struct ckpt_xstate_layout xstate;   /* layout of the extended registers on this machine */
    int image;   /* descriptor of the image, a number that the job does not use */
    int say;     /* descriptor for error messages, a number that the job does not use */
    int out;     /* in the keeper: descriptor by which it reports to its parent; -1: none */
    bool lazy;   /* option --lazy: read pages from the image when they are used */
    bool stdio;  /* option --stdio: restore the job's descriptors 0 to 2 as well */
    bool inside; /* option --inside: this process is process 1 of the job's namespace already */
    bool check;  /* option --check: only tell whether the job could be resumed here */
    /* true: compare checksums of the contents that are read, because this processor has an
     * instruction for checksums */
    bool sums;
    int high; /* the job has no descriptor with this number or a greater one */
    uint32_t file_count;
    struct stub_meeting *meeting;
    /* ready: number of threads of this process that wait for `released`; released: 1: they may
     * continue as threads of the job. */
    uint32_t ready, released;
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

/* Prints "cannot resume: WHAT [THING]: ENOENT" and ends the process. thing: "": none; error: a
 * negative errno. */
_Noreturn void stub_fail(const struct stub *stub, const char *what, const char *thing, long error);
/* Prints "cannot resume: WHAT ADDRESS: ENOENT", with the address in hexadecimal, and ends the
 * process. error: a negative errno. */
_Noreturn void stub_fail_at(const struct stub *stub, const char *what, uint64_t address,
                            long error);
/* Returns `result`, the result of a system call; but if `result` is an error, calls stub_fail()
 * with `what` instead. */
long stub_must(const struct stub *stub, long result, const char *what);

/* ---- entry.S */
/* Calls function(arg) on the stack whose upper end is the address `stack`; does not return. */
_Noreturn void stub_on_stack(void (*function)(void *arg), void *arg, uint64_t stack);
/* Makes, by clone3() with these args, a thread that begins with function(arg) on the stack that
 * args give.  Returns the new thread's number or a negative errno. */
long stub_clone(const void *args, size_t size, void (*function)(void *arg), void *arg);
_Noreturn void stub_sigreturn(uint64_t frame);

/* Opens all open files of all processes of the job, at descriptor numbers that the job does not
 * use.  To be called once, before the job's processes exist. */
void stub_open_files(struct stub *stub);
/* Gives this process the descriptors that it has in the image, with their numbers. */
void stub_make_descriptors(struct stub *stub);
/* Returns the descriptor of the shared memory that has the index `file` in the table of files;
 * valid until stub_finish_descriptors(). */
int stub_memory_file(const struct stub *stub, uint32_t file);
/* Finishes the descriptors of this process when all processes and threads of the job exist: closes
 * the numbers that the job does not use, takes the process's file locks, and sets who gets signals
 * of its descriptors (F_SETOWN_EX). */
void stub_finish_descriptors(const struct stub *stub);
/* Closes the descriptors that stub_open_files() opened, in a process that does not belong to the
 * job (the keeper). */
void stub_forget_files(const struct stub *stub);
/* Waits until all processes have reached the stage.  Ends this process if one of them has
 * failed. */
void stub_meet(struct stub *stub, enum stub_stage stage);
/* Makes all other processes of the job end, because this process has failed. */
void stub_give_up(const struct stub *stub);
/* Makes the session, process group and children of this process.  Each child continues with
 * child(). */
void stub_make_tree(struct stub *stub, void (*child)(struct stub *stub));
/* ---- fd_terminal.c */
/* If the image says that the session which this process has just begun has a controlling terminal,
 * gives the session that terminal. */
void stub_take_terminal(const struct stub *stub);
/* If this process leads a session with a terminal, sets the terminal's foreground process group
 * (TIOCSPGRP) to what it was when the image was made.  To be called when the job's process groups
 * exist. */
void stub_put_in_front(const struct stub *stub);
/* Stops (SIGSTOP) those children of this process that are stopped in the image.  If this process
 * itself is stopped in the image, its parent stops it while it is in this function. */
void stub_stop_children(struct stub *stub);
/* Called by the keeper (process 1 of the namespace) when its child `pid` has ended.  If not all
 * processes of the job were complete yet, aborts the resuming. */
void stub_see_end(const struct stub *stub, long pid);
/* Called by the keeper: makes the processes whose parent had ended when the image was made.  Each
 * of them continues with child(). */
void stub_make_orphans(struct stub *stub, void (*child)(struct stub *stub));
/* Unmaps all memory of this process except the window, and makes and fills the memory regions of
 * the job's process.  To be called on a stack in the window. */
void stub_make_memory(struct stub *stub);
/* Maps a region for saved pages of the job's former kernel (its vdso, vvar) as ordinary writable
 * memory, for use on another kernel. */
void stub_map_kept(const struct stub *stub, const struct ckpt_region *region);
/* Makes the functions of the job's saved vdso, which is of another kernel, jump to the same
 * functions of this kernel's vdso, which lies at address `vdso`. */
void stub_patch_vdso(const struct stub *stub, uint64_t vdso);
void stub_make_process(struct stub *stub);
/* Makes and sets the timers of this process.  To be called when its threads exist, because some
 * timers send their signal to a thread. */
void stub_start_timers(struct stub *stub);
_Noreturn void stub_run_threads(struct stub *stub);

#endif
