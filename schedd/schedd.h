/* schedd/schedd.h - the schedd as a daemon; README.md says what it owns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SCHEDD_H
#define SCHEDD_SCHEDD_H

struct daemon;

extern const struct daemon schedd_daemon;

#endif
