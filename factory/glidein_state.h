/* factory/glidein_state.h - what a glidein is, in single words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_GLIDEIN_STATE_H
#define FACTORY_GLIDEIN_STATE_H

/* README.md has the table of moves. */
enum glidein_state {
    GLIDEIN_INTENDED, /* recorded; perhaps the site was asked for it */
    GLIDEIN_QUEUED,   /* the site has it */
    GLIDEIN_HELD,     /* the site has it, and does not start it */
    GLIDEIN_STARTED,  /* the site has started it; it has not joined the pool */
    GLIDEIN_JOINED,   /* its ad is in the collector */
    GLIDEIN_LEFT,     /* its ad was there; the site still lists it */
    GLIDEIN_STATES
};

/* Why there is a glidein. */
enum glidein_cause {
    GLIDEIN_FOR_JOBS,
    GLIDEIN_ORDERED, /* by an administrator: it is not taken back because no jobs wait */
    GLIDEIN_TRIAL,   /* to test its site: it gets no jobs */
    GLIDEIN_ORPHAN   /* the site has it, and the journal did not know it */
};

/* What the site's last complete list says. */
enum glidein_listing { GLIDEIN_NOT_LISTED, GLIDEIN_LISTED, GLIDEIN_LISTED_RUNNING };

#endif
