/* base/plant.h - bugs that are planted on purpose, to show that the simulator finds them.
 *
 * PLANTED(name) is the constant false unless the build defines ROOST_PLANT_<name> (cmake
 * -DROOST_PLANT=<name>), so that the planted branch is compiled and checked in every build and
 * costs nothing in any.  A name that is not in the list below does not compile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_PLANT_H
#define BASE_PLANT_H

enum {
    PLANT_KNOWN_reply_before_commit = 1,        /* store: done is called before the commit */
    PLANT_KNOWN_lease_check_skipped = 1,        /* a claim whose lease is over counts as alive */
    PLANT_KNOWN_slot_matched_twice = 1,         /* negotiator: a slot stays free after a match */
    PLANT_KNOWN_offline_ad_lost_on_restart = 1, /* collector: offline ads live in memory only */
    PLANT_KNOWN_piece_given_twice = 1,          /* startd: pieces are not counted as given */
    PLANT_KNOWN_wake_without_demand = 1,        /* rooster: wakes machines that nobody matched */
    PLANT_KNOWN_checkpoint_told_early = 1,      /* shadow: kept, it says, and tells no schedd */
    PLANT_KNOWN_checkpoint_not_synced = 1,      /* shadow: committed before it is on the disk */
    PLANT_KNOWN_checkpoint_of_before = 1,       /* starter: resumes the one before the latest */
    PLANT_KNOWN_checkpoint_forgotten = 1,       /* schedd: an evicted job begins at its start */
    PLANT_KNOWN_checkpoint_left = 1,            /* schedd: nobody removes those of who left */
    PLANT_KNOWN_killed_check_is_damage = 1,     /* starter: as it was */
};

/* An undefined ROOST_PLANT_x stays one word, and PLANT_SLOT_ROOST_PLANT_x is one word, too: the
 * list then is (word 1, 0, 0), of which the second is taken.  Defined (as 1) it is
 * PLANT_SLOT_1, which brings a comma of its own: (0, 1, 0, 0). */
#define PLANTED(name)                     (PLANT_KNOWN_##name == 1 && PLANT_VALUE_(ROOST_PLANT_##name))
#define PLANT_VALUE_(value)               PLANT_LIST_(value)
#define PLANT_LIST_(value)                PLANT_PICK_(PLANT_SLOT_##value 1, 0, 0)
#define PLANT_PICK_(...)                  PLANT_SECOND_(__VA_ARGS__)
#define PLANT_SECOND_(first, second, ...) second
#define PLANT_SLOT_1                      0,

#endif
