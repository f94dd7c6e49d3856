/* base/stream_run.h - how a process's streams start: for command line programs only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_RUN_H
#define BASE_STREAM_RUN_H

#include <stdbool.h>

/* Before the first stream, in a process that only dials and soon ends: TLS starts without OpenSSL's
 * configuration file (unless configured) and without its old names of ciphers, of which
 * no stream uses anything, and OpenSSL tidies up nothing when the process ends.  Files that are
 * encrypted with a password cannot be read then. */
void stream_run_small(bool configured);

#endif
