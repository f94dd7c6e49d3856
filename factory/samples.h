/* factory/samples.h - offline ads that stand for the glideins that a site could start.
 *
 * A running glidein is advertised again as an offline ad, a sample.  The newest of a site's are
 * kept.  A new site has none: its section describes an example, which goes when there is a sample.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SAMPLES_H
#define FACTORY_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct factory;
struct site;

struct sample {
    struct site *site;
    char *name; /* of its ad, and the key in the collector */
    bool is_example;
    int64_t made_s;       /* wall clock, for their order */
    uint64_t added_ms;    /* monotonic: since when the factory has it */
    int64_t multiplicity; /* as its ad says; 0: the ad is withdrawn; below: it is to be sent */
    struct ad *ad;        /* as it was made */
    int64_t room;         /* its share of what the site has room for */
};

/* Takes up a sample that the collector has, from an earlier life of the factory. */
void samples_adopt(struct factory *factory, const char *key, const struct ad *ad);
/* A glidein has joined with this ad: perhaps it becomes a sample. */
void samples_offer(struct site *site, const struct ad *live);
/* Has the collector show the samples of the site; together they stand for `room` glideins more. */
void samples_show(struct site *site, int64_t room);
/* The collector does not have the ad of that key any more; if it is one of our samples, whose time
 * is over, it is sent again. */
void samples_lost(struct factory *factory, const char *key);
/* All samples are sent again: the collector may have lost them. */
void samples_repeat(struct factory *factory);
void samples_free_all(struct site *site);
/* Removes the samples of a site whose section is gone. */
void samples_withdraw(struct site *site);

#endif
