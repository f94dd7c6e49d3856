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

/* Called when the checkpoint in hand counts, or failed (counts false): notes whether the next
 * archive may hold only the files changed since. */
void ckpt_take_note_sent(struct starter *starter, bool counts);
/* Starts `roost-ckpt dump`, which makes image and archive.  Sets ckpt.pid and the names in
 * ckpt.in_hand.files; on_exit is called with the starter as its argument.  0 or -errno. */
int ckpt_take_spawn(struct starter *starter, os_exit_f on_exit, struct err *err);
/* Returns what roost-ckpt printed: attributes, or why it failed; "" if nothing.  The caller owns
 * it. */
char *ckpt_take_report(struct starter *starter);
/* Reads the report of a dump that succeeded and fills manifest, id, is_delta and sizes of
 * ckpt.in_hand.  0 or -errno; -ENODATA: the image builds upon one that the shadow does not have. */
int ckpt_take_manifest(struct starter *starter, const char *report, struct err *err);
/* Starts `roost-ckpt follow`, which records what memory changes, if this machine and the
 * configuration allow it and it does not run.  Gives up after a few failures in a run. */
void ckpt_take_follow(struct starter *starter);
/* Kills the programs that run beside the job for checkpoints. */
void ckpt_take_end(struct starter *starter);

#endif
