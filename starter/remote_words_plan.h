/* starter/remote_words_plan.h - what a job's file system is told of names, and what its end means.
 *
 * roost-rsys-mount ends as its job does.  So what it says on its own standard error, which the job
 * does not have, tells the one from the other: without a line there a status is the job's, and a
 * signal is not.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_REMOTE_WORDS_PLAN_H
#define STARTER_REMOTE_WORDS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;

enum remote_end {
    REMOTE_END_JOBS,    /* the job's own */
    REMOTE_END_AGAIN,   /* the run is over: the machine, the network, the mount */
    REMOTE_END_REFUSED, /* what the job names cannot be had: it is held */
};

/* The route to the server of a shadow with that route; the caller's. */
char *remote_words_plan_route(const char *shadow_route);
/* Does the job name something of the submit machine's /tmp?  Then that is its own. */
bool remote_words_plan_names_tmp(const struct ad *job);
/* The last line of what was said that is not another program's, without who says it; "": none. */
void remote_words_plan_said(const char *text, char *ret, size_t size);
enum remote_end remote_words_plan_end(int status, int signal, const char *said);

#endif
