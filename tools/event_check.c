/* tools/event_check.c - are job event logs lives that jobs can have?  (eventlog/event_check.h)
 *
 *     event_check FILE...    a line for each event that fits no life, and for what is no event;
 * last "events N jobs N runs N terminated N aborted N illegal N".  Ends with 0 when all is legal
 * and each job of the files has ended, 1 if not, 2 for a file that cannot be read.  A job is looked
 * for in one file at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "eventlog/event_check.h"
#include "eventlog/event_reader.h"

#define PIECE_BYTES 65536

static void judge(const char *path, struct event_check *check, const struct event_entry *event)
{
    const char *wrong = event_check_next(check, event);
    if (wrong != NULL) {
        const char *end = memchr(event->text, '\n', event->length);
        int length = end != NULL ? (int)(end - event->text) : (int)event->length;
        (void)printf("%s: job %" PRId64 ".%" PRId64 " %s: %.*s\n", path, event->cluster,
                     event->proc, wrong, length, event->text);
    }
}

/* -1: it cannot be read; else how much of it is wrong. */
static int check_file(const char *path, struct event_totals *sum)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        (void)fprintf(stderr, "event_check: %s cannot be read\n", path);
        return -1;
    }
    struct event_reader *reader = event_reader_create();
    struct event_check *check = event_check_create();
    struct event_entry event;
    char piece[PIECE_BYTES];
    size_t length = 0;
    while ((length = fread(piece, 1, sizeof(piece), file)) > 0) {
        event_reader_feed(reader, piece, length);
        while (event_reader_next(reader, &event)) {
            judge(path, check, &event);
        }
    }
    struct event_totals totals;
    event_check_totals(check, &totals);
    size_t skipped = event_reader_skipped(reader);
    if (skipped > 0) {
        (void)printf("%s: %zu parts of the file are not events\n", path, skipped);
    }
    size_t open = totals.jobs - totals.terminated - totals.aborted;
    if (open > 0) {
        (void)printf("%s: %zu jobs have no end\n", path, open);
    }
    sum->events += totals.events;
    sum->jobs += totals.jobs;
    sum->runs += totals.runs;
    sum->terminated += totals.terminated;
    sum->aborted += totals.aborted;
    sum->illegal += totals.illegal;
    bool failed = ferror(file) != 0;
    event_check_destroy(check);
    event_reader_destroy(reader);
    (void)fclose(file); /* only read */
    return failed ? -1 : (int)(totals.illegal + skipped + open > 0);
}

int main(int argc, char **argv)
{
    struct event_totals sum = {0};
    int status = argc > 1 ? 0 : 2;
    for (int i = 1; i < argc; i++) {
        int wrong = check_file(argv[i], &sum);
        status = wrong < 0 ? 2 : wrong > status ? wrong : status;
    }
    (void)printf("events %zu jobs %zu runs %zu terminated %zu aborted %zu illegal %zu\n",
                 sum.events, sum.jobs, sum.runs, sum.terminated, sum.aborted, sum.illegal);
    return status;
}
