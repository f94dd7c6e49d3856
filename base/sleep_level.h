/* base/sleep_level.h - the names of a machine's levels of sleep, as HIBERNATE may have them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SLEEP_LEVEL_H
#define BASE_SLEEP_LEVEL_H

#define SLEEP_LEVEL_MAX 5 /* S5: switched off */

/* Returns 1 to 5 for a name of a level ("S3", "RAM", "suspend"), 0 for "NONE"; -1: not a level. */
int sleep_level_of(const char *name);

#endif
