/* starter/ckpt/ckpt_take.h - what makes a checkpoint of the job: the programs beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_TAKE_H
#define STARTER_CKPT_CKPT_TAKE_H

#include <stdbool.h>

#include "base/os/os.h"

struct err;
struct starter;

/* The one in hand counts (or not): from now on what changed since is known, if that can be. */
void ckpt_take_note_sent(struct starter *starter, bool counts);
/* Begins to make image and archive: ckpt.pid, ckpt.in_hand.files. */
int ckpt_take_spawn(struct starter *starter, os_exit_f on_exit, struct err *err);
char *ckpt_take_report(struct starter *starter); /* what was said of them, or why not */
/* ckpt.in_hand: manifest, id, is_delta, sizes; of a report.  -ENODATA: it is of no use to the
 * shadow.
 */
int ckpt_take_manifest(struct starter *starter, const char *report, struct err *err);
void ckpt_take_follow(struct starter *starter); /* starts a follower, if there should be one */
void ckpt_take_end(struct starter *starter);    /* none of these programs is left */

#endif
