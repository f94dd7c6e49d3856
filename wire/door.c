/* wire/door.c - see door.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/door.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

struct door {
    struct loop *loop;
    struct os *os;
    struct log *log;
    listener_f call;
    void *arg;
    struct tls_identity *identity;
    struct listener *listener;
    char *asked; /* the address as it was asked for */
};

static int listen_at(struct door *door, const char *address, struct listener **ret, struct err *err)
{
    return listener_create(door->loop, address, door->call, door->arg, ret, err);
}

static bool same_port(const char *a, const char *b)
{
    const char *port_a = strrchr(a, ':');
    const char *port_b = strrchr(b, ':');
    return port_a && port_b && strcmp(port_a, port_b) == 0;
}

/* Replaces the listener, also where old and new one cannot be open at the same time. */
static int move_listener(struct door *door, const char *address, struct err *err)
{
    struct listener *fresh = NULL;
    int code = listen_at(door, address, &fresh, err);
    if (code == -EADDRINUSE && door->listener &&
        same_port(address, listener_address(door->listener))) {
        struct err again = {""};
        char *old = mem_strdup(listener_address(door->listener));
        listener_destroy(door->listener);
        door->listener = NULL;
        code = listen_at(door, address, &fresh, err);
        if (code && listen_at(door, old, &door->listener, &again)) {
            log_error(door->log, "door.lost", again.text, LOG_TEXT("address", old));
        }
        mem_free(old);
    }
    if (code) {
        return code;
    }
    listener_destroy(door->listener);
    door->listener = fresh;
    mem_free(door->asked);
    door->asked = mem_strdup(address);
    return 0;
}

/* Loads the certificate and checks that it is for the server that listens here. */
static int load_identity(struct os *os, const struct door_place *place, struct tls_identity **ret,
                         struct err *err)
{
    struct tls_identity *identity = NULL;
    int code = tls_identity_load(os, place->cert, place->key, &identity, err);
    if (code) {
        return code;
    }
    code = tls_identity_judge(identity, place->role, place->name, err);
    if (code) {
        tls_identity_destroy(identity);
        return err_prefix(err, code, "%s", place->cert);
    }
    *ret = identity;
    return 0;
}

int door_open(struct loop *loop, struct os *os, struct log *log, const struct door_place *place,
              listener_f call, void *arg, struct door **ret, struct err *err)
{
    struct door *door = mem_zalloc(sizeof(*door));
    *door = (struct door){.loop = loop, .os = os, .log = log, .call = call, .arg = arg};
    door->asked = mem_strdup(place->address);
    int code = load_identity(os, place, &door->identity, err);
    if (!code) {
        code = listen_at(door, place->address, &door->listener, err);
    }
    if (code) {
        door_close(door);
        return code;
    }
    *ret = door;
    return 0;
}

int door_change(struct door *door, const struct door_place *place, bool *changed, struct err *err)
{
    struct tls_identity *fresh = NULL;
    int code = load_identity(door->os, place, &fresh, err);
    if (code) {
        return code;
    }
    bool moved = !door->listener || strcmp(door->asked, place->address) != 0;
    if (moved) {
        code = move_listener(door, place->address, err);
    }
    if (code) {
        tls_identity_destroy(fresh);
        return code;
    }
    if (moved) {
        log_info(door->log, "door.moved", "listening at another address; existing connections stay",
                 LOG_TEXT("address", listener_address(door->listener)));
    }
    bool renewed = strcmp(tls_identity_pin(fresh), tls_identity_pin(door->identity)) != 0;
    if (renewed) {
        log_info(door->log, "door.certificate", "new connections get the new certificate",
                 LOG_TEXT("file", place->cert), LOG_TEXT("pin", tls_identity_pin(fresh)));
    }
    tls_identity_destroy(door->identity);
    door->identity = fresh;
    if (changed) {
        *changed = moved || renewed;
    }
    return 0;
}

void door_shut(struct door *door)
{
    listener_destroy(door->listener);
    door->listener = NULL;
}

void door_close(struct door *door)
{
    if (!door) {
        return;
    }
    listener_destroy(door->listener);
    tls_identity_destroy(door->identity);
    mem_free(door->asked);
    mem_free(door);
}

const struct tls_identity *door_identity(const struct door *door)
{
    return door->identity;
}

const char *door_address(const struct door *door)
{
    return door->listener ? listener_address(door->listener) : door->asked;
}
