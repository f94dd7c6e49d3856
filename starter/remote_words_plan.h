/* starter/remote_words_plan.h - makes arguments for roost-rsys-mount, and decides what the end of
 * its process means.
 *
 * roost-rsys-mount starts the job and ends as the job did: with its exit status, or by its signal.
 * Before it ends for a reason of its own, or after a signal has ended the job, it writes a message
 * to its standard error, which the job does not share.  So:
 *
 *   exit status, no message   the job has exited
 *   exit status, a message    roost-rsys-mount failed if the status is 1, 75 or 126 (each for its
 *                             own reason); with another status the job has exited
 *   signal, no message        the signal has ended roost-rsys-mount
 *   signal, a message         the signal has ended the job
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
    REMOTE_END_JOBS, /* the job itself ended */
    /* machine, network or roost-rsys-mount failed: give up the run, the job runs again */
    REMOTE_END_AGAIN,
    REMOTE_END_REFUSED, /* a file or program that the job names cannot be used: hold the job */
};

/* Returns the route (network name) of the file server of the shadow whose own route is
 * shadow_route.  The caller owns the string. */
char *remote_words_plan_route(const char *shadow_route);
/* Returns whether the job names a file below /tmp of its submit machine (Iwd, Cmd, In, Out or Err).
 * Then the job must see that machine's /tmp. */
bool remote_words_plan_names_tmp(const struct ad *job);
/* Copies to ret the last message of roost-rsys-mount, without the program's name, from text, the
 * contents of its log; "" if there is none.  Skips lines of other programs. */
void remote_words_plan_said(const char *text, char *ret, size_t size);
/* Decides what the end of the process of roost-rsys-mount means. status: its exit status; signal:
 * the signal that ended it (0: none); said: the last message of roost-rsys-mount ("": none). */
enum remote_end remote_words_plan_end(int status, int signal, const char *said);

#endif
