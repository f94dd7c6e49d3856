/* rooster/sleeps.h - takes down machines whose POWER_METHOD is `rooster`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SLEEPS_H
#define ROOSTER_SLEEPS_H

#include <stdbool.h>

struct node;

/* Call it when its offline ads ask to be taken down; carries that out step by step.  Returns false
 * when this sleep has already ended, although the ads do not say so yet. */
bool sleeps_look(struct node *node);

#endif
