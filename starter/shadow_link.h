/* starter/shadow_link.h - the connection to the shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_SHADOW_LINK_H
#define STARTER_SHADOW_LINK_H

struct starter;

void shadow_link_dial(struct starter *starter);

#endif
