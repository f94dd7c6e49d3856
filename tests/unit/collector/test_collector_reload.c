/* A new configuration while the collector runs: certificate, keys, address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/collector_bed.h"

#include "base/strbuf.h"

static struct strbuf *log_of(struct bed *bed)
{
    struct strbuf *text = mem_zalloc(sizeof(*text));
    strbuf_init(text, 0);
    bed->log = loop_rig_log(bed->loop, LOG_LEVEL_INFO, text);
    return text;
}

static void reload(struct bed *bed, const char *more)
{
    size_t length = strlen(bed->config_text);
    (void)snprintf(bed->config_text + length, sizeof(bed->config_text) - length, "%s\n", more);
    daemon_rig_reload(&bed->daemon, bed->config_text);
}

static int renew_certificate(struct bed *bed, const char *cert_name)
{
    static const struct pki_server SERVER = {.role = "collector", .name = "test"};
    char cert[300], key[300];
    bed_path(bed, cert_name, cert);
    bed_path(bed, "collector-key.pem", key);
    return pki_make_server_cert(bed->os, bed->dir, cert, key, &SERVER, NULL);
}

static bool still_answers(struct client *client)
{
    struct answer answer;
    int status = client_call(client, VERB_QUERY, "[ Type = \"Collector\" ]", NULL, &answer);
    answer_fini(&answer);
    return status == 0;
}

static size_t lines_with(const struct strbuf *text, const char *what)
{
    size_t count = 0;
    const char *at = text->data;
    while (at && (at = strstr(at, what)) != NULL) {
        count++;
        at++;
    }
    return count;
}

static void a_moved_collector_with_a_new_certificate_keeps_its_connections(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    struct strbuf *text = log_of(bed);
    bed_start(bed);
    bed_find_address(bed);
    char before[300];
    memcpy(before, bed->tcp, sizeof(before));
    struct client *old = client_dial(bed, SCOPE_READ, "", NULL, NULL);
    assert_int_equal(old->status, 0);
    assert_int_equal(renew_certificate(bed, "collector.pem"), 0);
    reload(bed, "COLLECTOR_LISTEN = \"127.0.0.2:0\"");
    assert_int_equal(lines_with(text, "door.certificate"), 1);
    assert_int_equal(lines_with(text, "door.moved"), 1);
    assert_int_equal(lines_with(text, "config.refused"), 0);
    assert_true(still_answers(old));
    bed_find_address(bed); /* its own ad says where it is now */
    assert_non_null(strstr(bed->tcp, "127.0.0.2"));
    struct client *late = client_dial(bed, SCOPE_READ, "", NULL, NULL);
    assert_int_equal(late->status, 0);
    memcpy(bed->tcp, before, sizeof(before));
    struct client *lost = client_dial(bed, SCOPE_READ, "", NULL, NULL);
    assert_int_equal(lost->status, -ECONNREFUSED);
    bed_destroy(bed);
    strbuf_fini(text);
    mem_free(text);
}

static void bad_values_keep_the_old_ones_with_one_error(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    struct strbuf *text = log_of(bed);
    bed_start(bed);
    bed_find_address(bed);
    struct client *old = client_dial(bed, SCOPE_READ, "", NULL, NULL);
    reload(bed, "COLLECTOR_CERT = \"/no/such/file\"\nCOLLECTOR_LISTEN = \"127.0.0.2:0\"");
    assert_int_equal(lines_with(text, "config.refused"), 1);
    assert_int_equal(lines_with(text, "/no/such/file"), 1);
    assert_int_equal(lines_with(text, "door."), 0);
    assert_true(still_answers(old));
    struct client *late = client_dial(bed, SCOPE_READ, "", NULL, NULL);
    assert_int_equal(late->status, 0);
    reload(
        bed,
        "COLLECTOR_CERT = \"$(SEC_DIRECTORY)/collector.pem\"\nCOLLECTOR_LISTEN = \"192.0.2.1:0\"");
    assert_int_equal(lines_with(text, "config.refused"), 2);
    assert_true(still_answers(late));
    bed_destroy(bed);
    strbuf_fini(text);
    mem_free(text);
}

static void a_key_that_was_taken_away_is_good_no_more(void **state)
{
    (void)state;
    struct bed *bed = bed_create("");
    struct strbuf *text = log_of(bed);
    char other[300], empty[400];
    bed_start(bed);
    bed_find_address(bed);
    bed_path(bed, "keys2", other);
    struct client *old = client_dial(bed, SCOPE_READ, "", NULL, NULL);
    (void)snprintf(empty, sizeof(empty), "POOL_KEYS = \"%s/none\"", bed->dir);
    reload(bed, empty); /* no such directory: the old keys stay */
    assert_int_equal(lines_with(text, "config.refused"), 1);
    assert_int_equal(client_dial(bed, SCOPE_READ, "", NULL, NULL)->status, 0);
    MUST(os_mkdirs(bed->os, other, 0700, err));
    MUST(token_key_make(bed->os, bed->loop, other, "k2", err));
    reload(bed, "POOL_KEYS = \"$(SEC_DIRECTORY)/keys2\"");
    assert_int_equal(lines_with(text, "config.refused"), 1);
    struct client *late = client_dial(bed, SCOPE_READ, "", NULL, NULL); /* signed by k1 */
    assert_int_equal(late->status, -EACCES);
    assert_true(still_answers(old));
    bed_destroy(bed);
    strbuf_fini(text);
    mem_free(text);
}

static size_t found(struct bed *bed, const char *constraint)
{
    struct client *client = client_dial(bed, 0, "", NULL, NULL);
    struct answer answer;
    char args[300];
    (void)snprintf(args, sizeof(args), "[ Type = \"Collector\"; Constraint = %s ]", constraint);
    assert_int_equal(client_call(client, VERB_QUERY, args, NULL, &answer), 0);
    size_t count = answer.ads.count;
    answer_fini(&answer);
    client_close(client);
    return count;
}

static void a_constraint_asks_the_maps_that_are_configured_now(void **state)
{
    (void)state;
    static const char *const IN_PHYSICS =
        "\"userMap(\\\"groups\\\", \\\"alice\\\", \\\"physics\\\") == \\\"physics\\\"\"";
    struct bed *bed = bed_create("CLASSAD_USER_MAP_NAMES = \"groups\"\n"
                                 "CLASSAD_USER_MAPDATA_groups = \"* alice physics\"\n");
    bed_start(bed);
    assert_int_equal(found(bed, IN_PHYSICS), 1);
    reload(bed, "CLASSAD_USER_MAPDATA_groups = \"* alice biology\"");
    assert_int_equal(found(bed, IN_PHYSICS), 0);
    bed_destroy(bed);
}

UNIT_TESTS(UNIT(a_constraint_asks_the_maps_that_are_configured_now),
           UNIT(a_moved_collector_with_a_new_certificate_keeps_its_connections),
           UNIT(bad_values_keep_the_old_ones_with_one_error),
           UNIT(a_key_that_was_taken_away_is_good_no_more))
