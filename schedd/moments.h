/* schedd/moments.h - moments that the schedd notes in ads, to know later how much time has passed.
 *
 * Problem.  The wall clock may be set at any time, by years, so the difference of two wall times is
 * not a duration.  loop_now_ms() never jumps, but begins anew with each boot of this machine.  So a
 * note is a string, "<milliseconds> <boot id>": exact within one boot, also over restarts of the
 * schedd.  For a note of an earlier boot only the wall time that was written beside it can tell how
 * long ago it was; that is believed up to MOMENT_PLAUSIBLE_S, else the time counts from this boot
 * on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_MOMENTS_H
#define SCHEDD_MOMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct schedd;

/* the longest time, in seconds, that is believed on the word of the wall clock alone */
#define MOMENT_PLAUSIBLE_S (366 * INT64_C(86400))

/* Sets the attribute to a note of the present moment. */
void moment_note(const struct schedd *schedd, struct ad *ad, const char *name);
/* Sets the attribute to a note of the moment ago_s seconds before now. */
void moment_note_ago(const struct schedd *schedd, struct ad *ad, const char *name, int64_t ago_s);
/* Returns true if the attribute is a note of this boot, and sets *ret to its loop_now_ms(). */
bool moment_of_this_boot(const struct schedd *schedd, const struct ad *ad, const char *name,
                         int64_t *ret);
/* Returns the seconds since the note.  stamp_s: the wall time that was written with it, or 0; it
 * decides when there is no note of this boot (an older version wrote none). */
int64_t moment_since_s(const struct schedd *schedd, const struct ad *ad, const char *name,
                       int64_t stamp_s);

#endif
