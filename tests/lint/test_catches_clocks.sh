#!/bin/bash
# The check lint.clocks finds planted durations by the wall clock, and only those.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

new_tree
echo "rooster/a.c listed the reason" >"$TREE/tools/clocks.txt"
plant rooster/a.c <<'END'
int64_t listed(struct loop *loop, struct node *node)
{
    return loop_wall_s(loop) - node->since_s;
}

int64_t fine(struct loop *loop, const struct node *node)
{
    uint64_t now_ms = loop_now_ms(loop);
    int64_t now_s = loop_wall_s(loop), before_s = now_s - node->timeout_s;
    int64_t wall_ms = loop_wall_ms(loop); /* now_s - began_s in a comment */
    return (int64_t)(now_ms - node->renewed_ms) / 1000 + (now_s - now_s % 86400) + wall_ms - node->age_ms;
}
END
passes "moments, durations, dates, comments and the list" clocks

plant rooster/b.c <<'END'
int64_t uptime(struct loop *loop, struct node *node)
{
    return loop_wall_s(loop) - node->started_s;
}
END
finds "a clock minus a stamp" "rooster/b.c:3: uptime\(\): .*difference of two wall times" clocks

plant rooster/b.c <<'END'
int64_t run(struct loop *loop, const struct ad *ad)
{
    int64_t reading = loop_wall_s(loop);
    return reading -
           0 + (reading - ad->until_s);
}
END
finds "a variable that has a wall time" "rooster/b.c:5: run\(\): 'reading - ad->until_s'" clocks

plant rooster/b.c <<'END'
static int64_t left(const struct slot *slot, int64_t now_s)
{
    return slot->claim[2].ends_s - (int64_t)now_s;
}
END
finds "members, indexes and casts" "rooster/b.c:3: left\(\): 'slot->claim\[2\].ends_s - now_s'" clocks

plant rooster/b.c <<'END'
void f(struct loop *loop)
{
    int64_t now_ms = loop_wall_ms(loop);
}

void g(struct loop *loop)
{
    int64_t now_s = (int64_t)(loop_now_ms(loop) / 1000);
}

int64_t h(const struct x *x)
{
    return x->end_ms - x->length_s;
}
END
finds "a wall time under the name of a moment" "rooster/b.c:3: f\(\): 'now_ms' is a wall time" clocks
finds "a moment under the name of a wall time" "rooster/b.c:8: g\(\): 'now_s' is a moment" clocks
finds "units that do not fit" "rooster/b.c:13: h\(\): .* mixes milliseconds and seconds" clocks

rm "$TREE/rooster/b.c"
echo "rooster/a.c fine no such place" >>"$TREE/tools/clocks.txt"
finds "a line of the list that is not needed" "tools/clocks.txt:1: rooster/a.c fine: there is no such" clocks
finish
