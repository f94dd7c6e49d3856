/* site/site_types.c - see site_types.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_types.h"

#include <string.h>

#include "base/check.h"
#include "site/site.h"

static const struct site_type *const TYPES[] = {&site_process, &site_ssh, &site_slurm,
                                                &site_gridengine, &site_htcondor};

const struct site_type *site_types_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(TYPES); i++) {
        if (strcmp(TYPES[i]->name, name) == 0) {
            return TYPES[i];
        }
    }
    return NULL;
}

const char *site_types_names(void)
{
    return "process, ssh, slurm, gridengine, htcondor";
}
