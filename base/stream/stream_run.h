/* base/stream/stream_run.h - how a process's streams start: for command line programs only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_RUN_H
#define BASE_STREAM_STREAM_RUN_H

#include <stdbool.h>

struct loop;

/* Before the first stream, in a process that only dials and soon ends: TLS starts without OpenSSL's
 * configuration file (unless configured) and without its old names of ciphers, of which
 * no stream uses anything, and OpenSSL tidies up nothing when the process ends.  Files that are
 * encrypted with a password cannot be read then. */
void stream_run_small(bool configured);

/* For a process that others are copied from (base/daemon/prepared.h): has OpenSSL set up all that a
 * connection needs, by one connection of the process with itself, and returns what clients with a
 * pin can use of that, which is no secret.  What fails is set up by who needs it. */
struct stream_warm;
struct stream_warm *stream_run_warm(void);
/* Before the loop's first stream: it takes that over.  NULL: nothing. */
void stream_run_adopt(struct loop *loop, struct stream_warm *warm);

#endif
