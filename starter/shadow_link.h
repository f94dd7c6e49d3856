/* starter/shadow_link.h - the connection to the shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_SHADOW_LINK_H
#define STARTER_SHADOW_LINK_H

struct starter;

/* Connects to the shadow that the run's file job.record names, or uses the connection of the last
 * run if that leads to the same shadow.  A failed attempt is repeated later, until the run is being
 * cleaned up.  Does nothing while connected. */
void shadow_link_dial(struct starter *starter);

#endif
