/* starter/remote_words_plan.h - words for roost-rsys-mount, and what its end means.
 *
 * roost-rsys-mount (the mount) runs the job below it and exits with the job's status.  Its own
 * messages go to a standard error that the job does not have.  So a message there tells whose end
 * it was: without one, an exit status is the job's, and a signal hit the mount.
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
    REMOTE_END_JOBS,    /* the job's own end */
    REMOTE_END_AGAIN,   /* machine, network or mount failed: give up the run, the job runs again */
    REMOTE_END_REFUSED, /* something that the job names cannot be had: hold the job */
};

/* Returns the route by which the mount reaches the file server of the shadow that has the route
 * shadow_route.  The caller owns it. */
char *remote_words_plan_route(const char *shadow_route);
/* Returns whether the job names a file below /tmp of its submit machine.  Then its /tmp must be
 * that one. */
bool remote_words_plan_names_tmp(const struct ad *job);
/* Finds the mount's last message in text, the contents of its log, and copies it without the
 * program's name into ret; "" when there is none.  Lines of other programs are skipped. */
void remote_words_plan_said(const char *text, char *ret, size_t size);
/* Judges the end of the mount by its exit status, or its signal (0: none), and its last message
 * ("": none). */
enum remote_end remote_words_plan_end(int status, int signal, const char *said);

#endif
