/* A schedd at a collector: what is left there of its earlier life.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/collector_bed.h"
#include "tests/support/unit.h"

#include "base/daemon_run.h"
#include "schedd/schedd.h"

static void write_config(struct bed *bed, const char *token_id, char path[300])
{
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "LOCAL_DIR = \"%s/schedd\"\nLOG = \"%s/schedd\"\nRUN = \"%s/schedd\"\n"
                   "SEC_DIRECTORY = \"%s\"\nTOKEN_FILE = \"%s/%s\"\nCOLLECTOR_HOST = \"%s\"\n"
                   "SCHEDD_HOST = \"127.0.0.1\"\nSCHEDD_NAME = \"s\"\nUID_DOMAIN = \"pool\"\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->dir, token_id,
                   bed->tcp + strlen("tcp:"));
    bed_path(bed, "schedd.conf", path);
    BED_MUST(os_write_file(bed->os, path, text, strlen(text), 0600, false, err));
}

static void make_certificate(struct bed *bed)
{
    char cert[300], key[300];
    const char *const sans[] = {"127.0.0.1"};
    bed_path(bed, "schedd.pem", cert);
    bed_path(bed, "schedd-key.pem", key);
    BED_MUST(pki_make_server_cert(bed->os, bed->dir, cert, key, "schedd", sans, 1, err));
}

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
    char path[300], name[] = "roost-schedd", option[] = "-config", alone[] = "-noresurrect";
    char *const argv[] = {name, option, path, alone, NULL};
    struct daemon_run *run;
    make_certificate(bed);
    write_config(bed, other->token_id, path);
    BED_MUST(daemon_run_start(&schedd_daemon, bed->loop, bed->os, NULL, 4, argv, &run, err));
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
