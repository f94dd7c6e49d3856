/* power/power_doubts.h - what in `node` sections is probably a mistake, for those who switch
 * machines.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_POWER_DOUBTS_H
#define POWER_POWER_DOUBTS_H

struct daemon_checking;

/* Says doubts about the sections, each with its file and line: names that no machine has, options
 * of methods that the section does not use, programs and files that are missing on this host.  Says
 * at most 20, and how many more there are.  Looks at each path once. */
void power_doubts(const struct daemon_checking *checking);

#endif
