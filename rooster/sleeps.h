/* rooster/sleeps.h - machines whose POWER_METHOD is `rooster` are taken down from here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SLEEPS_H
#define ROOSTER_SLEEPS_H

#include <stdbool.h>

struct node;

/* Its offline ads ask for it: false when that has been done, and they do not say so yet. */
bool sleeps_look(struct node *node);

#endif
