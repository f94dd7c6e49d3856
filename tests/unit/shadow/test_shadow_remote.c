/* tests/unit/shadow/test_shadow_remote.c - who is let in for remote system calls, to what, and
 * until when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/shadow_bed.h"

#include <sys/stat.h>

#include "rsyscall/rsys.h"
#include "wire/remote_ticket.h"

struct client {
    struct stream *stream;
    bool settled, closed;
    struct rsys_reply reply;
    unsigned char session[RSYS_SESSION_SIZE];
    char root[64]; /* as the job sees it */
};

static void opened(void *arg)
{
    ((struct client *)arg)->settled = true;
}

static void readable(void *arg)
{
    struct client *client = arg;
    struct rsys_root root;
    size_t length, at = 0;
    const unsigned char *in = stream_input(client->stream, &length);
    int64_t size = rsys_frame_length(in, length);
    if (size <= 0 || (uint64_t)size > length) {
        return;
    }
    assert_int_equal(rsys_decode_reply(in, (size_t)size, &client->reply), 0);
    if (client->reply.op == RSYS_HELLO && client->reply.status == 0) {
        assert_int_equal(rsys_root_next(client->reply.data, client->reply.data_length, &at, &root),
                         1);
        (void)snprintf(client->root, sizeof(client->root), "%s", root.view.data);
    }
    stream_consume(client->stream, (size_t)size);
    client->settled = true;
}

static void closed(void *arg, int code, const char *why)
{
    struct client *client = arg;
    (void)code;
    (void)why;
    stream_close(client->stream);
    client->stream = NULL;
    client->closed = client->settled = true;
}

static void connect_client(struct world *world, struct client *client)
{
    static const struct stream_events EVENTS = {opened, readable, NULL, closed};
    const struct stream_trust trust = {.pin = world->pin};
    *client = (struct client){0};
    assert_int_equal(stream_connect(world->loop, listener_address(world->tcp), "rsys/x", &trust,
                                    &EVENTS, client, &client->stream, NULL),
                     0);
    wait_for(world, &client->settled);
}

/* What it is answered; 1: the connection is closed, without an answer. */
static int ask(struct world *world, struct client *client, const struct rsys_request *request)
{
    static unsigned char fields[RSYS_FIELDS_MAX];
    int length = rsys_encode_request(request, fields, sizeof(fields));
    assert_true(length > 0);
    client->settled = client->closed;
    client->reply.op = 0;
    if (client->stream != NULL) {
        assert_int_equal(stream_write(client->stream, fields, (size_t)length), 0);
    }
    wait_for(world, &client->settled);
    return client->reply.op == 0 ? 1 : client->reply.status;
}

static int say_hello(struct world *world, struct client *client, const char *nonce)
{
    char ticket[REMOTE_TICKET_SIZE];
    remote_ticket(nonce, ticket);
    connect_client(world, client);
    const struct rsys_request hello = {.op = RSYS_HELLO,
                                       .version = RSYS_VERSION,
                                       .slots = 4,
                                       .text = {ticket, (uint16_t)strlen(ticket)}};
    return ask(world, client, &hello);
}

static int stat_name(struct world *world, struct client *client, uint32_t seq, const char *path)
{
    const struct rsys_request request = {.op = RSYS_STAT,
                                         .seq = seq,
                                         .at = {.path = {path, (uint16_t)strlen(path)}}};
    return ask(world, client, &request);
}

static void let_go(struct client *client)
{
    stream_close(client->stream);
    client->stream = NULL;
}

