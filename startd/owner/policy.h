/* startd/owner/policy.h - carries out the owner's policy for claimed slots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_POLICY_H
#define STARTD_OWNER_POLICY_H

#include <stdbool.h>

struct slot;
struct startd;

/* Evaluates the owner's policy for a slot and carries out what it demands: suspend, continue,
 * preempt or kill the job, or nothing.  A dynamic slot may have been freed when this returns. */
void policy_check(struct slot *slot);
/* Measures load and idle times, then looks at all slots: free slots become Owner or Unclaimed, for
 * claimed slots policy_check() is called.  Returns whether the next look may wait: no slot is in
 * use, and neither load, nor idle times, nor the time of day can change what a slot does. */
bool policy_poll(struct startd *startd);

#endif
