/* rooster/selftest.h - wakes machines that were not woken for a long time, to test whether they
 * come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SELFTEST_H
#define ROOSTER_SELFTEST_H

struct rooster;

void selftest_look(struct rooster *rooster); /* starts a self-test if a machine is due for it */

#endif
