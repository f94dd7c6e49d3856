/* pilot/pilot_plan.h - what a pilot was told, and what its startd is to be told.
 *
 * Pure.  The pilot has no configuration file of its own: arguments and the token file are all it is
 * given, and from them the configuration of its startd and starters is written.
 *
 * The token file is a token and the private key that it is bound to, alone or followed by what else
 * a machine needs to know of the pool (a bundle: `roost token accept --bundle`, whose key was made
 * here, or `roost token create --bundle`, whose key travelled): the pool's CA as a PEM certificate,
 * and the public keys that tokens are checked with, each behind a line `kid: NAME`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PILOT_PILOT_PLAN_H
#define PILOT_PILOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct err;
struct strbuf;

#define PILOT_SETTINGS_MAX   256
#define PILOT_KEYS_MAX       64
#define PILOT_IDLE_TIMEOUT_S 1200 /* --idle-timeout where it is not said */

struct pilot_options { /* texts are borrowed from argv; NULL: not said */
    bool help, version;
    const char *collector;
    const char *token_file;
    const char *ca_file, *pin;
    const char *name;
    const char *execute;
    int64_t cpus, memory_mib;              /* 0: what the machine has */
    int64_t lifetime_s, idle_timeout_s;    /* 0: for ever */
    const char *key_files[PILOT_KEYS_MAX]; /* --key */
    size_t key_count;
    const char *settings[PILOT_SETTINGS_MAX]; /* "KNOB=VALUE", "KNOB+=VALUE" */
    size_t setting_count;
};

/* -EINVAL: an option that is not known or has no good value, a KNOB=VALUE that is none, no
 * collector or token file (unless help or version is asked for). */
int pilot_plan_options(int argc, char *const *argv, struct pilot_options *ret, struct err *err);

struct pilot_key {
    char kid[64];
    char *pem;
};

struct pilot_bundle {
    char *token;
    char *holder;    /* PEM: the private key that the token is bound to */
    char *ca;        /* PEM; NULL: there is none in it */
    struct vec keys; /* struct pilot_key * */
};

/* Takes the text of a token file apart.  -EINVAL: there is no token in it, a block that is not
 * closed, a kid that cannot name a file, private things in it. */
int pilot_plan_bundle(const char *text, struct pilot_bundle *ret, struct err *err);
void pilot_bundle_fini(struct pilot_bundle *bundle);

/* What the plan cannot know by itself. */
struct pilot_place {
    const char *directory; /* the pilot's own, absolute */
    const char *name;      /* of the machine in its ads */
    int64_t now_s;
};

/* Appends the configuration of the startd and its starters. -EINVAL: a value that no
 * configuration can hold (a control character). */
int pilot_plan_config(const struct pilot_options *options, const struct pilot_place *place,
                      struct strbuf *out, struct err *err);

extern const char PILOT_USAGE[];

#endif
