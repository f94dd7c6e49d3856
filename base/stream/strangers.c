/* base/stream/strangers.c - see strangers.h.
 *
 * Each address has a queue of its connections, oldest first.  To find the one to close, all
 * addresses are looked at; there are at most as many as connections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/strangers.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"

#define SHORTEN_PART  64 /* of the patience, for each that had to go */
#define LENGTHEN_PART 8  /* of what is missing, for each that proved itself */
#define SECOND_PART   4  /* of the table, for second chances */

TAILQ_HEAD(stranger_queue, stranger);

struct strangers_host {
    char name[STRANGERS_HOST_MAX];
    size_t count;
    struct stranger_queue queue; /* oldest first */
};

struct strangers {
    struct strmap *hosts;
    size_t count, max;             /* without those that have a second chance */
    struct stranger_queue seconds; /* those that have one, oldest first */
    size_t second_count, second_max;
    double patience_ms;
    uint64_t proved_ms;      /* when the last one proved itself */
    uint64_t latest_came_ms; /* of those that proved themselves, when the latest had come */
    uint64_t sent_away;
    char last_host[STRANGERS_HOST_MAX];
};

/* ---- addresses ------------------------------------------------------------------------------- */

/* Writes the first four groups of an IPv6 address as the C library prints it: with few digits, and
 * "::" for groups of zeros.  The groups behind are not needed. */
static void host_of_ipv6(const char *text, char ret[STRANGERS_HOST_MAX])
{
    char digits[4][5] = {"0", "0", "0", "0"};
    for (size_t i = 0; i < 4 && *text != '\0' && *text != ':'; i++) {
        size_t length = strcspn(text, ":");
        (void)snprintf(digits[i], sizeof(digits[i]), "%.*s", (int)length, text);
        text += length + (text[length] == ':' ? 1 : 0);
    }
    (void)snprintf(ret, STRANGERS_HOST_MAX, "%s:%s:%s:%s", digits[0], digits[1], digits[2],
                   digits[3]);
}

const char *strangers_host_of(const char *peer, char ret[STRANGERS_HOST_MAX])
{
    const char *uid = strstr(peer, "(uid ");
    if (uid != NULL) {
        (void)snprintf(ret, STRANGERS_HOST_MAX, "uid %.20s", uid + 5);
        ret[strcspn(ret, ")")] = '\0';
        return ret;
    }
    const char *host = strncmp(peer, "tcp:", 4) == 0 ? peer + 4 : peer;
    const char *colon = strrchr(host, ':');
    size_t length = colon != NULL ? (size_t)(colon - host) : strlen(host);
    bool brackets = length >= 2 && host[0] == '[' && host[length - 1] == ']';
    char text[STRANGERS_HOST_MAX];
    (void)snprintf(text, sizeof(text), "%.*s", (int)(brackets ? length - 2 : length),
                   brackets ? host + 1 : host); /* an address is shorter */
    text[strcspn(text, "%")] = '\0';            /* the interface of a link-local one */
    if (brackets) {
        host_of_ipv6(text, ret);
    } else {
        memcpy(ret, text, sizeof(text));
    }
    return ret;
}

/* ---- the table ------------------------------------------------------------------------------- */

struct strangers *strangers_create(size_t max)
{
    struct strangers *table = mem_zalloc(sizeof(*table));
    table->hosts = strmap_create(STRMAP_CASE_SENSITIVE);
    TAILQ_INIT(&table->seconds);
    table->patience_ms = STRANGERS_PATIENCE_MS;
    strangers_set_max(table, max);
    return table;
}

static void host_free(void *value)
{
    struct strangers_host *host = value;
    struct stranger *stranger;
    TAILQ_FOREACH(stranger, &host->queue, entry)
    {
        stranger->table = NULL;
    }
    mem_free(host);
}

void strangers_destroy(struct strangers *table)
{
    if (table != NULL) {
        struct stranger *stranger;
        TAILQ_FOREACH(stranger, &table->seconds, entry)
        {
            stranger->table = NULL;
        }
        strmap_destroy(table->hosts, host_free);
        mem_free(table);
    }
}

/* Takes the connection from those of its address. */
static void leave_host(struct stranger *stranger)
{
    struct strangers_host *host = stranger->host;
    TAILQ_REMOVE(&host->queue, stranger, entry);
    stranger->host = NULL;
    stranger->table->count--;
    if (--host->count == 0) {
        (void)strmap_remove(stranger->table->hosts, host->name);
        mem_free(host);
    }
}

/* Returns the connection to close next: the oldest one of the address with the most; of two such,
 * the older. */
static struct stranger *next_to_go(const struct strangers *table)
{
    const struct strangers_host *busiest = NULL;
    size_t at = 0;
    void *value;
    while (strmap_next(table->hosts, &at, NULL, &value)) {
        const struct strangers_host *host = value;
        if (busiest == NULL || host->count > busiest->count ||
            (host->count == busiest->count &&
             TAILQ_FIRST(&host->queue)->since_ms < TAILQ_FIRST(&busiest->queue)->since_ms)) {
            busiest = host;
        }
    }
    return busiest != NULL ? TAILQ_FIRST(&busiest->queue) : NULL;
}

