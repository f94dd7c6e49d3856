/* rooster/seen.h - keeps the machine ads that the rooster's watch received, except sample ads;
 * marks the machines whose ads changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SEEN_H
#define ROOSTER_SEEN_H

struct ad;
struct node;
struct rooster;

struct seen { /* an ad of a machine */
    char *key;
    const struct ad *ad; /* the ad; the rooster's watch owns it */
    struct node *node;
};

void seen_changed(struct rooster *rooster, const char *key, const struct ad *ad);
void seen_gone(struct rooster *rooster, const char *key);
void seen_destroy_all(struct rooster *rooster);

#endif
