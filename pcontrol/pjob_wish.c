/* pcontrol/pjob_wish.c - see pjob_wish.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/pjob_wish.h"

#include "base/mem.h"

void pjob_wish_fini(struct pjob_wish *wish)
{
    mem_free(wish->command);
    mem_free(wish->host);
    mem_free(wish->paths[0]);
    mem_free(wish->paths[1]);
    *wish = (struct pjob_wish){0};
}
