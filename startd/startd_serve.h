/* startd/startd_serve.h - the connection to the collector, and the commands that come over it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_SERVE_H
#define STARTD_STARTD_SERVE_H

struct err;
struct startd;

/* Connects to the collector, and connects again whenever the connection is lost.  Returns 0 or
 * -errno; a failed attempt to connect is not an error. */
int startd_serve_open(struct startd *startd, struct err *err);
void startd_serve_close(struct startd *startd);

#endif
