/* cli/submit_queue.h - the arguments of a queue statement: how many jobs, and of which items.
 *
 *     queue [COUNT] [VAR[,VAR...] in (ITEM, ITEM ...)]
 *     queue [COUNT] [VAR[,VAR...]] from FILE | from ( lines )
 *     queue [COUNT] [VAR] matching [files|dirs] PATTERN...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SUBMIT_QUEUE_H
#define CLI_SUBMIT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct err;
struct submit_world;

struct submit_queue {
    int64_t count;
    bool has_items;
    struct vec variables; /* names; none: "Item" */
    struct vec items;     /* one text a row */
};

/* COUNT is a number, or, in a statement without items, an expression of numbers: `queue 2 * 3`. */
/* block: the lines between `(` at the end of the statement and the line with `)`; NULL when there
 * were none. */
int submit_queue_parse(const char *args, const char *block, const struct submit_world *world,
                       struct submit_queue *ret, struct err *err);
void submit_queue_fini(struct submit_queue *queue);
/* Gives each variable its part of a row: parts end at a comma or blank; the last variable takes the
 * rest. */
void submit_queue_split(const struct submit_queue *queue, size_t row,
                        void (*set)(void *arg, const char *name, const char *value), void *arg);

#endif
