/* ckpt/library/library.h - what the parts of the library share, inside a program that is not ours.
 *
 * A stranger's process: the library prints nothing, ends nothing and always returns; it needs no
 * memory but its own, and of the C library only what main thread code may call.  The thread that
 * waits for signals (watch.c) is one that the C library knows nothing of: it has no errno and no
 * thread-local storage of its own, and uses plain system calls (ckpt/stub/sys.h) only.  So do all
 * parts but library.c's public functions.  See docs/decisions/0017-relinked-programs.md.
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

struct gate { /* gate.c: sections in which no image is made, and images, one at a time */
    uint32_t sections;
    uint32_t taking;
};

struct order { /* what the helper is to do; in use while its waiter is there */
    struct outcome *outcome;
    const char *argv[7];
    struct stub_text pid, place;
    unsigned char waiter_stack[LIBRARY_STACK] __attribute__((aligned(16)));
    unsigned char helper_stack[LIBRARY_STACK] __attribute__((aligned(16)));
};

struct library {
    int32_t pid;     /* of the process that the program began as; 0: the library is not in use */
    int32_t watcher; /* the thread that waits for signals */
    uint32_t interval_s;
    int64_t last_ns; /* when there was an image, on this machine's clock; or the program began */
    void (*before)(void *arg);
    void (*after)(void *arg, int result);
    void (*resumed)(void *arg);
    void *arg;
    struct gate gate;
    struct outcome outcome; /* of the latest */
    struct order order;
    char file[LIBRARY_PATH]; /* absolute, as all that were given with a name */
    char log[LIBRARY_PATH];  /* "": none */
    unsigned char watcher_stack[LIBRARY_STACK] __attribute__((aligned(16)));
};

/* ---- library.c */
/* An image, with hooks if that is allowed here: as roost_checkpoint().  ends: and the job ends. */
int library_take(struct library *library, bool ends, bool hooks);

/* ---- gate.c */
/* Enters a section; false: an image is being made. */
bool gate_try(struct gate *gate, const struct outcome *outcome);
/* Until that is worth trying again. */
void gate_wait(const struct gate *gate, const struct outcome *outcome);
void gate_leave(struct gate *gate);
/* Until nobody else takes an image and no section is entered. */
void gate_close(struct gate *gate);
void gate_open(struct gate *gate);

/* ---- take.c */
/* Starts the helper and waits for it: 0, 1 (in the job that was resumed), or a negative errno. */
int take_image(struct library *library, bool ends);

/* ---- watch.c */
/* Begins to take signals, in the first thread of the program. */
int watch_start(struct library *library);
/* The same in a thread that the C library made; until it is not the watcher any more, or the only
 * thread that is left (hooks: else the C library does not know of it, and ends the process). */
void watch_run(struct library *library, bool hooks);
/* Has the watcher look at the interval again, or see that another one is. */
void watch_wake(const struct library *library, int32_t watcher);
int64_t watch_now_ns(void);

/* ---- entry.S */
long library_clone(uint64_t flags, void *stack_end, void (*function)(void *arg), void *arg);

/* ---- made by the build: the helper, a static program */
extern const unsigned char library_helper[];
extern const uint64_t library_helper_bytes;

#endif
