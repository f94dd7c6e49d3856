/* rooster/relay.c - sends magic packets to networks that this host is not on, through neighbours.
 *
 * A broadcast stays on its network, so an awake machine of the sleeping one's network is asked,
 * over its uplink, to send the packet.  Any such machine will do, and they take turns.  If one
 * fails (it has just gone to sleep, it must not send, another site has the same private addresses),
 * the next is asked, RELAYS_MAX in all.  Whether the machine wakes is seen by its live ad, as
 * always.
 *
 * Machines are found by network in a table, made from the nodes when it is first needed after an
 * examination: a thousand wakes cost one walk over the nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/relay.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "wire/wire.h"

#define RELAYS_MAX  3    /* asked for one packet */
#define RELAY_MS    5000 /* for each */
#define PACKET_MAX  128
#define SUBNET_SIZE 40 /* most bytes of a network as text, with the terminating zero */

struct relays {
    struct rooster *rooster;
    struct strmap *by_subnet; /* struct vec of struct node by network; NULL: must be made again */
    struct vec under_way;     /* struct relaying */
    size_t turn;
};

struct relaying { /* one packet that is being relayed */
    struct relays *relays;
    char machine[256], subnet[SUBNET_SIZE];
    unsigned char packet[PACKET_MAX];
    size_t packet_length;
    int64_t port, repeats;
    char *asked[RELAYS_MAX]; /* names of machines, to be asked in this order */
    size_t asked_count, next;
    int status; /* error of the last relay that failed */
    char why[ROOSTER_TEXT_MAX];
    struct loop_timer *begin;
    power_done_f done;
    void *done_arg;
};

/* ---- who is awake where */

static void free_list(void *list)
{
    vec_fini(list, NULL);
    mem_free(list);
}

static void add_relay(struct strmap *by_subnet, struct node *node)
{
    struct vec *list = strmap_get(by_subnet, node->way.adapter.subnet);
    if (list == NULL) {
        list = mem_zalloc(sizeof *list);
        (void)strmap_set(by_subnet, node->way.adapter.subnet, list); /* was absent */
    }
    vec_push(list, node);
}

static const struct vec *awake_in(struct relays *relays, const char *subnet)
{
    if (relays->by_subnet == NULL) {
        size_t at = 0;
        void *value;
        relays->by_subnet = strmap_create(STRMAP_CASE_SENSITIVE);
        while (strmap_next(relays->rooster->nodes, &at, NULL, &value)) {
            struct node *node = value;
            if (node->awake.can_relay && node->way.adapter.subnet[0] != '\0') {
                add_relay(relays->by_subnet, node);
            }
        }
    }
    return strmap_get(relays->by_subnet, subnet);
}

void relays_look_again(struct relays *relays)
{
    strmap_destroy(relays->by_subnet, free_list);
    relays->by_subnet = NULL;
}

static void choose_relays(struct relaying *relaying)
{
    struct relays *relays = relaying->relays;
    const struct vec *awake = awake_in(relays, relaying->subnet);
    size_t count = awake != NULL ? awake->count : 0;
    for (size_t i = 0; i < count && relaying->asked_count < RELAYS_MAX; i++) {
        const struct node *node = awake->items[(relays->turn + i) % count];
        if (ad_name_compare(node->name, relaying->machine) != 0) {
            relaying->asked[relaying->asked_count++] = mem_strdup(node->name);
        }
    }
    relays->turn++;
}

/* ---- one packet */

static void relaying_destroy(void *value)
{
    struct relaying *relaying = value;
    for (size_t i = 0; i < relaying->asked_count; i++) {
        mem_free(relaying->asked[i]);
    }
    loop_timer_destroy(relaying->begin);
    secret_wipe(relaying->packet, sizeof relaying->packet);
    mem_free(relaying);
}

static void end_relaying(struct relaying *relaying, int status, const char *text)
{
    struct relays *relays = relaying->relays;
    power_done_f done = relaying->done;
    void *done_arg = relaying->done_arg;
    for (size_t i = 0; i < relays->under_way.count; i++) {
        if (relays->under_way.items[i] == relaying) {
            vec_remove_at(&relays->under_way, i);
            break;
        }
    }
    done(done_arg, status, text);
    relaying_destroy(relaying);
}

static void ask_next(struct relaying *relaying);

