/* base/log.h - one event, one line.
 *
 *     2026-11-20T09:34:36.123Z rooster info wake.sent "wake command started" machine=wn01 attempt=1
 *
 * Design note: a line is UTC time, daemon, level, event name, message, then key=value pairs.  The
 * event name is for programs and never changes its meaning; the message is for people; what varies
 * goes into fields, so that a log can be searched without parsing prose.  Texts are quoted and
 * escaped: a stranger's bytes cannot forge a second line.  The object is handed around (no globals:
 * the simulator runs many daemons in one process); NULL is a silent log.  The time comes from a
 * callback, so that virtual time works; lines leave through a sink: a rotated file, stderr, a
 * test's buffer.
 *
 * A line that is written again and again becomes one line with a count, where the log knows how to
 * measure time (log_collapse()): a line is the same if level, event, message and fields are, but
 * for fields that are amounts (count, ..._ms, ..._s, ..._bytes).  The first such lines are written
 * at once, LOG_REPEAT_WARN or LOG_REPEAT_INFO of them.  The others of the next 10 s are counted,
 * and then the last of them is written with repeated=N in_s=M.  If it goes on, the time is doubled,
 * up to 10 minutes.  At level debug, everything is written.
 *
 * Levels: error = an operator must act; warn = something is wrong, but the daemon goes on; info = a
 * state changed; debug = the rest.  Secrets never belong into a log: that is the caller's duty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes with the newline, without the terminating zero; longer lines are cut and end in " ..." */
#define LOG_LINE_MAX 8192

struct err;
struct log;

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Where lines go. write() is called once for each line; the line ends in a newline and a zero
 * byte. */
struct log_sink {
    void (*write)(void *context, const char *line, size_t length);
    void (*close)(void *context); /* called by log_destroy(); may be NULL */
    void *context;
};

/* how often a line is written before its repetitions are counted: warnings and errors; others,
 * which tell of changes of state */
#define LOG_REPEAT_WARN 1
#define LOG_REPEAT_INFO 5

/* How a log measures how long a line repeats itself.  Both callbacks get the context. */
struct log_repeats {
    uint64_t (*now_ms)(void *context); /* monotonic time */
    /* Must call log_flush() at this time, or later. */
    void (*wake_at)(void *context, uint64_t at_ms);
    void *context;
};

struct log_clock {
    int64_t (*utc_ms)(void *context); /* milliseconds since 1970 */
    void *context;
};

enum log_field_type {
    LOG_FIELD_NONE,
    LOG_FIELD_TEXT,
    LOG_FIELD_INT,
    LOG_FIELD_REAL,
    LOG_FIELD_BOOL
};

struct log_field {
    const char *key; /* lower case with underscores, a unit at the end: "wait_ms" */
    enum log_field_type type;
    const char *text; /* NULL is written as "-" */
    int64_t integer;
    double real;
};

#define LOG_TEXT(key_, value_) \
    ((struct log_field){.key = (key_), .type = LOG_FIELD_TEXT, .text = (value_)})
#define LOG_INT(key_, value_) \
    ((struct log_field){.key = (key_), .type = LOG_FIELD_INT, .integer = (int64_t)(value_)})
#define LOG_REAL(key_, value_) \
    ((struct log_field){.key = (key_), .type = LOG_FIELD_REAL, .real = (value_)})
#define LOG_BOOL(key_, value_) \
    ((struct log_field){.key = (key_), .type = LOG_FIELD_BOOL, .integer = (value_) ? 1 : 0})

/* An example of a call: log_info(log, "wake.sent", "wake command started", LOG_TEXT("machine",
 * name), LOG_INT("attempt", n)); */
#define log_error(log, event, ...) LOG_AT_(log, LOG_LEVEL_ERROR, event, __VA_ARGS__)
#define log_warn(log, event, ...)  LOG_AT_(log, LOG_LEVEL_WARN, event, __VA_ARGS__)
#define log_info(log, event, ...)  LOG_AT_(log, LOG_LEVEL_INFO, event, __VA_ARGS__)
#define log_debug(log, event, ...) LOG_AT_(log, LOG_LEVEL_DEBUG, event, __VA_ARGS__)

#define LOG_AT_(log, level, event, ...) LOG_CALL_(log, level, event, __VA_ARGS__)
/* The array begins with an empty field, because an array must have one; log_write() gets the fields
 * after it. */
#define LOG_CALL_(log, level, event, message, ...)                         \
    do {                                                                   \
        if (log_wants((log), (level))) {                                   \
            const struct log_field log_fields_[] = {{0}, ##__VA_ARGS__};   \
            log_write((log), (level), (event), (message), log_fields_ + 1, \
                      sizeof(log_fields_) / sizeof(log_fields_[0]) - 1);   \
        }                                                                  \
    } while (0)

/* Makes a log. daemon (copied): the name to write in each line, such as "collector"; sink: where
 * the lines go; clock: tells the time of each line.  Lines less important than `level` are dropped
 * before they are formatted. */
struct log *log_create(const char *daemon, enum log_level level, struct log_sink sink,
                       struct log_clock clock);
void log_destroy(struct log *log); /* NULL is allowed; closes the sink */
void log_set_level(struct log *log, enum log_level level);
/* From now on, counts repeated lines instead of writing them; how is copied. */
void log_collapse(struct log *log, const struct log_repeats *how);
/* Writes the counts that are due. */
void log_flush(struct log *log);
/* Returns whether lines of this level are written; false for a NULL log. */
bool log_wants(const struct log *log, enum log_level level);
/* Writes one line. event: the name for programs, such as "wake.sent"; message: the text for people;
 * fields: the key=value pairs that follow.  Callers use the macros log_error() ... log_debug()
 * instead. */
void log_write(struct log *log, enum log_level level, const char *event, const char *message,
               const struct log_field *fields, size_t field_count);

/* Reads "error", "warn", "info" or "debug", or HTCondor's D_ERROR, D_ALWAYS (info) and D_FULLDEBUG
 * (debug), in any case.  Returns 0 or -EINVAL. */
int log_level_parse(const char *text, enum log_level *ret, struct err *err);
const char *log_level_name(enum log_level level);

/* Returns a sink that writes to stderr. */
struct log_sink log_sink_stderr(void);

/* Makes a sink that appends to a file.  When the file is larger than max_bytes (0: no limit), it is
 * renamed to PATH.old, an earlier PATH.old to PATH.old.2 and so on; `keep` old files remain (0: the
 * file is removed instead).  Several processes may write to the same file.  When a write fails its
 * line is lost and the daemon goes on; the next write that succeeds first writes how many lines
 * were lost.  Returns 0, or -errno with err naming the path. */
int log_sink_file(const char *path, uint64_t max_bytes, unsigned keep, struct log_sink *ret,
                  struct err *err);

#endif
