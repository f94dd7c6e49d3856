/* shadow/shadow.h - the shadow as a daemon; README.md says what it owns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_SHADOW_H
#define SHADOW_SHADOW_H

struct daemon;

extern const struct daemon shadow_daemon;

#endif