static void relay_answered(void *arg, struct wire_reply *reply)
{
    struct relaying *relaying = arg;
    const char *relay = relaying->asked[relaying->next];
    if (reply->more) {
        return;
    }
    if (reply->status == 0) {
        const char *text = reply->args != NULL ? ad_string_or(reply->args, "Text", "") : "";
        (void)snprintf(relaying->why, sizeof relaying->why, "%.80s relayed the packet: %.180s",
                       relay, text);
        end_relaying(relaying, 0, relaying->why);
        return;
    }
    log_info(relaying->relays->rooster->env.log, "wake.not_relayed", reply->text,
             LOG_TEXT("machine", relaying->machine), LOG_TEXT("relay", relay),
             LOG_INT("status", reply->status));
    relaying->status = reply->status;
    (void)snprintf(relaying->why, sizeof relaying->why, "%.80s did not relay the packet: %.180s",
                   relay, reply->text);
    relaying->next++;
    ask_next(relaying);
}

static bool ask_relay(struct relaying *relaying)
{
    struct wire *wire = uplink_wire(relaying->relays->rooster->uplink);
    char uplink[WIRE_NAME_MAX + 1];
    if (wire == NULL) {
        relaying->status = -ENOTCONN;
        (void)snprintf(relaying->why, sizeof relaying->why,
                       "the collector cannot be reached, so no machine can relay the packet");
        return false;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Machine", relaying->machine);
    ad_set_string(args, "Subnet", relaying->subnet);
    ad_set_int(args, "Port", relaying->port);
    ad_set_int(args, "Repeats", relaying->repeats);
    const struct wire_body body = {.args = args,
                                   .blob = relaying->packet,
                                   .blob_length = relaying->packet_length};
    (void)snprintf(uplink, sizeof uplink, "startd/%.240s", relaying->asked[relaying->next]);
    int64_t call =
        wire_relay(wire, uplink, VERB_MAGIC_PACKET, &body, RELAY_MS, relay_answered, relaying);
    ad_destroy(args);
    if (call <= 0) {
        relaying->status = (int)call;
        (void)snprintf(relaying->why, sizeof relaying->why,
                       "no machine could be asked to relay the packet");
    }
    return call > 0;
}

static void ask_next(struct relaying *relaying)
{
    for (; relaying->next < relaying->asked_count; relaying->next++) {
        if (ask_relay(relaying)) {
            return;
        }
    }
    end_relaying(relaying, relaying->status, relaying->why);
}

static void begin_relaying(void *arg)
{
    struct relaying *relaying = arg;
    choose_relays(relaying);
    ask_next(relaying);
}

static void relay_packet(void *arg, const struct power_relay *what, power_done_f done,
                         void *done_arg)
{
    struct relays *relays = arg;
    struct relaying *relaying = mem_zalloc(sizeof *relaying);
    relaying->relays = relays;
    relaying->port = what->port;
    relaying->repeats = what->repeats;
    relaying->done = done;
    relaying->done_arg = done_arg;
    relaying->status = -ENOENT;
    (void)snprintf(relaying->machine, sizeof relaying->machine, "%s", what->node);
    (void)snprintf(relaying->subnet, sizeof relaying->subnet, "%s",
                   what->subnet != NULL ? what->subnet : "");
    (void)snprintf(relaying->why, sizeof relaying->why,
                   "no machine is awake on its network (%s) that could relay the packet",
                   relaying->subnet[0] != '\0' ? relaying->subnet : "not known");
    relaying->packet_length =
        what->packet_length < PACKET_MAX ? what->packet_length : PACKET_MAX; /* never longer */
    memcpy(relaying->packet, what->packet, relaying->packet_length);
    relaying->begin = loop_timer_create(relays->rooster->env.loop, begin_relaying, relaying);
    loop_timer_set(relaying->begin, 0);
    vec_push(&relays->under_way, relaying);
}

/* ---- life */

struct relays *relays_create(struct rooster *rooster)
{
    struct relays *relays = mem_zalloc(sizeof *relays);
    relays->rooster = rooster;
    power_relay_by(rooster->power, relay_packet, relays);
    return relays;
}

void relays_destroy(struct relays *relays)
{
    if (relays == NULL) {
        return;
    }
    relays_look_again(relays);
    vec_fini(&relays->under_way, relaying_destroy);
    mem_free(relays);
}
