/* tests/unit/wire/test_door.c - a port moves and its certificate is renewed while it is open.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/pki.h"
#include "base/server_role.h"
#include "wire/door.h"

#define ROLE SERVER_ROLE_COLLECTOR

struct bed {
    struct world *world;
    struct door *door;
    char certs[2][160], keys[2][160];
    struct stream *streams[8];
    size_t stream_count;
    struct end served;
};

static void ignore(void *arg)
{
    (void)arg;
}

static void ignore_close(void *arg, int code, const char *why)
{
    (void)arg, (void)code, (void)why;
}

static void served_readable(void *arg)
{
    struct bed *bed = arg;
    bed->served.handled++;
    for (size_t i = 0; i < bed->stream_count; i++) {
        size_t length = 0;
        (void)stream_input(bed->streams[i], &length);
        stream_consume(bed->streams[i], length);
    }
}

static void serve(void *arg, struct incoming *incoming)
{
    static const struct stream_events SERVED = {.readable = served_readable,
                                                .closed = ignore_close};
    struct bed *bed = arg;
    bed->streams[bed->stream_count++] =
        incoming_accept(incoming, door_identity(bed->door), &SERVED, bed);
}

/* A client that insists on a certificate. */
struct caller {
    struct stream *stream;
    bool opened, over;
};

static void caller_opened(void *arg)
{
    struct caller *caller = arg;
    caller->opened = caller->over = true;
}

static void caller_closed(void *arg, int code, const char *why)
{
    (void)code, (void)why;
    ((struct caller *)arg)->over = true;
}

static bool call(struct bed *bed, const char *address, const char *pin, struct caller *caller)
{
    static const struct stream_events CALLER = {.opened = caller_opened,
                                                .readable = ignore,
                                                .closed = caller_closed};
    const struct stream_trust trust = {.pin = pin};
    *caller = (struct caller){0};
    MUST(stream_connect(bed->world->loop, address, "collector", &trust, &CALLER, caller,
                        &caller->stream, err));
    world_until_flag(bed->world, &caller->over);
    return caller->opened;
}

static void bed_open(struct bed *bed, struct world *world, const char *address)
{
    static const struct pki_server SERVER = {.role = ROLE, .name = "test"};
    *bed = (struct bed){.world = world};
    MUST(pki_make_ca(world->os, world->dir, "test", err));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(bed->certs[i], sizeof bed->certs[i], "%s/cert%d.pem", world->dir, i);
        (void)snprintf(bed->keys[i], sizeof bed->keys[i], "%s/key%d.pem", world->dir, i);
        MUST(
            pki_make_server_cert(world->os, world->dir, bed->certs[i], bed->keys[i], &SERVER, err));
    }
    const struct door_place place = {address, bed->certs[0], bed->keys[0], ROLE, NULL};
    MUST(door_open(world->loop, world->os, world->log, &place, serve, bed, &bed->door, err));
}

static void bed_close(struct bed *bed)
{
    for (size_t i = 0; i < bed->stream_count; i++) {
        stream_close(bed->streams[i]);
    }
    door_close(bed->door);
}

static bool has_handled(void *arg)
{
    return ((const struct bed *)arg)->served.handled > 0;
}

static void copy_text(char *to, size_t size, const char *from)
{
    (void)snprintf(to, size, "%s", from);
}

static void a_renewed_certificate_is_for_new_connections_and_old_ones_stay(void **state)
{
    struct bed bed;
    struct caller old, fresh, wrong;
    char address[128], pin[STREAM_PIN_SIZE];
    bool changed = true;
    bed_open(&bed, *state, "tcp:127.0.0.1:0");
    copy_text(address, sizeof address, door_address(bed.door));
    copy_text(pin, sizeof pin, tls_identity_pin(door_identity(bed.door)));
    assert_true(call(&bed, address, pin, &old));
    struct door_place place = {"tcp:127.0.0.1:0", bed.certs[0], bed.keys[0], ROLE, NULL};
    assert_int_equal(door_change(bed.door, &place, &changed, NULL), 0);
    assert_false(changed);
    place.cert = bed.certs[1];
    place.key = bed.keys[1];
    assert_int_equal(door_change(bed.door, &place, &changed, NULL), 0);
    assert_true(changed);
    assert_string_equal(door_address(bed.door), address); /* port 0 was asked for: the same stays */
    assert_string_not_equal(tls_identity_pin(door_identity(bed.door)), pin);
    assert_true(call(&bed, address, tls_identity_pin(door_identity(bed.door)), &fresh));
    assert_false(call(&bed, address, pin, &wrong));
    old.over = false;
    assert_int_equal(stream_write(old.stream, "still", 5), 0);
    world_until(bed.world, has_handled, &bed);
    assert_false(old.over);
    stream_close(old.stream);
    stream_close(fresh.stream);
    stream_close(wrong.stream);
    bed_close(&bed);
}

