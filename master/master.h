/* master/master.h - the daemon that keeps the others running.
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
