/* startd/startd.h - the daemon of a machine, as its main() and the simulator know it.
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