/* A directory beside the world's, which is the spool: that is hidden. */
static void make_home(char ret[64])
{
    char path[96];
    (void)snprintf(ret, 64, "/tmp/roost_home_XXXXXX");
    assert_non_null(mkdtemp(ret));
    (void)snprintf(path, sizeof(path), "%s/data", ret);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void remove_home(struct world *world, const char *home)
{
    assert_int_equal(os_remove_tree(world->os, home, NULL), 0);
}

static void a_job_is_let_in_with_its_ticket_to_what_it_named(void **state)
{
    struct world *world = *state;
    struct client client;
    char home[64], job[200];
    make_home(home);
    (void)snprintf(job, sizeof(job), "WantRemoteSyscalls = true; RemoteRoot = \"%s\"", home);
    job_run(world, "", job);
    assert_int_equal(say_hello(world, &client, NONCE), 0);
    assert_string_equal(client.root, "/");
    assert_int_equal(stat_name(world, &client, 1, "data"), 0);
    assert_int_equal(stat_name(world, &client, 2, "etc"), -ENOENT);
    let_go(&client);
    remove_home(world, home);
}

static void the_queue_is_hidden_from_it_whatever_the_site_offers(void **state)
{
    struct world *world = *state;
    struct client client;
    job_run(world, "", "WantRemoteSyscalls = true");
    assert_int_equal(say_hello(world, &client, NONCE), 0);
    assert_int_equal(stat_name(world, &client, 1, "tmp"), 0);
    assert_int_equal(stat_name(world, &client, 2, world->dir + 1), -ENOENT);
    let_go(&client);
}

static void nobody_else_is_let_in(void **state)
{
    struct world *world = *state;
    struct client client;
    connect_client(world, &client); /* there is nothing to be let in to */
    wait_for(world, &client.closed);
    job_run(world, "", "WantRemoteSyscalls = true");
    assert_int_equal(say_hello(world, &client, "0123456789abcdef0123456789abcdee"), -EACCES);
    wait_for(world, &client.closed);
}

static void a_job_without_remote_system_calls_is_not_let_in(void **state)
{
    struct world *world = *state;
    struct client client;
    job_run(world, "", "");
    connect_client(world, &client);
    wait_for(world, &client.closed);
}

static void when_it_has_ended_it_is_out(void **state)
{
    struct world *world = *state;
    struct client client;
    struct answer answer;
    struct starter starter;
    job_run(world, "", "WantRemoteSyscalls = true");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_int_equal(say_hello(world, &client, NONCE), 0);
    world->swallow = true; /* the result is not committed yet */
    begin(starter.wire, VERB_JOB_DONE, "[ExitCode = 5; Files = {}; Checksums = {}]", NULL, NULL,
          &answer);
    wait_for(world, &client.closed);
    assert_int_equal(say_hello(world, &client, NONCE), -EACCES);
    let_go(&client);
    wire_close(starter.wire);
    answer_fini(&answer);
}

static void the_next_shadow_lets_it_in_with_the_same_ticket(void **state)
{
    struct world *world = *state;
    struct client client;
    job_run(world, "", "WantRemoteSyscalls = true");
    assert_int_equal(say_hello(world, &client, NONCE), 0);
    (void)snprintf(world->runs, sizeof(world->runs), "1.0.3");
    restart(world);
    wait_for(world, &client.closed);
    job_run(world, "", "WantRemoteSyscalls = true");
    assert_int_equal(say_hello(world, &client, NONCE), 0);
    let_go(&client);
}

static void what_cannot_be_offered_holds_it(void **state)
{
    struct world *world = *state;
    struct starter starter;
    job_run(world, "", "WantRemoteSyscalls = true; RemoteRoot = \"jail\"");
    dial(world, "1.0", 3, NONCE, &starter);
    assert_true(call(world, starter.wire, VERB_JOB_FETCH, "[]", NULL, NULL) < 0);
    assert_non_null(
        strstr(strbuf_text(&world->reports), "'jail' is not an absolute path of a directory"));
    wire_close(starter.wire);
}

static void a_root_outside_of_the_sites_is_not_offered(void **state)
{
    struct world *world = *state;
    struct client client;
    char text[512];
    (void)snprintf(text, sizeof(text),
                   "LOCAL_DIR = \"%s\"\nLOG = \"%s/log\"\nSPOOL = \"%s\"\nUID_DOMAIN = \"pool\"\n"
                   "REMOTE_SYSCALL_ROOTS = \"/usr\"\n",
                   world->dir, world->dir, world->dir);
    put(world, "roost.conf", text);
    restart(world);
    job_run(world, "", "WantRemoteSyscalls = true; RemoteRoot = \"/etc\"");
    assert_int_equal(say_hello(world, &client, NONCE), -EXDEV);
    let_go(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_job_is_let_in_with_its_ticket_to_what_it_named),
        CASE(the_queue_is_hidden_from_it_whatever_the_site_offers),
        CASE(nobody_else_is_let_in),
        CASE(a_job_without_remote_system_calls_is_not_let_in),
        CASE(when_it_has_ended_it_is_out),
        CASE(the_next_shadow_lets_it_in_with_the_same_ticket),
        CASE(what_cannot_be_offered_holds_it),
        CASE(a_root_outside_of_the_sites_is_not_offered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
