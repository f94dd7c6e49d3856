/* rooster/look_mark.c - marks machines that are to be examined soon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/loop.h"
#include "base/strmap.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"

void look_soon(struct rooster *rooster)
{
    loop_timer_set(rooster->look_timer, 0); /* also instead of a later retry, which sets it anew */
}

void look_mark(struct node *node)
{
    if (!node->look.marked) {
        node->look.marked = true;
        vec_push(&node->rooster->marked, node);
    }
}

void look_at(struct node *node)
{
    look_mark(node);
    look_soon(node->rooster);
}

void look_at_all(struct rooster *rooster)
{
    size_t at = 0;
    void *node;
    while (strmap_next(rooster->nodes, &at, NULL, &node)) {
        look_mark(node);
    }
    look_soon(rooster);
}
