/* shadow/link.c - see link.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/link.h"

#include "base/mem.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/turns.h"
#include "wire/wire.h"

void link_destroy(struct link *link)
{
    struct vec *links = &link->shadow->links;
    for (size_t i = 0; i < links->count; i++) {
        if (links->items[i] == link) {
            vec_remove_at(links, i);
            break;
        }
    }
    if (link->run != NULL && link->run->link == link) {
        link->run->link = NULL;
        turn_give_back(link->run, false);
        turn_give_back(link->run, true);
    }
    mem_free(link);
}

struct wire *link_wire(const struct link *link)
{
    return link->wire;
}

void link_close(struct link *link)
{
    struct wire *wire = link->wire;
    link_destroy(link);
    wire_finish(wire); /* the last answer still goes out */
}

void link_stays(struct link *link, bool stays)
{
    link->stays = stays;
}

void link_let_go(struct link *link)
{
    if (!link->stays) {
        link_close(link);
        return;
    }
    link->run->link = NULL;
    link->run = NULL;
    link->id[0] = link->nonce[0] = '\0';
}
