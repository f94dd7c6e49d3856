/* startd/startd.h - what the startd's main() and the simulator need to start a startd: its knobs
 * and its struct daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_H
#define STARTD_STARTD_H

struct daemon;
struct knob_table;

extern const struct knob_table startd_knobs;
extern const struct daemon startd_daemon;

#endif
