/* startd/owner/policy.h - the owner's policy for claimed slots, carried out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_POLICY_H
#define STARTD_OWNER_POLICY_H

struct slot;
struct startd;

/* Takes the step of the policy that is due for the slot, if there is one.  A piece may be gone
 * afterwards. */
void policy_check(struct slot *slot);
/* Looks at the figures, then at all slots: free ones are Owner or Unclaimed, claimed ones are
 * checked. */
void policy_poll(struct startd *startd);

#endif
