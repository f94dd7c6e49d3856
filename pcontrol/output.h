/* pcontrol/output.h - where the output of a job goes: a bounded buffer, or a file.
 *
 * A file is written off the loop thread.  A file that cannot be written just now (a full disk, a
 * file server that does not answer) is tried again until it can: output is never lost, and the job
 * waits, because its bytes are acknowledged only when they are in the file.  A buffer keeps the
 * last bytes and counts those that it has dropped.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_OUTPUT_H
#define PCONTROL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"

struct os;
struct output;
struct output_house;

/* What all outputs of a controller share: threads, and the limit of all buffers together. */
struct output_house *output_house_create(struct loop *loop, struct os *os, size_t buffer_max,
                                         size_t buffers_max);
void output_house_destroy(struct output_house *house); /* all outputs must have been destroyed */

/* path: the file, which is emptied now, soon; NULL: a buffer.  number: outputs of one number are
 * written in turn.  changed(arg) is called from the loop when one of the answers below may have
 * changed. */
struct output *output_create(struct output_house *house, const char *path, uint64_t number,
                             loop_f changed, void *arg);
/* Drops what is not written yet.  No callback follows.  NULL is allowed. */
void output_destroy(struct output *output);
void output_add(struct output *output, const void *data, size_t length);
void output_finish(struct output *output); /* no more bytes come */
/* Drops what is not written yet and what still comes: nobody wants it any more. */
void output_give_up(struct output *output);

/* Returns whether the file has been opened; true of a buffer. */
bool output_is_open(const struct output *output);
/* Returns how many bytes more have been dealt with since the last call. */
size_t output_take_done(struct output *output);
/* Returns whether, after output_finish(), everything is in the file, or in the buffer. */
bool output_is_complete(const struct output *output);
/* Returns why the file cannot be written and never will be (no such directory, no permission ...);
 * NULL: it can, or perhaps later. */
const char *output_refusal(const struct output *output);
/* Returns the bytes of a buffer, and how many were dropped before them. */
const char *output_bytes(const struct output *output, size_t *length, uint64_t *dropped);
/* Returns the knob whose limit has dropped bytes last; NULL: none. */
const char *output_limit(const struct output *output);
uint64_t output_total(const struct output *output); /* bytes of output so far */
/* Returns why the file cannot be written just now; NULL: it can. */
const char *output_trouble(const struct output *output);

/* Writes a copy of the bytes into a file, off the loop thread and as a shell's > does: what has the
 * name stays what it is, with its owner and mode, also if it is a device or a link.  number: as in
 * output_create().  done(arg) is called once, from the loop; output_save_why() says then why the
 * file could not be written, NULL: it is. */
struct output_save;
struct output_save *output_save_start(struct output_house *house, const char *path, uint64_t number,
                                      const void *data, size_t length, loop_f done, void *arg);
const char *output_save_why(const struct output_save *save);
void output_save_cancel(struct output_save *save); /* done is not called; NULL is allowed */

#endif
