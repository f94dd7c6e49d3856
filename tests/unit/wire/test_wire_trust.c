/* tests/unit/wire/test_wire_trust.c - by what each dialled server is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/check.h"
#include "wire/wire_private.h"

#define TCP  "tcp:head.lab:9618"
#define UNIX "unix:/run/roost/x.sock"
#define PIN  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PIN2 "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct wire_context *context_with(struct world *world, const char *ca_file, const char *pin)
{
    const struct wire_context_options options = {.loop = world->loop,
                                                 .os = world->os,
                                                 .ca_file = ca_file,
                                                 .collector_pin = pin};
    struct wire_context *context = NULL;
    assert_int_equal(wire_context_create(&options, &context, NULL), 0);
    return context;
}

static void assert_text(const char *got, const char *expected)
{
    if (expected == NULL) {
        assert_null(got);
    } else {
        assert_non_null(got);
        assert_string_equal(got, expected);
    }
}

static void the_route_says_which_role_and_the_pin_decides_alone(void **state)
{
    static const struct {
        struct wire_dial dial;
        const char *role, *name, *pin;
    } CASES[] = {
        {{.address = TCP, .route = "collector"}, "collector", NULL, NULL},
        {{.address = TCP, .route = "collector", .server = "head"}, "collector", "head", NULL},
        {{.address = TCP, .route = "collector", .pin = PIN}, NULL, NULL, PIN},
        {{.address = TCP, .route = "schedd"}, "schedd", NULL, NULL},
        {{.address = TCP, .route = "schedd", .server = "s1"}, "schedd", "s1", NULL},
        {{.address = TCP, .route = "claim", .pin = PIN}, NULL, NULL, PIN},
        {{.address = TCP, .route = "shadow/alice", .pin = PIN}, NULL, NULL, PIN},
        {{.address = TCP, .route = "shadow/alice", .pin = ""}, NULL, NULL, ""}, /* fits nobody */
    };
    struct world *world = *state;
    struct wire_context *context = context_with(world, "/ca.pem", NULL);
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        struct stream_trust trust;
        assert_int_equal(wire_trust(context, &CASES[i].dial, &trust, NULL), 0);
        assert_text(trust.role, CASES[i].role);
        assert_text(trust.name, CASES[i].name);
        assert_text(trust.pin, CASES[i].pin);
        assert_text(trust.ca_file, CASES[i].pin == NULL ? "/ca.pem" : NULL);
    }
    wire_context_destroy(context);
}

static void the_pin_of_the_configuration_is_the_collectors_alone(void **state)
{
    struct world *world = *state;
    struct wire_context *context = context_with(world, "/ca.pem", PIN);
    struct wire_dial dial = {.address = TCP, .route = "collector"};
    struct stream_trust trust;
    assert_int_equal(wire_trust(context, &dial, &trust, NULL), 0);
    assert_text(trust.pin, PIN);
    assert_null(trust.ca_file);
    dial.pin = PIN2;
    assert_int_equal(wire_trust(context, &dial, &trust, NULL), 0);
    assert_text(trust.pin, PIN2);
    dial = (struct wire_dial){.address = TCP, .route = "schedd"};
    assert_int_equal(wire_trust(context, &dial, &trust, NULL), 0);
    assert_null(trust.pin);
    assert_text(trust.role, "schedd");
    wire_context_destroy(context);
}

static void nobody_is_dialled_who_could_be_anybody(void **state)
{
    static const char *const ROUTES[] = {
        "claim", "shadow/alice",  "shadow",    "rsys",      "x",
        "",      "collector/ha1", "Collector", "schedd/s1", "schedds"};
    struct world *world = *state;
    struct wire_context *context = context_with(world, "/ca.pem", PIN);
    struct stream_trust trust;
    struct err err;
    for (size_t i = 0; i < ARRAY_COUNT(ROUTES); i++) {
        const struct wire_dial dial = {.address = TCP, .route = ROUTES[i], .server = "s1"};
        assert_int_equal(wire_trust(context, &dial, &trust, &err), -EINVAL);
        assert_non_null(strstr(err.text, "can be recognized only by a pin"));
    }
    wire_context_destroy(context);
    context = context_with(world, NULL, NULL);
    const struct wire_dial dial = {.address = TCP, .route = "collector"};
    assert_int_equal(wire_trust(context, &dial, &trust, &err), -EINVAL);
    assert_non_null(strstr(err.text, "a CA or a pin is needed"));
    wire_context_destroy(context);
}

/* An address in a lying collector's ad, or in a DIAL_ME. */
static void a_unix_socket_does_not_stand_in_for_a_server_with_a_certificate(void **state)
{
    static const struct wire_dial BAD[] = {
        {.address = UNIX, .route = "schedd", .server = "s1"},
        {.address = UNIX, .route = "claim", .pin = PIN},
        {.address = UNIX, .route = "shadow/alice", .pin = PIN},
        {.address = UNIX, .route = "shadow/alice", .pin = ""},
    };
    struct world *world = *state;
    struct wire_context *context = context_with(world, "/ca.pem", PIN);
    struct stream_trust trust;
    struct err err;
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        assert_int_equal(wire_trust(context, &BAD[i], &trust, &err), -EINVAL);
        assert_non_null(strstr(err.text, "a Unix socket has no certificate to check"));
    }
    const struct wire_dial ours = {.address = UNIX, .route = "collector"};
    assert_int_equal(wire_trust(context, &ours, &trust, NULL), 0);
    assert_true(trust.ca_file == NULL && trust.pin == NULL && trust.role == NULL);
    wire_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(the_route_says_which_role_and_the_pin_decides_alone),
        WORLD_TEST(the_pin_of_the_configuration_is_the_collectors_alone),
        WORLD_TEST(nobody_is_dialled_who_could_be_anybody),
        WORLD_TEST(a_unix_socket_does_not_stand_in_for_a_server_with_a_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
