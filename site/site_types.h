/* site/site_types.h - the types of sites.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SITE_SITE_TYPES_H
#define SITE_SITE_TYPES_H

struct site_type;

extern const struct site_type site_process, site_ssh, site_slurm, site_gridengine, site_htcondor;

/* Returns NULL if there is no such type. */
const struct site_type *site_types_find(const char *name);
const char *site_types_names(void); /* returns "process, ssh, slurm, gridengine, htcondor" */

#endif