uint64_t strangers_wait_ms(const struct strangers *table, uint64_t now_ms, bool hurry)
{
    if (table->count < table->max) {
        return 0;
    }
    const struct stranger *next = next_to_go(table);
    uint64_t patience_ms = (uint64_t)table->patience_ms;
    if (next != NULL && next->begun && !hurry && patience_ms < STRANGERS_BEGUN_MS) {
        patience_ms = STRANGERS_BEGUN_MS;
    }
    uint64_t until_ms = next != NULL ? next->since_ms + patience_ms : 0;
    if (until_ms > table->latest_came_ms && until_ms < table->proved_ms + patience_ms) {
        until_ms = table->proved_ms + patience_ms; /* the others wait as long as it */
    }
    return until_ms > now_ms ? until_ms - now_ms : 0;
}

static void send_away(struct strangers *table, struct stranger *stranger)
{
    void (*leave)(void *arg) = stranger->leave;
    void *arg = stranger->arg;
    table->sent_away++;
    strangers_remove(stranger);
    leave(arg);
}

/* Gives the connection a place for second chances.  Returns false if none is free. */
static bool give_second_chance(struct strangers *table, struct stranger *stranger, uint64_t now_ms)
{
    struct stranger *oldest = TAILQ_FIRST(&table->seconds);
    if (oldest != NULL && table->second_count >= table->second_max &&
        now_ms - oldest->second_ms >= STRANGERS_SECOND_MS) {
        send_away(table, oldest);
    }
    if (table->second_count >= table->second_max) {
        return false;
    }
    leave_host(stranger);
    stranger->second_ms = now_ms;
    TAILQ_INSERT_TAIL(&table->seconds, stranger, entry);
    table->second_count++;
    return true;
}

void strangers_make_room(struct strangers *table, uint64_t now_ms)
{
    while (table->count >= table->max && table->count > 0) {
        struct stranger *next = next_to_go(table);
        table->patience_ms -= table->patience_ms / SHORTEN_PART;
        if (table->patience_ms < STRANGERS_PATIENCE_MIN_MS) {
            table->patience_ms = STRANGERS_PATIENCE_MIN_MS;
        }
        memcpy(table->last_host, next->host->name, sizeof(table->last_host));
        if (!give_second_chance(table, next, now_ms)) {
            send_away(table, next);
        }
    }
}

void strangers_add(struct strangers *table, struct stranger *stranger, const char *peer,
                   uint64_t now_ms, void (*leave)(void *arg), void *arg)
{
    char name[STRANGERS_HOST_MAX];
    CHECK(stranger->table == NULL);
    struct strangers_host *host = strmap_get(table->hosts, strangers_host_of(peer, name));
    if (host == NULL) {
        host = mem_zalloc(sizeof(*host));
        memcpy(host->name, name, sizeof(name));
        TAILQ_INIT(&host->queue);
        (void)strmap_set(table->hosts, name, host);
    }
    *stranger = (struct stranger){
        .table = table, .host = host, .since_ms = now_ms, .leave = leave, .arg = arg};
    TAILQ_INSERT_TAIL(&host->queue, stranger, entry);
    host->count++;
    table->count++;
}

void strangers_replace(struct stranger *from, struct stranger *to, void (*leave)(void *arg),
                       void *arg)
{
    CHECK(to->table == NULL);
    if (from->table == NULL) {
        return;
    }
    *to = *from;
    to->leave = leave;
    to->arg = arg;
    TAILQ_INSERT_BEFORE(from, to, entry);
    if (from->host != NULL) {
        TAILQ_REMOVE(&from->host->queue, from, entry);
    } else {
        TAILQ_REMOVE(&from->table->seconds, from, entry);
    }
    from->table = NULL;
}

void strangers_begin(struct stranger *stranger)
{
    stranger->begun = true;
}

void strangers_remove(struct stranger *stranger)
{
    struct strangers *table = stranger->table;
    if (table == NULL) {
        return;
    }
    if (stranger->host != NULL) {
        leave_host(stranger);
    } else {
        TAILQ_REMOVE(&table->seconds, stranger, entry);
        table->second_count--;
    }
    stranger->table = NULL;
}

void strangers_prove(struct stranger *stranger, uint64_t now_ms)
{
    struct strangers *table = stranger->table;
    if (table == NULL) {
        return;
    }
    double wanted_ms = 2 * (double)(now_ms - stranger->since_ms);
    wanted_ms = wanted_ms > STRANGERS_PATIENCE_MS ? wanted_ms : STRANGERS_PATIENCE_MS;
    wanted_ms = wanted_ms < STRANGERS_SECOND_MS ? wanted_ms : STRANGERS_SECOND_MS;
    if (wanted_ms > table->patience_ms) {
        table->patience_ms += (wanted_ms - table->patience_ms) / LENGTHEN_PART;
    }
    table->proved_ms = now_ms;
    if (stranger->since_ms > table->latest_came_ms) {
        table->latest_came_ms = stranger->since_ms;
    }
    strangers_remove(stranger);
}

void strangers_set_max(struct strangers *table, size_t max)
{
    CHECK(max > 0);
    table->second_max = max >= STRANGERS_SECOND_FROM ? max / SECOND_PART : 0;
    table->max = max - table->second_max;
}

size_t strangers_count(const struct strangers *table)
{
    return table->count + table->second_count;
}

uint64_t strangers_sent_away(const struct strangers *table)
{
    return table->sent_away;
}

const char *strangers_last_host(const struct strangers *table)
{
    return table->last_host;
}
