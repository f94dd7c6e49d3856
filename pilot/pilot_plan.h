/* pilot/pilot_plan.h - parses the pilot's arguments and token file, and writes its startd's
 * configuration.
 *
 * Pure.  The pilot has no configuration file: it writes the configuration of its startd and
 * starters from its arguments and the token file.
 *
 * The token file has a token and the private key that belongs to it.  A bundle is a token
 * file in which more follows: the pool's CA as a PEM certificate, and the public keys that verify
 * tokens, each after a line `kid: NAME`.  `roost token accept --bundle` makes a bundle with a
 * private key of this host, `roost token create --bundle` one with a new private key to be sent.
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
#define PILOT_IDLE_TIMEOUT_S 1200 /* default of --idle-timeout, seconds */

/* The pilot's arguments.  Texts are borrowed from argv; NULL: not given. */
struct pilot_options {
    bool help, version;
    const char *collector;
    const char *token_file;
    const char *ca_file, *pin;
    const char *name;
    const char *execute;
    /* CPUs and MiB of memory for jobs; 0: all that the machine has */
    int64_t cpus, memory_mib;
    /* lifetime_s: seconds after which the pilot ends; idle_timeout_s: seconds without a claim after
     * which it ends; 0: no limit. */
    int64_t lifetime_s, idle_timeout_s;
    const char *key_files[PILOT_KEYS_MAX]; /* files of public keys, the arguments of --key */
    size_t key_count;
    /* changes of the configuration, "KNOB=VALUE" or "KNOB+=VALUE" */
    const char *settings[PILOT_SETTINGS_MAX];
    size_t setting_count;
};

/* Parses the arguments.  Returns 0; or -EINVAL: an unknown option or a bad value, a malformed
 * KNOB=VALUE, or no collector or token file (unless help or version is asked for); -E2BIG: more
 * than PILOT_KEYS_MAX keys or PILOT_SETTINGS_MAX settings. */
int pilot_plan_options(int argc, char *const *argv, struct pilot_options *ret, struct err *err);

/* A public key of the pool, which verifies tokens. */
struct pilot_key {
    char kid[64];
    char *pem;
};

/* The parts of a token file. */
struct pilot_bundle {
    char *token;
    char *holder;    /* the private key that belongs to the token, PEM */
    char *ca;        /* certificate of the pool's CA, PEM; NULL: not in the file */
    struct vec keys; /* struct pilot_key *: the pool's public keys */
};

/* Splits text, the content of a token file, into its parts.  Returns 0; -EINVAL: it lacks the token
 * or its private key, or has a PEM block without an end line, a `kid` that cannot be a file name, a
 * second private key, or another unexpected line; -E2BIG: more than PILOT_KEYS_MAX public keys. */
int pilot_plan_bundle(const char *text, struct pilot_bundle *ret, struct err *err);
void pilot_bundle_fini(struct pilot_bundle *bundle);

/* What pilot_plan_config() needs besides the options. */
struct pilot_place {
    const char *directory; /* the pilot's own directory, an absolute path */
    const char *name;      /* name of the machine, the attribute Machine in its ads */
    int64_t now_s;
};

/* Appends the configuration for the pilot's startd and its starters to out.  Returns 0; -EINVAL if
 * a value has a control character, which a configuration cannot contain. */
int pilot_plan_config(const struct pilot_options *options, const struct pilot_place *place,
                      struct strbuf *out, struct err *err);

extern const char PILOT_USAGE[];

#endif
