/* rooster/selftest.h - machines that were not woken for long are woken, to see whether they can be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SELFTEST_H
#define ROOSTER_SELFTEST_H

struct rooster;

void selftest_look(struct rooster *rooster); /* is one due? */

#endif
