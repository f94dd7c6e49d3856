/* classad/ad_attr.h - which names of attributes are known, to find misspelt ones in expressions.
 *
 * Sites, jobs and machines may have attributes of their own: a name that is not known is a reason
 * for a warning at most.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_ATTR_H
#define CLASSAD_AD_ATTR_H

#include <stdbool.h>

/* Names that Roost's own ads may have, ended by NULL; made by tools/attr_names.py
 * when Roost is built. */
extern const char *const ad_attr_names[];

/* Returns whether ads of Roost may have the attribute; case is ignored.  True also for names that
 * are made with another name (RequestGPUs, TotalSlotGPUs). */
bool ad_attr_is_known(const char *name);
/* Returns whether the name is known as it is, not only as one that is made with another name. */
bool ad_attr_is_listed(const char *name);
/* Returns the known name that differs in at most two letters from one of six or more, in one from
 * one of five; NULL: there is none.  O(known names). */
const char *ad_attr_nearest(const char *name);

#endif
