/* startd/startd_serve.h - the uplink to the collector, and the commands that come down it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_SERVE_H
#define STARTD_STARTD_SERVE_H

struct err;
struct startd;

int startd_serve_open(struct startd *startd, struct err *err);
void startd_serve_close(struct startd *startd);

#endif
