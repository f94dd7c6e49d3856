/* wire/wire_trust.c - by what a dialled server is known.
 *
 * A pin that came with the claim, the activation or the ticket decides alone; so does COLLECTOR_PIN
 * on the route to the collector.  Without one it is the pool's CA, which signs a certificate for
 * each server's role: the route says which role is meant.  A route that no role belongs to (a
 * claim's, a shadow's) is never dialled without a pin.  Addresses come from ads, too: where a
 * certificate is wanted, a Unix socket, which shows none, is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/server_role.h"
#include "base/stream/stream.h"
#include "wire/wire.h"
#include "wire/wire_private.h"

/* Who answers on a route; NULL: nobody that the CA knows. */
static const char *role_of_route(const char *route)
{
    if (strcmp(route, "collector") == 0) {
        return SERVER_ROLE_COLLECTOR;
    }
    return strcmp(route, "schedd") == 0 ? SERVER_ROLE_SCHEDD : NULL;
}

int wire_trust(const struct wire_context *context, const struct wire_dial *dial,
               struct stream_trust *ret, struct err *err)
{
    struct stream_trust trust = {.pin = dial->pin};
    if (strncmp(dial->address, "unix:", strlen("unix:")) == 0) {
        if (dial->pin != NULL || dial->server != NULL) {
            return err_set(err, -EINVAL, "%s: a Unix socket has no certificate to check",
                           dial->address);
        }
        *ret = trust;
        return 0;
    }
    if (trust.pin == NULL && context->collector_pin[0] != '\0' &&
        strcmp(dial->route, "collector") == 0) {
        trust.pin = context->collector_pin;
    }
    if (trust.pin == NULL) {
        trust.ca_file = context->ca_file;
        trust.role = role_of_route(dial->route);
        trust.name = dial->server;
        if (trust.ca_file == NULL) {
            return err_set(err, -EINVAL, "%s: a CA or a pin is needed to recognize the server",
                           dial->address);
        }
        if (trust.role == NULL) {
            return err_set(err, -EINVAL,
                           "%s: the server of route '%s' can be recognized only by a pin",
                           dial->address, dial->route);
        }
    }
    *ret = trust;
    return 0;
}