static void a_port_moves_and_nobody_is_cut_off(void **state)
{
    struct bed bed;
    struct caller old, fresh, late;
    char before[128], after[128];
    bed_open(&bed, *state, "tcp:127.0.0.1:0");
    const char *pin = tls_identity_pin(bed.world->identity);
    copy_text(before, sizeof before, door_address(bed.door));
    assert_true(call(&bed, before, tls_identity_pin(door_identity(bed.door)), &old));
    struct door_place place = {"tcp:127.0.0.2:0", bed.certs[0], bed.keys[0], ROLE, NULL};
    MUST(door_change(bed.door, &place, NULL, err));
    copy_text(after, sizeof after, door_address(bed.door));
    assert_string_not_equal(before, after);
    assert_true(call(&bed, after, tls_identity_pin(door_identity(bed.door)), &fresh));
    assert_false(call(&bed, before, pin, &late)); /* nobody listens there now */
    assert_int_equal(stream_write(old.stream, "still", 5), 0);
    world_until(bed.world, has_handled, &bed);
    stream_close(old.stream);
    stream_close(fresh.stream);
    stream_close(late.stream);
    bed_close(&bed);
}

static void an_address_that_overlaps_the_old_one_takes_its_place(void **state)
{
    struct bed bed;
    struct caller caller;
    char wide[128];
    bed_open(&bed, *state, "tcp:127.0.0.1:0");
    const char *port = strrchr(door_address(bed.door), ':');
    (void)snprintf(wide, sizeof wide, "tcp:0.0.0.0%s", port);
    const struct door_place place = {wide, bed.certs[0], bed.keys[0], ROLE, NULL};
    MUST(door_change(bed.door, &place, NULL, err));
    assert_string_equal(door_address(bed.door), wide);
    char near[128];
    (void)snprintf(near, sizeof near, "tcp:127.0.0.1%s", strrchr(wide, ':'));
    assert_true(call(&bed, near, tls_identity_pin(door_identity(bed.door)), &caller));
    stream_close(caller.stream);
    bed_close(&bed);
}

static void what_is_bad_keeps_the_old_address_and_certificate(void **state)
{
    struct bed bed;
    struct caller caller;
    struct err err = {""};
    char address[128], pin[STREAM_PIN_SIZE];
    bed_open(&bed, *state, "tcp:127.0.0.1:0");
    copy_text(address, sizeof address, door_address(bed.door));
    copy_text(pin, sizeof pin, tls_identity_pin(door_identity(bed.door)));
    const struct door_place bad[] = {
        {"tcp:127.0.0.2:0", bed.certs[1], bed.keys[0], ROLE, NULL},    /* not its key */
        {"tcp:127.0.0.2:0", bed.world->dir, bed.keys[1], ROLE, NULL},  /* no file */
        {"tcp:192.0.2.1:9618", bed.certs[1], bed.keys[1], ROLE, NULL}, /* not an address of ours */
        {"tcp:no-such-host.invalid:1", bed.certs[1], bed.keys[1], ROLE, NULL},
        {"nonsense", bed.certs[1], bed.keys[1], ROLE, NULL},
        {"tcp:127.0.0.2:0", bed.certs[1], bed.keys[1], SERVER_ROLE_SCHEDD, NULL}, /* another's */
        {"tcp:127.0.0.2:0", bed.certs[1], bed.keys[1], ROLE, "another"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err.text[0] = '\0';
        assert_true(door_change(bed.door, &bad[i], NULL, &err) < 0);
        assert_true(strlen(err.text) > 0);
        assert_string_equal(door_address(bed.door), address);
        assert_string_equal(tls_identity_pin(door_identity(bed.door)), pin);
    }
    const char *taken = listener_address(bed.world->listeners[0]); /* another's port */
    const struct door_place busy = {taken, bed.certs[1], bed.keys[1], ROLE, NULL};
    assert_int_equal(door_change(bed.door, &busy, NULL, &err), -EADDRINUSE);
    assert_string_equal(door_address(bed.door), address);
    assert_true(call(&bed, address, pin, &caller));
    stream_close(caller.stream);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(a_renewed_certificate_is_for_new_connections_and_old_ones_stay),
        WORLD_TEST(a_port_moves_and_nobody_is_cut_off),
        WORLD_TEST(an_address_that_overlaps_the_old_one_takes_its_place),
        WORLD_TEST(what_is_bad_keeps_the_old_address_and_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
