/* ckpt/library/library.h - what the parts of the checkpoint library share, inside a user's program.
 *
 * The process is not ours: the library prints nothing, never ends the process, and always returns.
 * It uses only its own memory, and of the C library only what code of the main thread may call.
 * The thread that waits for signals (watch.c) is unknown to the C library: it has no errno and no
 * thread-local storage, and uses plain system calls (ckpt/stub/sys.h) only.  So do all parts except
 * library.c's public functions.  See docs/decisions/0017-relinked-programs.md.
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

/* A lock (gate.c): threads in sections hold it together, and then no image is made; a thread that
 * makes an image holds it alone. */
struct gate {
    uint32_t sections; /* threads in sections */
    uint32_t taking;   /* 1: an image is being made */
};

struct order { /* what the helper process must do; used while a thread waits for the helper */
    struct outcome *outcome;
    const char *argv[7];
    struct stub_text pid, place;
    unsigned char waiter_stack[LIBRARY_STACK] __attribute__((aligned(16)));
    unsigned char helper_stack[LIBRARY_STACK] __attribute__((aligned(16)));
};

struct library {     /* the state of the library */
    int32_t pid;     /* of the process that the program began as; 0: the library is not in use */
    int32_t watcher; /* thread number of the thread that waits for signals */
    uint32_t interval_s; /* 0: no images at intervals */
    /* When the last image was made, or the program began, on this machine's clock. */
    int64_t last_ns;
    void (*before)(void *arg);
    void (*after)(void *arg, int result);
    void (*resumed)(void *arg);
    void *arg;
    struct gate gate;
    struct outcome outcome; /* of the latest image */
    struct order order;
    char file[LIBRARY_PATH]; /* absolute; where the next image goes */
    char log[LIBRARY_PATH];  /* absolute; "": none */
    unsigned char watcher_stack[LIBRARY_STACK] __attribute__((aligned(16)));
};

/* ---- library.c */
/* Makes an image, as roost_checkpoint() does. ends: the job ends with it. hooks: call the program's
 * hooks, if that is allowed in this thread. */
int library_take(struct library *library, bool ends, bool hooks);

/* ---- gate.c */
/* Enters a section.  False: an image is being made. */
bool gate_try(struct gate *gate, const struct outcome *outcome);
/* Waits until gate_try() may succeed. */
void gate_wait(const struct gate *gate, const struct outcome *outcome);
void gate_leave(struct gate *gate); /* ends the section */
/* Waits until nobody else makes an image and no thread is in a section, and holds the lock
 * alone. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate); /* releases it */

/* ---- take.c */
/* Starts the helper, which makes the image, and waits for it.  0; 1: this is the resumed job; or a
 * negative errno. */
int take_image(struct library *library, bool ends);

/* ---- watch.c */
/* Starts the thread that takes signals.  Called in the first thread of the program.  0 or a
 * negative errno. */
int watch_start(struct library *library);
/* Does the work of that thread in a thread that the C library has made, until it is not the watcher
 * any more. hooks: also until it is the only thread left; the C library does not know of that, and
 * ends the process. */
void watch_run(struct library *library, bool hooks);
/* Makes the watcher look at the interval again, or notice that another thread is the watcher. */
void watch_wake(const struct library *library, int32_t watcher);
int64_t watch_now_ns(void);

/* ---- entry.S */
long library_clone(uint64_t flags, void *stack_end, void (*function)(void *arg), void *arg);

/* ---- made by the build: the helper, a static program */
/* The helper, a static program, as bytes; made by the build. */
extern const unsigned char library_helper[];
extern const uint64_t library_helper_bytes;

#endif
