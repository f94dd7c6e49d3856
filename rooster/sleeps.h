/* rooster/sleeps.h - powers down machines whose POWER_METHOD is `rooster`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SLEEPS_H
#define ROOSTER_SLEEPS_H

#include <stdbool.h>

struct node;

/* Does the next step to power a machine down, and returns true.  Returns false when this sleep has
 * already ended, although the ads do not say so yet.  To be called when the machine was examined
 * and its offline ads ask the rooster to power it down. */
bool sleeps_look(struct node *node);

#endif
