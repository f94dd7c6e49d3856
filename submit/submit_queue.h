/* submit/submit_queue.h - the arguments of a queue statement: how many jobs, and of which items.
 *
 *     queue [COUNT] [VAR[,VAR...]] in [SLICE] (ITEM, ITEM ...)
 *     queue [COUNT] [VAR[,VAR...]] from [SLICE] FILE | from COMMAND | | from ( lines )
 *     queue [COUNT] [VAR] matching [files|dirs|any] [SLICE] PATTERN...
 *
 * SLICE is [start:end:step] as in Python, counted over all items; [start] alone is [start:].
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
    int64_t count; /* jobs of each item */
    bool has_items;
    struct vec variables; /* names; none: "Item" */
    struct vec items;     /* one text a row */
    size_t *indexes;      /* of each row before the slice; NULL: there was none */
};

/* Parses the arguments, whose macros are replaced; an open parenthesis is continued by lines.
 * COUNT is a number or an expression of numbers.  0, -EINVAL, -E2BIG, or what the world said. */
int submit_queue_parse(const char *args, struct submit_lines *lines,
                       const struct submit_world *world, struct submit_queue *ret, struct err *err);
void submit_queue_fini(struct submit_queue *queue);

/* Gives each variable its part of a row: parts end at a comma or blank; the last variable takes the
 * rest. */
void submit_queue_split(const struct submit_queue *queue, size_t row,
                        void (*set)(void *arg, const char *name, const char *value), void *arg);

/* The statement with its items in it. */
void submit_queue_print(const struct submit_queue *queue, struct strbuf *out);

#endif
