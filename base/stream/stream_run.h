/* base/stream/stream_run.h - how TLS is set up in a process: for main() functions only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_RUN_H
#define BASE_STREAM_STREAM_RUN_H

#include <stdbool.h>

struct loop;

/* Prepares a process that only connects to servers and soon ends; to be called before the first
 * stream.  TLS is then set up without OpenSSL's configuration file (configured true: with this
 * file) and without OpenSSL's old names of ciphers, which no stream uses, and OpenSSL frees nothing
 * when the process ends.  Key files encrypted with a password cannot be read then. */
void stream_run_small(bool configured);

/* What stream_run_warm() has set up.  Contains no secret. */
struct stream_warm;
/* To be called in a process of which copies are made by fork() (base/daemon/prepared.h), so that
 * the copies need not do this work: the process makes a TLS connection to itself, by which OpenSSL
 * sets up all that a connection needs.  Returns the TLS settings for connections to servers whose
 * pin is known; NULL if something fails: then each copy does the work for itself. */
struct stream_warm *stream_run_warm(void);
/* Gives the result of stream_run_warm() to a loop, before the loop's first stream. warm may be
 * NULL. */
void stream_run_adopt(struct loop *loop, struct stream_warm *warm);

#endif
