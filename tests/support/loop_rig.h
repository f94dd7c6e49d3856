/* tests/support/loop_rig.h - what a test of a daemon starts with: a real event loop, a directory of
 * its own, a log in memory, and waiting with a time limit.
 *
 * Nothing here sleeps: the loop runs until a condition is true.  A condition that does not become
 * true within LOOP_RIG_PATIENCE_MS fails the test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_LOOP_RIG_H
#define TESTS_SUPPORT_LOOP_RIG_H

#include "tests/support/unit.h"

#include <stdbool.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "base/strbuf.h"
#include "tests/support/fast_dir.h"

#define LOOP_RIG_PATIENCE_MS 60000
#define LOOP_RIG_PATH_SIZE   300 /* most bytes of a path, with the terminating zero */

/* Fails the test with the text of `err` unless the call, which must pass a variable `err`,
 * returns 0. */
#define MUST(call)                                 \
    do {                                           \
        struct err must_ = {""};                   \
        struct err *err = &must_;                  \
        if ((call) != 0) {                         \
            fail_msg("%s: %s", #call, must_.text); \
        }                                          \
    } while (0)

/* ---- loop and directory ---- */

/* Makes the event loop and a new directory. */
static inline void loop_rig_open(struct loop **loop, struct os **os, char dir[FAST_DIR_SIZE])
{
    assert_true(fast_dir_make(dir));
    MUST(loop_create(loop, err));
    MUST(os_create(*loop, os, err));
}

/* Destroys the event loop and removes the directory with everything in it. */
static inline void loop_rig_close(struct loop *loop, struct os *os, const char *dir)
{
    MUST(os_remove_tree(os, dir, err));
    os_destroy(os);
    loop_destroy(loop);
}

static inline void loop_rig_path(const char *dir, const char *name, char ret[LOOP_RIG_PATH_SIZE])
{
    (void)snprintf(ret, LOOP_RIG_PATH_SIZE, "%s/%s", dir, name);
}

static inline void loop_rig_write(struct os *os, const char *dir, const char *name,
                                  const char *text, mode_t mode)
{
    char path[LOOP_RIG_PATH_SIZE];
    loop_rig_path(dir, name, path);
    MUST(os_write_file(os, path, text, strlen(text), mode, false, err));
}

/* ---- waiting ---- */

static inline void loop_rig_set_flag(void *flag)
{
    *(bool *)flag = true;
}

/* Runs the event loop for delay_ms milliseconds. */
static inline void loop_rig_turn(struct loop *loop, uint64_t delay_ms)
{
    bool over = false;
    struct loop_timer *timer = loop_timer_create(loop, loop_rig_set_flag, &over);
    loop_timer_set(timer, delay_ms);
    loop_run_until(loop, &over);
    loop_timer_destroy(timer);
}

/* Runs the loop until the condition, which is checked every millisecond, is true.  When the
 * condition is still false after LOOP_RIG_PATIENCE_MS, fails the test with the text that printf()
 * would make of format; the arguments are evaluated only then. */
#define LOOP_RIG_UNTIL(loop, condition, format, ...)                                \
    do {                                                                            \
        unsigned turns_ = 0;                                                        \
        do {                                                                        \
            loop_rig_turn((loop), turns_ > 0 ? 1 : 0);                              \
        } while (!(condition) && ++turns_ < LOOP_RIG_PATIENCE_MS);                  \
        if (turns_ == LOOP_RIG_PATIENCE_MS) {                                       \
            fail_msg("waited too long for the condition '%s'\n" format, #condition, \
                     ##__VA_ARGS__);                                                \
        }                                                                           \
    } while (0)

static inline void loop_rig_give_up(void *loop)
{
    loop_stop(loop, 1);
}

/* Runs the loop until a callback has set the flag; after the time limit, fails the test and prints
 * the log, if any (log may be NULL). */
static inline void loop_rig_await(struct loop *loop, const bool *flag, struct strbuf *log)
{
    struct loop_timer *limit = loop_timer_create(loop, loop_rig_give_up, loop);
    loop_timer_set(limit, LOOP_RIG_PATIENCE_MS);
    loop_run_until(loop, flag);
    loop_timer_destroy(limit);
    if (!*flag) {
        fail_msg("waited too long; the log is:\n%s", log != NULL ? strbuf_text(log) : "");
    }
}

/* ---- the log ---- */

/* Appends a line of the log to the struct strbuf `context`. */
static inline void loop_rig_log_line(void *context, const char *line, size_t length)
{
    strbuf_append(context, line, length);
}

static inline int64_t loop_rig_log_clock(void *context)
{
    return loop_wall_ms(context);
}

static inline struct log_sink loop_rig_sink(struct strbuf *text)
{
    return (struct log_sink){.write = loop_rig_log_line, .context = text};
}

/* Makes a log that appends its lines to `text`. */
static inline struct log *loop_rig_log(struct loop *loop, enum log_level level, struct strbuf *text)
{
    return log_create("test", level, loop_rig_sink(text),
                      (struct log_clock){.utc_ms = loop_rig_log_clock, .context = loop});
}

#endif
