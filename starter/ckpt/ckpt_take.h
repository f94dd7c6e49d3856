/* starter/ckpt/ckpt_take.h - makes the files of a checkpoint by running roost-ckpt beside the job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_TAKE_H
#define STARTER_CKPT_CKPT_TAKE_H

#include <stdbool.h>

#include "base/os/os.h"

struct err;
struct starter;

/* Called when the checkpoint in hand was committed (counts true) or has failed (false): notes
 * whether the next archive may contain only files that change from now on. */
void ckpt_take_note_sent(struct starter *starter, bool counts);
/* Starts `roost-ckpt dump`, which makes image and archive.  Sets run.ckpt.pid and the names in
 * run.ckpt.in_hand.files; on_exit is called with the starter as its argument when `roost-ckpt dump`
 * ends.  Returns 0 or -errno. */
int ckpt_take_spawn(struct starter *starter, os_exit_f on_exit, struct err *err);
/* Returns what `roost-ckpt dump` printed: attributes of the checkpoint, or why it failed; "" if
 * nothing.  The caller owns the string. */
char *ckpt_take_report(struct starter *starter);
/* Reads the report of a successful `roost-ckpt dump` and fills manifest, id, is_delta and sizes of
 * run.ckpt.in_hand.  Returns 0 or -errno; -ENODATA if the image contains changes to an image that
 * the shadow does not have. */
int ckpt_take_manifest(struct starter *starter, const char *report, struct err *err);
/* Starts `roost-ckpt follow`, which records what memory the job changes, unless it runs already.
 * Does nothing if this machine or the configuration does not allow that, or after a few failures in
 * a run. */
void ckpt_take_follow(struct starter *starter);
/* Kills the programs that run beside the job for checkpoints. */
void ckpt_take_end(struct starter *starter);

#endif
