/* ckpt/library/library.h - declarations shared by the parts of the checkpoint library, which is
 * linked into a user's program.
 *
 * The process belongs to the user: the library prints nothing, never ends the process, and always
 * returns.  It uses only its own memory, and only those functions of the C library that code of the
 * main thread may call.  The watcher, the thread that waits for signals (watch.c), is unknown to
 * the C library: it has no errno and no thread-local storage, and makes its system calls directly
 * (ckpt/stub/sys.h).  So do all parts of the library except the public functions in library.c.  See
 * docs/decisions/0017-relinked-programs.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_LIBRARY_LIBRARY_H
#define CKPT_LIBRARY_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/library/outcome.h"
#include "ckpt/stub/text.h"

#define LIBRARY_PATH  1024
#define LIBRARY_STACK 16384

/* A lock for sections, the parts of a program in which no image may be made, and for images
 * (gate.c).  Several threads can hold it at once, to be in sections; a thread that makes an image
 * holds it alone. */
struct gate {
    uint32_t sections; /* number of sections that threads are in */
    uint32_t taking;   /* 1: an image is being made */
};

/* Arguments and stacks of the helper, the process that makes an image; the helper uses them until
 * it has ended. */
struct order {
    struct outcome *outcome;
    const char *argv[7];
    struct stub_text pid, place;
    unsigned char waiter_stack[LIBRARY_STACK] __attribute__((aligned(16)));
    unsigned char helper_stack[LIBRARY_STACK] __attribute__((aligned(16)));
};

struct library {     /* the state of the library */
    int32_t pid;     /* process number with which the program began; 0: the library is not in use */
    int32_t watcher; /* thread number of the thread that waits for signals */
    uint32_t interval_s; /* seconds between images; 0: no images at intervals */
    /* When the last image was made, or the program began; ns of this machine's CLOCK_MONOTONIC. */
    int64_t last_ns;
    void (*before)(void *arg);
    void (*after)(void *arg, int result);
    void (*resumed)(void *arg);
    void *arg;
    struct gate gate;
    struct outcome outcome; /* what the helper process reports about the latest image */
    struct order order;
    char file[LIBRARY_PATH]; /* absolute path of the next image */
    char log[LIBRARY_PATH];  /* absolute path of the log of images; "": none */
    unsigned char watcher_stack[LIBRARY_STACK] __attribute__((aligned(16)));
};

/* ---- library.c */
/* Makes an image, and returns the values of roost_checkpoint(). ends: true: the job ends when the
 * image is made. hooks: true: the functions that the program has set by roost_checkpoint_hooks()
 * are called; this thread must be one that the C library has made. */
int library_take(struct library *library, bool ends, bool hooks);

/* ---- gate.c */
/* Makes this thread enter a section.  Returns false, and the thread is not in a section, if an
 * image is being made and the program is still stopped for it. outcome: what the helper, the
 * process that makes the image, reports about that image. */
bool gate_try(struct gate *gate, const struct outcome *outcome);
/* Waits until gate_try() may succeed: no image is being made, or `outcome` says that the program
 * runs again while the image is being finished. */
void gate_wait(const struct gate *gate, const struct outcome *outcome);
void gate_leave(struct gate *gate); /* ends a section of this thread */
/* Waits until no other thread makes an image and no thread is in a section.  Then this thread holds
 * the lock alone, until gate_open(). */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate); /* releases the lock that gate_close() took */

/* ---- take.c */
/* Starts the helper process, which makes the image, and waits for its end. ends: true: the job ends
 * when the image is made.  Returns 0: the image was made; 1: this is the job that was resumed from
 * the image; or a negative errno. */
int take_image(struct library *library, bool ends);

/* ---- watch.c */
/* Starts the watcher, the thread that waits for signals.  To be called in the first thread of the
 * program.  Returns 0 or a negative errno. */
int watch_start(struct library *library);
/* The work of the watcher: waits for signals and for the interval, and makes images.  Returns when
 * this thread is not the watcher any more. hooks: true: this thread was made by the C library and
 * calls the program's hooks; also returns when it is the only thread left, so that the process
 * ends. */
void watch_run(struct library *library, bool hooks);
/* Wakes the watcher, so that it reads the interval again, or notices that another thread is the
 * watcher now. watcher: thread number of the thread to wake; 0: none. */
void watch_wake(const struct library *library, int32_t watcher);
int64_t watch_now_ns(void);

/* ---- entry.S */
/* Makes a thread or process that the C library does not know: clone() with these flags.  The new
 * thread calls function(arg) on the stack that ends at stack_end, and ends when that function
 * returns.  Returns the new thread's number or a negative errno. */
long library_clone(uint64_t flags, void *stack_end, void (*function)(void *arg), void *arg);

/* The bytes of the helper, the static program that makes an image; the build makes these bytes. */
extern const unsigned char library_helper[];
extern const uint64_t library_helper_bytes;

#endif
