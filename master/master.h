/* master/master.h - the master daemon, which starts the other daemons and restarts them when they
 * die.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MASTER_MASTER_H
#define MASTER_MASTER_H

struct daemon;
struct knob_table;

extern const struct knob_table master_knobs;
extern const struct daemon master_daemon;

#endif
