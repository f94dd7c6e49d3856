/* A schedd at a collector: what is left there of its earlier life.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/schedd_bed.h"
#include "tests/support/unit.h"

static size_t count_requests(struct client *client, const char *schedd)
{
    char args[200];
    struct answer answer;
    (void)snprintf(args, sizeof args,
                   "[ Type = \"Request\"; Constraint = \"ScheddName == \\\"%s\\\"\" ]", schedd);
    assert_int_equal(client_call(client, VERB_QUERY, args, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    return count;
}

static void later(void *arg)
{
    *(bool *)arg = true;
}

static void requests_of_an_earlier_life_are_taken_back(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    struct client *client = client_dial(bed, 0, "", NULL, NULL);
    const struct client *other =
        client_dial(bed, SCOPE_READ | SCOPE_DAEMON | SCOPE_ADVERTISE, "", NULL, NULL);
    static const char *const ADS[] = {
        "[ MyType = \"Request\"; Name = \"s#77\"; ScheddName = \"s\"; JobCount = 1 ]",
        "[ MyType = \"Request\"; Name = \"t#1\"; ScheddName = \"t\"; JobCount = 1 ]", NULL};
    struct answer answer;
    assert_int_equal(client_call(client, VERB_UPDATE, "[ Full = true; Epoch = 1; Sequence = 1 ]",
                                 ADS, &answer),
                     0);
    answer_fini(&answer);
    assert_int_equal(count_requests(client, "s"), 1);
    char path[300];
    schedd_bed_write(bed, other->token_id, path);
    struct daemon_run *run = schedd_bed_start(bed, path);
    for (int i = 0; i < 1000 && count_requests(client, "s") > 0; i++) {
        bool over = false;
        struct loop_timer *timer = loop_timer_create(bed->loop, later, &over);
        loop_timer_set(timer, 10);
        loop_run_until(bed->loop, &over);
        loop_timer_destroy(timer);
    }
    assert_int_equal(count_requests(client, "s"), 0);
    assert_int_equal(count_requests(client, "t"), 1); /* another's is not ours to take */
    daemon_run_destroy(run);
    bed_destroy(bed);
}

UNIT_TESTS(UNIT(requests_of_an_earlier_life_are_taken_back))
