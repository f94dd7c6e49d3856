/* startd/owner/policy.h - carries out the owner's policy for claimed slots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_POLICY_H
#define STARTD_OWNER_POLICY_H

struct slot;
struct startd;

/* Takes the step of the policy that is due for the slot, if any.  A dynamic slot may be gone
 * afterwards. */
void policy_check(struct slot *slot);
/* Measures load and idle times, then looks at all slots: free ones become Owner or Unclaimed,
 * claimed ones are checked. */
void policy_poll(struct startd *startd);

#endif
