/* tests/support/daemon_rig.h - a daemon in the test's own process, with a configuration from a
 * text.
 *
 * What only the tests of one daemon need is in a header for that daemon, such as rooster_rig.h,
 * which includes this file.  Beside it are loop_rig.h (event loop, directory, waiting), pool_rig.h
 * (certificates, tokens), call_rig.h (requests and answers).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_DAEMON_RIG_H
#define TESTS_SUPPORT_DAEMON_RIG_H

#include "tests/support/loop_rig.h"

#include <ctype.h>

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "tests/support/config_memory.h"

struct daemon_rig {
    const struct daemon *daemon;
    struct config *config;
    struct daemon_env env;
    void *state; /* state of the daemon; NULL: the daemon does not run */
};

/* Makes the daemon's configuration from the text of a file; the caller destroys it. */
static inline struct config *daemon_rig_config(const struct daemon *daemon, const char *text)
{
    struct config_memory memory = {.files = {{"/roost.conf", text}}};
    const struct config_source source = config_memory_source(&memory);
    struct config *config = NULL;
    char subsystem[32] = ""; /* the daemon's name in capitals */
    for (size_t i = 0; daemon->name[i] != '\0' && i + 1 < sizeof subsystem; i++) {
        subsystem[i] = (char)toupper((unsigned char)daemon->name[i]);
    }
    const struct config_options options = {.subsystem = subsystem,
                                           .path = "/roost.conf",
                                           .tables = daemon->tables,
                                           .table_count = daemon->table_count};
    MUST(config_load(&source, &options, &config, err));
    return config;
}

/* Gives the daemon a new configuration, for its next start. */
static inline void daemon_rig_load(struct daemon_rig *rig, const struct daemon *daemon,
                                   const char *text)
{
    config_destroy(rig->config);
    rig->daemon = daemon;
    rig->config = daemon_rig_config(daemon, text);
}

/* Starts the daemon, with the arguments in rig->env, and returns its state. log may be NULL. */
static inline void *daemon_rig_start(struct daemon_rig *rig, struct loop *loop, struct os *os,
                                     struct log *log)
{
    rig->env.loop = loop;
    rig->env.os = os;
    rig->env.log = log;
    rig->env.config = rig->config;
    rig->env.name = rig->daemon->name;
    MUST(rig->daemon->start(&rig->env, &rig->state, err));
    return rig->state;
}

/* Gives the running daemon a new configuration. */
static inline void daemon_rig_reload(struct daemon_rig *rig, const char *text)
{
    struct config *old = rig->config;
    rig->config = daemon_rig_config(rig->daemon, text);
    rig->env.config = rig->config;
    rig->daemon->reload(rig->state, rig->config);
    config_destroy(old);
}

static inline void daemon_rig_stop(struct daemon_rig *rig)
{
    if (rig->state != NULL) {
        rig->daemon->destroy(rig->state);
    }
    rig->state = NULL;
}

static inline void daemon_rig_fini(struct daemon_rig *rig)
{
    daemon_rig_stop(rig);
    config_destroy(rig->config);
    rig->config = NULL;
}

#endif
