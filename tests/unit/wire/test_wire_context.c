/* tests/unit/wire/test_wire_context.c - what the connections of a process share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include <ctype.h>

/* The route "collector" alone takes the pin of the configuration, in whatever form people have it.
 */
static void the_collector_is_known_by_its_pin(void **state)
{
    struct world *world = *state;
    struct wire_context_options options = {.loop = world->loop, .os = world->os};
    struct wire_dial dial = {.address = world->tcp, .route = "collector"};
    struct wire_events events = {.closed = end_closed};
    struct wire_context *context = NULL;
    struct wire *wire = NULL;
    struct end end = {0};
    struct err err;
    char pin[100] = "";
    for (size_t i = 0, at = 0; i < 64; i++) { /* AB:CD:... */
        pin[at++] = (char)toupper((unsigned char)world->pin[i]);
        pin[at++] = ':';
        at -= i % 2 == 0 ? 1 : 0;
    }
    options.collector_pin = pin;
    assert_int_equal(wire_context_create(&options, &context, NULL), 0);
    assert_int_equal(wire_dial(context, &dial, &events, &end, &wire, NULL), 0);
    dial.route = "claim";
    assert_int_equal(wire_dial(context, &dial, &events, &end, &wire, NULL), -EINVAL);
    options.collector_pin = "abcd";
    assert_int_equal(wire_context_change(context, &options, &err), -EINVAL);
    assert_string_equal(err.text, "COLLECTOR_PIN: 'abcd' has 4 of 64 digits");
    options.collector_pin = "xyz";
    assert_int_equal(wire_context_change(context, &options, &err), -EINVAL);
    pin[0] = pin[0] == '0' ? '1' : '0';
    options.collector_pin = pin;
    assert_int_equal(wire_context_change(context, &options, NULL), 0);
    options.collector_pin = "";
    assert_int_equal(wire_context_change(context, &options, NULL), 0);
    dial.route = "collector";
    assert_int_equal(wire_dial(context, &dial, &events, &end, &wire, NULL), -EINVAL);
    wire_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(the_collector_is_known_by_its_pin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
