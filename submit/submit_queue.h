/* submit/submit_queue.h - the arguments of a queue statement: how many jobs, and for which items.
 *
 *     queue [COUNT] [VAR[,VAR...]] in [SLICE] (ITEM, ITEM ...)
 *     queue [COUNT] [VAR[,VAR...]] from [SLICE] FILE | from COMMAND | | from ( lines )
 *     queue [COUNT] [VAR] matching [files|dirs|any] [SLICE] PATTERN...
 *
 * SLICE is [start:end:step] as in Python, counted over all items; [start] alone means [start:].
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_QUEUE_H
#define SUBMIT_SUBMIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct err;
struct strbuf;
struct submit_lines;
struct submit_world;

struct submit_queue {
    int64_t count; /* number of jobs for each item */
    bool has_items;
    struct vec variables; /* names of variables for parts of an item; $(Item) is the whole */
    struct vec items;     /* texts of the items that SLICE leaves; a row is one of these */
    size_t *indexes;      /* index of each row among all items; NULL: the statement has no SLICE */
};

/* Parses the arguments of a queue statement, in which macros are already replaced.  If args ends
 * inside a parenthesis, the items up to its ')' are read from lines.  COUNT is a number or an
 * expression of numbers.  Returns 0; or, with err, -EINVAL (malformed), -E2BIG (a limit was
 * exceeded), or the error of a callback of world. */
int submit_queue_parse(const char *args, struct submit_lines *lines,
                       const struct submit_world *world, struct submit_queue *ret, struct err *err);
void submit_queue_fini(struct submit_queue *queue);

/* Calls set(arg, name, value) for each variable with its part of a row.  Parts end at a comma or
 * blank; the last variable gets the rest. */
void submit_queue_split(const struct submit_queue *queue, size_t row,
                        void (*set)(void *arg, const char *name, const char *value), void *arg);

/* Appends the queue statement to out, with all its items written out. */
void submit_queue_print(const struct submit_queue *queue, struct strbuf *out);

#endif
