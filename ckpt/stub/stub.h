/* ckpt/stub/stub.h - the program at the head of an image, that becomes the job.
 *
 * It is a flat piece of code (stub.ld) which runs wherever it is put, has no data of its own and
 * uses no library: of its process it keeps nothing but the window, in which it lies with its
 * tables, and a stack for each thread.  Order, for one process:
 *
 *     start.c        options, the machine is one that can run the image, namespaces (keeper.c)
 *     tree.c         the processes, with the numbers that they had; sessions and groups
 *     descriptors.c  files opened, at their numbers, positions and flags
 *     memory.c       the kernel's pages put aside, all else unmapped, regions made and filled
 *     process.c      what a process has one of: handlers, timers, limits, where its heap ends ...
 *     threads.c      its threads, with the numbers that they had; they wait for each other; each
 *                    loads its registers by returning from a signal that never was
 *
 * Nothing after memory.c can be undone: an error then is said, and the process ends with EXIT_LOST.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_STUB_H
#define CKPT_STUB_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format.h"

#define STUB_EXIT_LOST 125 /* the job could not be resumed */

enum stub_stage { /* each is reached by all processes before any goes on */
                  STUB_BORN,
                  STUB_LEADS,
                  STUB_GROUPED,
                  STUB_READY,
                  STUB_FINISHED,
                  STUB_HALTED, /* who was stopped is */
                  STUB_STAGES
};

struct stub_meeting { /* in memory that all processes share */
    uint32_t arrived[STUB_STAGES];
    uint32_t lost; /* one of them cannot go on: so does none */
};

struct stub {
    const struct ckpt_head *head;
    const struct ckpt_process *process; /* the one that this process becomes */
    uint64_t stub;                      /* address of the code */
    struct ckpt_xstate_layout xstate;   /* of this machine */
    int image;   /* descriptor of the image, at a number that the job does not use */
    int say;     /* where errors go, the same */
    int out;     /* the keeper's; -1: none */
    bool lazy;   /* --lazy */
    bool stdio;  /* --stdio: descriptors 0 to 2 as they were, too */
    bool inside; /* --inside */
    bool check;  /* --check */
    bool sums;   /* what is read is compared with its sum */
    int high;    /* from this number on the job has no descriptor */
    uint32_t file_count;
    struct stub_meeting *meeting;
    /* the barrier of the threads */
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

/* "cannot resume: WHAT [THING]: ENOENT"; ends the process. */
_Noreturn void stub_fail(const struct stub *stub, const char *what, const char *thing, long error);
/* The same, with a number. */
_Noreturn void stub_fail_at(const struct stub *stub, const char *what, uint64_t address,
                            long error);
/* Fails when the result is an error; else returns it. */
long stub_must(const struct stub *stub, long result, const char *what);

/* entry.S */
/* Goes on with function(arg) on that stack; no return. */
_Noreturn void stub_on_stack(void (*function)(void *arg), void *arg, uint64_t stack);
/* clone3() of a thread that begins with function(arg) on the stack of its args. */
long stub_clone(const void *args, size_t size, void (*function)(void *arg), void *arg);
_Noreturn void stub_sigreturn(uint64_t frame);

/* Once, before there are others: all open files of all processes, at high numbers. */
void stub_open_files(struct stub *stub);
void stub_make_descriptors(struct stub *stub);
/* The descriptor of memory that processes share, until stub_finish_descriptors(). */
int stub_memory_file(const struct stub *stub, uint32_t file);
/* When all processes have their memory and their threads: what refers to these. */
void stub_finish_descriptors(const struct stub *stub);
/* In a process that is none of the job's. */
void stub_forget_files(const struct stub *stub);
/* Waits for all processes to come as far; ends this one when one of them is lost. */
void stub_meet(struct stub *stub, enum stub_stage stage);
/* The others wait no more. */
void stub_give_up(const struct stub *stub);
/* Makes the children of this process, which each go on with child(); and its session and group. */
void stub_make_tree(struct stub *stub, void (*child)(struct stub *stub));
/* ---- fd_terminal.c: of the session that this process leads, and has just begun */
void stub_take_terminal(const struct stub *stub);
/* And who is in front there, once there are groups. */
void stub_put_in_front(const struct stub *stub);
/* Stops those children that were; here this one is, too, if it was: nothing is left to do for it.
 */
void stub_stop_children(struct stub *stub);
/* By the keeper: one whose parent it is has ended.  Was that before all were there, none goes on.
 */
void stub_see_end(const struct stub *stub, long pid);
/* Those that nobody is the parent of: by the keeper. */
void stub_make_orphans(struct stub *stub, void (*child)(struct stub *stub));
/* On the window's stack. */
void stub_make_memory(struct stub *stub);
/* The kernel's pages that were kept, as ordinary memory that can be written to. */
void stub_map_kept(const struct stub *stub, const struct ckpt_region *region);
/* The job has the code of another kernel's vdso: its functions become jumps to the one at vdso. */
void stub_patch_vdso(const struct stub *stub, uint64_t vdso);
void stub_make_process(struct stub *stub);
/* Sets timers, which may be for threads. */
void stub_start_timers(struct stub *stub);
_Noreturn void stub_run_threads(struct stub *stub);

#endif
