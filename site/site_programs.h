/* site/site_programs.h - runs programs at the same time, and waits for all of them.
 *
 * A program gets its input in steps: the text of a step is written when the program has printed a
 * line that begins with what the step awaits.  So a host that does not answer is not sent anything
 * that it could read, and do, after the deadline.
 *
 * Nothing outlives its end: each program leads a process group of its own that is killed, and the
 * kernel kills the program when this process ends before (OS_BOUND_CHILD).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_PROGRAMS_H
#define SITE_SITE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/os.h"
#include "base/strbuf.h"

struct loop;
struct os_terminal;
struct site_set;

#define SITE_STEPS_MAX     3
#define SITE_OUTPUT_MAX    ((size_t)16 << 20) /* bytes of a program's output; more ends it */
#define SITE_COMPLAINT_MAX 300

struct site_step {
    const char *await; /* the beginning of a line of output; NULL: at once */
    const char *text;
    size_t length;
};

enum site_end {
    SITE_ENDED,   /* `how` says how; all of its input was written or it did not want it */
    SITE_TIMEOUT, /* it was killed: its time was over */
    SITE_FLOODED, /* it was killed: more than SITE_OUTPUT_MAX */
    SITE_UNSTARTED,
};

/* argv, file texts and steps are borrowed for the call of site_programs_run(); all else is made by
 * it. */
struct site_program {
    const char *const *argv; /* argv[0] is a path; ended by NULL */
    struct site_step steps[SITE_STEPS_MAX];
    size_t step_count;
    /* Time, by loop_now_ms(), by which the last step must have begun; 0: that of all. */
    uint64_t steps_end_ms;
    uint64_t limit_ms; /* it is killed so long after its start; 0: no limit of its own */
    bool joins_lines;  /* complaint: all lines of its standard error, as one; else the last line */

    enum site_end end;
    struct os_exit how;
    struct strbuf out;                  /* what it has printed */
    char complaint[SITE_COMPLAINT_MAX]; /* of its standard error, or why not run */

    struct site_set *set;
    struct os_terminal *terminal;
    pid_t pid; /* 0: it has ended */
    uint64_t started_ms;
    size_t step, written, scanned; /* the step under way; its bytes written; bytes of out read */
};

/* Runs the programs, at most at_once at a time, until all have ended or end_ms has come by
 * loop_now_ms(); those that have not ended then are killed.  site_program_fini() for each. */
void site_programs_run(struct loop *loop, struct os *os, struct site_program *programs,
                       size_t count, size_t at_once, uint64_t end_ms);
void site_program_fini(struct site_program *program);

/* Returns whether the program ended with exit status 0. */
bool site_program_succeeded(const struct site_program *program);
/* Writes why it did not succeed, in one line. */
void site_program_why(const struct site_program *program, char *ret, size_t size);

#endif
