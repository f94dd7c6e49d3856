/* tests/unit/rsyscall/test_server.c - sessions: who is let in, cuts, leases, limits.
 *
 * A file server that hangs is played by a lease (fcntl): to open a file on which another process
 * has one waits until it is given up.
 *
 * TIMEOUT: 180
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall/rsys_rig.h"

#include <signal.h>
#include <sys/resource.h>

/* ---- who is let in --------------------------------------------------------------------------- */

static void a_wrong_ticket_is_refused(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, "0123456789abcdeg", false), -EACCES);
    RIG_AWAIT(rig, rig->closed);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, "0123", false), -EACCES);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, "", false), -EACCES);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, false), 0);
}

static void another_version_is_refused(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    rig_dial(rig);
    struct rsys_request hello = {.op = RSYS_HELLO,
                                 .version = RSYS_VERSION + 1,
                                 .text = TEXT(TICKET)};
    rig->hello_slot.answered = false;
    rig_write(rig, &hello);
    RIG_AWAIT(rig, rig->closed);
    assert_true(rig->hello_slot.answered);
    assert_int_equal(rig->hello_slot.reply.status, -EPROTONOSUPPORT);
}

static void who_does_not_say_hello_first_is_cut(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    rig_dial(rig);
    struct rsys_request ping = {.op = RSYS_PING, .seq = 1};
    rig_write(rig, &ping);
    RIG_AWAIT(rig, rig->closed);
    assert_int_equal(rig->replies, 0);
}

static void a_stranger_may_say_no_more_than_hello(void **state)
{
    struct rig *rig = *state;
    static const unsigned char LARGE[RSYS_HEADER_SIZE] = {0, 0, 8, 0, RSYS_HELLO};
    rig_open(rig, NULL);
    rig_dial(rig);
    uint64_t since = loop_now_ms(rig->loop);
    assert_int_equal(stream_write(rig->client, LARGE, sizeof(LARGE)), 0);
    RIG_AWAIT(rig, rig->closed);
    /* What it announced was not waited for until HELLO's time was over. */
    assert_true(loop_now_ms(rig->loop) - since < RSYS_HELLO_MS);
    assert_int_equal(rig->replies, 0);
}

static void many_strangers_do_not_keep_a_client_out(void **state)
{
    struct rig *rig = *state;
    enum { STRANGERS = 200 };
    static struct rig strangers[STRANGERS];
    rig_open(rig, NULL);
    uint64_t since = loop_now_ms(rig->loop);
    for (int i = 0; i < STRANGERS; i++) {
        rig_second(rig, &strangers[i]);
    }
    RIG_AWAIT(&strangers[0], strangers[0].closed); /* the oldest, before its time is over */
    assert_true(loop_now_ms(rig->loop) - since < RSYS_HELLO_MS);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    for (int i = 0; i < STRANGERS; i++) {
        rig_second_fini(&strangers[i]);
    }
}

static void offers_and_tickets_that_make_no_sense_are_refused(void **state)
{
    struct rig *rig = *state;
    struct rsys_job *job = NULL;
    struct rsys_offer_root root = {.view = "/", .directory = rig->root};
    struct rsys_offer offer = {.roots = &root, .root_count = 1, .limits = RSYS_LIMITS_DEFAULT};
    assert_int_equal(rsys_job_open(rig->server, "", &offer, &job), -EINVAL);
    root.view = "a/b";
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), -EINVAL);
    root.view = "/a/../b";
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), -EINVAL);
    root = (struct rsys_offer_root){.view = "/", .directory = "here"};
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), -EINVAL);
    root.directory = rig->root;
    offer.limits.slots = 0;
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), -EINVAL);
    offer.limits.slots = RSYS_SLOTS_MAX + 1;
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), -EINVAL);
    offer.limits.slots = 1;
    assert_null(job);
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), 0);
    assert_int_equal(rsys_job_open(rig->server, "x", &offer, &job), -EEXIST);
}

static void a_root_that_is_not_there_is_told_and_looked_for_again(void **state)
{
    struct rig *rig = *state;
    char missing[128];
    (void)snprintf(missing, sizeof(missing), "%s/later", rig->base);
    struct rsys_offer_root root = {.view = "/", .directory = missing};
    struct rsys_offer offer = {.roots = &root, .root_count = 1, .limits = RSYS_LIMITS_DEFAULT};
    assert_int_equal(rsys_job_open(rig->server, TICKET, &offer, &rig->job), 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, false), -ENOENT);
    assert_int_equal(mkdir(missing, 0755), 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, false), 0);
    assert_int_equal(rig_stat(rig, "x", NULL), -ENOENT);
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static void what_is_open_survives_a_cut(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "still here");
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_READ);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_UNLINK, .at = AT(0, "f")}),
                     0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    struct rsys_request read = {.op = RSYS_READ, .at.handle = handle, .length = 100};
    const struct rsys_reply *reply = rig_ask(rig, &read);
    assert_int_equal(reply->status, 0);
    assert_memory_equal(reply->data, "still here", 10);
}

static void a_request_that_comes_again_is_done_once(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "log", "");
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "log", RSYS_OPEN_WRITE | RSYS_OPEN_APPEND);
    struct rsys_request mkdir = {.op = RSYS_MKDIR, .at = AT(0, "d"), .mode = 0755};
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "new"), .mode = 0644};
    struct rsys_request write = {.op = RSYS_WRITE,
                                 .at.handle = handle,
                                 .extent_count = 1,
                                 .extents = {{0, 5}},
                                 .data = "once ",
                                 .data_length = 5};
    open.how = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE | RSYS_OPEN_EXCL;
    rig_send(rig, 1, &mkdir);
    rig_send(rig, 2, &open);
    rig_send(rig, 3, &write);
    uint64_t ino = rig_await(rig, 1)->attr.ino;
    uint64_t opened = rig_await(rig, 2)->handle;
    assert_int_equal(rig_await(rig, 3)->value, 5);
    for (int i = 0; i < 3; i++) {
        rig_dial(rig);
        assert_int_equal(rig_hello(rig, TICKET, true), 0);
        rig_send_again(rig, 1, &mkdir);
        rig_send_again(rig, 2, &open);
        rig_send_again(rig, 3, &write);
        assert_int_equal(rig_await(rig, 1)->status, 0);
        assert_int_equal(rig_await(rig, 1)->attr.ino, ino);
        assert_int_equal(rig_await(rig, 2)->handle, opened);
        assert_int_equal(rig_await(rig, 3)->value, 5);
    }
    char text[64];
    assert_int_equal(rig_get_file(rig, "log", text, sizeof(text)), 5);
    assert_int_equal(rig_stats(rig).repeated, 9);
    assert_int_equal(rig_ask(rig, &mkdir)->status, -EEXIST); /* a new one is another thing */
}

static void a_request_cut_off_from_its_answer_is_done_once(void **state)
{
    struct rig *rig = *state;
    char text[4096];
    rig_put_file(rig, "log", "");
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "log", RSYS_OPEN_WRITE | RSYS_OPEN_APPEND);
    for (int i = 0; i < 50; i++) {
        struct rsys_request write = {.op = RSYS_WRITE,
                                     .at.handle = handle,
                                     .extent_count = 1,
                                     .extents = {{0, 4}},
                                     .data = "line",
                                     .data_length = 4};
        rig_send(rig, 5, &write);
        /* Cut anywhere from before it is read to after it is answered. */
        struct rsys_stats before = rig_stats(rig);
        if (i % 2 == 0) {
            RIG_POLL(rig, rig_stats(rig).requests != before.requests || i % 4 == 0);
        }
        rig_dial(rig);
        assert_int_equal(rig_hello(rig, TICKET, true), 0);
        rig_send_again(rig, 5, &write);
        assert_int_equal(rig_await(rig, 5)->value, 4);
    }
    assert_int_equal(rig_get_file(rig, "log", text, sizeof(text)), 200);
}

static void an_open_that_comes_again_has_its_handle_and_no_contents(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "contents");
    rig_open(rig, NULL);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "f"), .length = 100};
    open.how = RSYS_OPEN_READ | RSYS_OPEN_CREATE;
    const struct rsys_reply *reply = rig_ask(rig, &open);
    uint64_t handle = reply->handle;
    assert_int_equal(reply->data_length, 8);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    rig_send_again(rig, 0, &open);
    reply = rig_await(rig, 0);
    assert_int_equal(reply->status, 0);
    assert_int_equal(reply->handle, handle);
    assert_int_equal(reply->data_length, 0);
    assert_int_equal(rig_stat(rig, "f", NULL), 0); /* what follows is understood */
}

static void a_read_that_comes_again_is_read_again(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "one");
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_READ);
    struct rsys_request read = {.op = RSYS_READ, .at.handle = handle, .length = 100};
    assert_memory_equal(rig_ask(rig, &read)->data, "one", 3);
    rig_put_file(rig, "f", "two");
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    rig_send_again(rig, 0, &read);
    assert_memory_equal(rig_await(rig, 0)->data, "two", 3);
}

static void the_newest_connection_of_a_session_is_the_right_one(void **state)
{
    struct rig *rig = *state;
    struct rig second;
    rig_open(rig, NULL);
    rig_second(rig, &second);
    memcpy(second.session, rig->session, sizeof(second.session));
    assert_int_equal(rig_hello(&second, TICKET, true), 0);
    RIG_AWAIT(rig, rig->closed);
    assert_int_equal(rig_stats(rig).sessions, 1);
    assert_int_equal(rig_stats(rig).connections, 1);
    assert_int_equal(rig_stat(&second, "x", NULL), -ENOENT);
    rig_second_fini(&second);
}

static void an_unknown_session_is_told_and_a_new_one_begun_on_the_same_connection(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    rig_dial(rig);
    memset(rig->session, 7, sizeof(rig->session));
    assert_int_equal(rig_hello(rig, TICKET, true), -ESTALE);
    assert_int_equal(rig_hello(rig, TICKET, false), 0);
    rig->slots[0].seq = 0;
    assert_int_equal(rig_stat(rig, "x", NULL), -ENOENT);
}

static void a_session_ends_when_nothing_is_heard_for_the_lease(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.lease_ms = 800;
    rig_put_file(rig, "f", "x");
    rig_open(rig, &offer);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    rig_cut(rig);
    RIG_POLL(rig, rig_stats(rig).sessions == 0);
    assert_int_equal(rig_stats(rig).handles, 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), -ESTALE);
    /* Connected and silent is no better. */
    assert_int_equal(rig_hello(rig, TICKET, false), 0);
    RIG_AWAIT(rig, rig->closed);
    assert_int_equal(rig_stats(rig).sessions, 0);
}

static void bye_closes_all_that_is_open(void **state)
{
    struct rig *rig = *state;
    rig_put_file(rig, "f", "x");
    rig_open(rig, NULL);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    assert_int_equal(rig_stats(rig).handles, 1);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_BYE}), 0);
    RIG_AWAIT(rig, rig->closed);
    assert_int_equal(rig_stats(rig).handles, 0);
    assert_int_equal(rig_stats(rig).sessions, 0);
}

static void a_job_that_is_over_has_no_clients(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    rsys_job_close(rig->job);
    RIG_AWAIT(rig, rig->closed);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), -EACCES);
}

/* ---- what breaks the protocol ---------------------------------------------------------------- */

static void expect_cut(struct rig *rig, const void *bytes, size_t length)
{
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    unsigned before = rig->replies;
    assert_int_equal(stream_write(rig->client, bytes, length), 0);
    RIG_AWAIT(rig, rig->closed);
    assert_int_equal(rig->replies, before);
}

static void expect_cut_by(struct rig *rig, struct rsys_request request)
{
    unsigned char fields[RSYS_FIELDS_MAX];
    int length = rsys_encode_request(&request, fields, sizeof(fields));
    assert_true(length > 0);
    expect_cut(rig, fields, (size_t)length);
}

static void numbers_that_cannot_be_end_the_connection(void **state)
{
    struct rig *rig = *state;
    rig_open(rig, NULL);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    expect_cut_by(rig, (struct rsys_request){.op = RSYS_PING, .slot = 0, .seq = 3});
    expect_cut_by(rig, (struct rsys_request){.op = RSYS_PING, .slot = 0, .seq = 0});
    expect_cut_by(rig, (struct rsys_request){.op = RSYS_PING, .slot = 1, .seq = 0});
    expect_cut_by(rig, (struct rsys_request){.op = RSYS_PING, .slot = 64, .seq = 1});
    expect_cut_by(rig, (struct rsys_request){.op = RSYS_PING, .slot = 65535, .seq = 1});
    expect_cut_by(rig, (struct rsys_request){.op = RSYS_HELLO, .text = TEXT(TICKET)});
    expect_cut(rig, "\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    expect_cut(rig, "\x0f\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(rig_stats(rig).malformed, 8);
    /* The session is none the worse for it. */
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
}

static void a_message_with_wrong_fields_is_refused_alone(void **state)
{
    struct rig *rig = *state;
    unsigned char fields[RSYS_FIELDS_MAX];
    rig_open(rig, NULL);
    struct rsys_request stat = {.op = RSYS_STAT, .at = AT(0, "aa/bb"), .slot = 3, .seq = 1};
    int length = rsys_encode_request(&stat, fields, sizeof(fields));
    unsigned char *path = memmem(fields, (size_t)length, "aa/bb", 5);
    assert_non_null(path);
    static const char *const BAD[] = {"../bb", "a//bb", "/a/bb", "aa/..", "./abb", "aabb/"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        memcpy(path, BAD[i], 5);
        fields[8] = (unsigned char)(i + 1); /* seq */
        rig->slots[3].seq = (uint32_t)(i + 1);
        rig->slots[3].answered = false;
        assert_int_equal(stream_write(rig->client, fields, (size_t)length), 0);
        assert_int_equal(rig_await(rig, 3)->status, -EBADMSG);
    }
    fields[4] = 200; /* no such operation */
    fields[8]++;
    rig->slots[3].seq++;
    rig->slots[3].answered = false;
    assert_int_equal(stream_write(rig->client, fields, (size_t)length), 0);
    assert_int_equal(rig_await(rig, 3)->status, -EBADMSG);
    assert_int_equal(rig_stats(rig).malformed, 7);
    assert_int_equal(rig_stat(rig, "x", NULL), -ENOENT);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void handles_are_limited(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.handles = 3;
    rig_put_file(rig, "f", "x");
    rig_open(rig, &offer);
    int64_t first = rig_open_file(rig, "f", RSYS_OPEN_READ);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    assert_int_equal(rig_open_file(rig, "none", RSYS_OPEN_READ), -ENOENT);
    assert_true(rig_open_file(rig, "f", RSYS_OPEN_READ) > 0);
    assert_int_equal(rig_open_file(rig, "f", RSYS_OPEN_READ), -ENFILE);
    assert_int_equal(rig_open_file(rig, "f", RSYS_OPEN_READ), -ENFILE);
    struct rsys_request close = {.op = RSYS_CLOSE, .at.handle = (uint64_t)first};
    assert_int_equal(rig_ask(rig, &close)->status, 0);
    int64_t again = rig_open_file(rig, "f", RSYS_OPEN_READ);
    assert_true(again > 0);
    assert_int_not_equal(again, first); /* an old number is nobody's */
    close.at.handle = 0;
    assert_int_equal(rig_ask(rig, &close)->status, -EBADF); /* roots are not closed */
}

static void bytes_written_are_limited(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.bytes_max = 10;
    rig_open(rig, &offer);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    assert_int_equal(rig_write_at(rig, handle, 0, "12345678"), 0);
    assert_int_equal(rig_write_at(rig, handle, 8, "901"), -EDQUOT);
    struct rsys_request more = {.op = RSYS_FALLOCATE, .at.handle = handle, .length = 4096};
    assert_int_equal(rig_ask(rig, &more)->status, -EDQUOT);
    assert_int_equal(rig_write_at(rig, 0, 8, "90"), -EBADF); /* what failed is not counted */
    assert_int_equal(rig_write_at(rig, handle, 8, "90"), 0);
    assert_int_equal(rig_write_at(rig, handle, 0, "1"), -EDQUOT);
}

static void a_file_beyond_our_own_limit_is_an_error(void **state)
{
    struct rig *rig = *state;
    struct rlimit before, less;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = before;
    less.rlim_cur = 1 << 20;
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    struct rsys_request set = {.op = RSYS_SETATTR, .at = AT(handle, ""), .how = RSYS_SET_SIZE};
    set.attr.size = 2 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    int written = rig_write_at(rig, handle, 2 << 20, "x"), cut = rig_ask(rig, &set)->status;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(written, -EFBIG);
    assert_int_equal(cut, -EFBIG);
}

/* A block for each byte, if nobody counted them. */
static void what_is_written_into_holes_counts_as_the_disk_sees_it(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.bytes_max = 100 * 4096;
    rig_open(rig, &offer);
    uint64_t handle =
        (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    struct rsys_request set = {.op = RSYS_SETATTR, .at = AT(handle, ""), .how = RSYS_SET_SIZE};
    int status = 0, blocks = 0;
    set.attr.size = (uint64_t)1 << 30;
    assert_int_equal(rig_ask(rig, &set)->status, 0);
    while (status == 0 && blocks < 1000) {
        status = rig_write_at(rig, handle, (uint64_t)blocks++ * 65536, "x");
    }
    assert_int_equal(status, -EDQUOT);
    assert_in_range(blocks, 90, 102);
    /* One that copies them is seen, too. */
    struct rsys_request copy = {
        .op = RSYS_COPY, .at.handle = handle, .to.handle = handle, .offset_to = 4096, .length = 1};
    assert_int_equal(rig_ask(rig, &copy)->status, -EDQUOT);
}

static void space_that_is_asked_for_by_the_byte_counts_as_the_disk_sees_it(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.bytes_max = 100 * 4096;
    rig_open(rig, &offer);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    struct rsys_request more = {.op = RSYS_FALLOCATE, .at.handle = handle, .length = 1};
    int status = 0, blocks = 0;
    while (status == 0 && blocks < 1000) {
        more.offset = (uint64_t)blocks++ * 65536;
        status = rig_ask(rig, &more)->status;
    }
    assert_int_equal(status, -EDQUOT);
    assert_in_range(blocks, 90, 102);
}

static void lines_at_the_end_count_as_they_are_long(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.bytes_max = 1000;
    rig_open(rig, &offer);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    uint64_t log =
        (uint64_t)rig_open_file(rig, "g", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE | RSYS_OPEN_APPEND);
    for (uint64_t i = 0; i < 50; i++) {
        assert_int_equal(rig_write_at(rig, handle, i * 10, "123456789\n"), 0);
        assert_int_equal(rig_write_at(rig, log, 0, "123456789\n"), 0);
    }
    assert_int_equal(rig_write_at(rig, log, 0, "x"), -EDQUOT);
}

/* As programs that are careful save. */
static void a_file_that_takes_anothers_name_counts_for_both(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    const uint32_t create = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE | RSYS_OPEN_EXCL;
    offer.limits.files_max = 2;
    rig_open(rig, &offer);
    struct rsys_request save = {.op = RSYS_RENAME, .at = AT(0, "new"), .to = AT(0, "saved")};
    for (int i = 0; i < 10; i++) {
        assert_true(rig_open_file(rig, "new", create) > 0);
        assert_int_equal(rig_ask(rig, &save)->status, 0);
        assert_int_equal(rig_stats(rig).files, 1);
    }
    assert_true(rig_open_file(rig, "new", create) > 0);
    assert_int_equal(rig_stats(rig).files, 2);
    assert_int_equal(rig_open_file(rig, "more", create), -EDQUOT);
    /* Files that have no name are none. */
    for (int i = 0; i < 5; i++) {
        assert_true(rig_open_file(rig, "", RSYS_OPEN_WRITE | RSYS_OPEN_TMPFILE) > 0);
    }
    assert_int_equal(rig_stats(rig).files, 2);
}

static void files_are_limited_and_what_is_there_can_still_be_opened(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    const uint32_t create = RSYS_OPEN_WRITE | RSYS_OPEN_CREATE;
    offer.limits.files_max = 2;
    rig_put_file(rig, "there", "x");
    rig_open(rig, &offer);
    struct rsys_request mkdir = {.op = RSYS_MKDIR, .at = AT(0, "there"), .mode = 0755};
    assert_int_equal(rig_ask(rig, &mkdir)->status, -EEXIST);
    assert_true(rig_open_file(rig, "there", create) > 0);
    assert_true(rig_open_file(rig, "one", create) > 0);
    mkdir.at = AT(0, "two");
    assert_int_equal(rig_ask(rig, &mkdir)->status, 0);
    assert_int_equal(rig_stats(rig).files, 2);
    assert_int_equal(rig_open_file(rig, "three", create), -EDQUOT);
    assert_true(rig_open_file(rig, "there", create) > 0);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_RMDIR, .at = AT(0, "two")}),
                     0);
    assert_true(rig_open_file(rig, "three", create) > 0);
}

static void sessions_are_limited_and_a_cut_one_gives_its_place(void **state)
{
    struct rig *rig = *state;
    struct rig second;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.sessions = 1;
    rig_open(rig, &offer);
    rig_second(rig, &second);
    assert_int_equal(rig_hello(&second, TICKET, false), -EUSERS);
    rig_cut(rig);
    RIG_POLL(rig, rig_stats(rig).connections == 0);
    rig_dial(&second);
    assert_int_equal(rig_hello(&second, TICKET, false), 0);
    assert_int_equal(rig_stats(rig).sessions, 1);
    rig_second_fini(&second);
}

/* ---- a file server that hangs ---------------------------------------------------------------- */

/* Opening rig's file `name` waits until the descriptor is closed. */
static int hang(struct rig *rig, const char *name)
{
    assert_true(signal(SIGIO, SIG_IGN) != SIG_ERR);
    rig_put_file(rig, name, "x");
    int fd = open(rig_path(rig, name), O_RDWR);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
    return fd;
}

static void nobody_else_waits_for_a_file_that_hangs(void **state)
{
    struct rig *rig = *state;
    struct rig second;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    struct rsys_offer_root root = {.view = "/", .directory = rig->root};
    offer.limits.lanes = 1;
    int fd = hang(rig, "slow");
    rig_open(rig, &offer);
    offer.roots = &root;
    offer.root_count = 1;
    rig_second(rig, &second);
    assert_int_equal(rsys_job_open(rig->server, "another", &offer, &second.job), 0);
    assert_int_equal(rig_hello(&second, "another", false), 0);

    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "slow"), .how = RSYS_OPEN_READ};
    rig_send(rig, 1, &open);
    struct rsys_request mkdir = {.op = RSYS_MKDIR, .at = AT(0, "d"), .mode = 0755};
    rig_send(rig, 2, &mkdir);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    for (int i = 0; i < 20; i++) {
        assert_true(rig_open_file(&second, "d", RSYS_OPEN_READ) == -ENOENT);
    }
    assert_false(rig->slots[1].answered);
    assert_false(rig->slots[2].answered); /* the only lane is taken */
    assert_int_equal(close(fd), 0);
    assert_int_equal(rig_await(rig, 1)->status, 0);
    assert_int_equal(rig_await(rig, 2)->status, 0);
    rig_second_fini(&second);
}

/* Who changes a file holds up who writes to it: the loop never waits for that, or all jobs would.
 */
static void a_write_is_no_longer_done_at_once_when_a_lane_is_busy(void **state)
{
    struct rig *rig = *state;
    if (access("/dev/shm", W_OK) != 0) {
        skip(); /* elsewhere no write is done at once */
    }
    int fd = hang(rig, "slow");
    rig_open(rig, NULL);
    int64_t file = rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    RIG_POLL(rig, rig_write_at(rig, (uint64_t)file, 0, "x") == 0 && rig_stats(rig).at_once > 0);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "slow"), .how = RSYS_OPEN_READ};
    rig_send(rig, 1, &open);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    uint64_t before = rig_stats(rig).at_once;
    assert_int_equal(rig_write_at(rig, (uint64_t)file, 0, "y"), 0);
    assert_int_equal(rig_stats(rig).at_once, before);
    assert_int_equal(close(fd), 0);
    assert_int_equal(rig_await(rig, 1)->status, 0);
    RIG_POLL(rig,
             rig_write_at(rig, (uint64_t)file, 0, "z") == 0 && rig_stats(rig).at_once > before);
}

static void what_is_being_done_is_not_done_again(void **state)
{
    struct rig *rig = *state;
    int fd = hang(rig, "slow");
    rig_open(rig, NULL);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "slow"), .how = RSYS_OPEN_READ};
    rig_send(rig, 1, &open);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    rig_send_again(rig, 1, &open);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    assert_false(rig->slots[1].answered);
    assert_int_equal(rig_stats(rig).handles, 1);
    /* Another one in that slot cannot be. */
    rig_send(rig, 1, &open);
    RIG_AWAIT(rig, rig->closed);
    rig->slots[1].seq--;
    rig_dial(rig);
    assert_int_equal(rig_hello(rig, TICKET, true), 0);
    assert_int_equal(close(fd), 0);
    rig_send_again(rig, 1, &open);
    assert_int_equal(rig_await(rig, 1)->status, 0);
    assert_int_equal(rig_stats(rig).handles, 1);
}

static void a_job_is_closed_without_waiting_for_what_hangs(void **state)
{
    struct rig *rig = *state;
    int fd = hang(rig, "slow");
    rig_open(rig, NULL);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "slow"), .how = RSYS_OPEN_READ};
    rig_send(rig, 1, &open);
    assert_int_equal(rig_status(rig, (struct rsys_request){.op = RSYS_PING}), 0);
    rsys_job_close(rig->job);
    RIG_AWAIT(rig, rig->closed);
    assert_false(rig->slots[1].answered);
    /* The ticket may be used again meanwhile. */
    rig_open(rig, NULL);
    rig->slots[0].seq = 0;
    assert_int_equal(close(fd), 0);
}

static void requests_that_wait_hold_no_more_memory_than_they_may(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    enum { WRITES = 30 };
    char *data = test_calloc(1, RSYS_DATA_MAX);
    offer.limits.lanes = 1;
    offer.limits.queued_max = (uint64_t)4 << 20;
    int fd = hang(rig, "slow");
    rig_open(rig, &offer);
    uint64_t handle = (uint64_t)rig_open_file(rig, "f", RSYS_OPEN_WRITE | RSYS_OPEN_CREATE);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "slow"), .how = RSYS_OPEN_READ};
    rig_send(rig, 40, &open);
    for (uint16_t i = 0; i < WRITES; i++) {
        struct rsys_request write = {.op = RSYS_WRITE,
                                     .at.handle = handle,
                                     .extent_count = 1,
                                     .extents = {{(uint64_t)i << 20, RSYS_DATA_MAX}},
                                     .data = data,
                                     .data_length = RSYS_DATA_MAX};
        rig_send(rig, i, &write);
    }
    RIG_POLL(rig, rig_stats(rig).queued_peak >= offer.limits.queued_max);
    assert_int_equal(close(fd), 0);
    for (uint16_t i = 0; i < WRITES; i++) {
        assert_int_equal(rig_await(rig, i)->value, RSYS_DATA_MAX);
    }
    assert_true(rig_stats(rig).queued_peak < offer.limits.queued_max + RSYS_FRAME_MAX + 8192);
    assert_int_equal(rig_stats(rig).bytes_written, (uint64_t)WRITES << 20);
    test_free(data);
}

static void a_client_that_is_not_listened_to_does_not_lose_its_lease(void **state)
{
    struct rig *rig = *state;
    struct rsys_offer offer = {.limits = RSYS_LIMITS_DEFAULT};
    offer.limits.lease_ms = 400;
    offer.limits.queued_max = 1;
    int fd = hang(rig, "slow");
    rig_open(rig, &offer);
    struct rsys_request open = {.op = RSYS_OPEN, .at = AT(0, "slow"), .how = RSYS_OPEN_READ};
    rig_send(rig, 0, &open);
    uint64_t since = loop_now_ms(rig->loop);
    RIG_POLL(rig, loop_now_ms(rig->loop) - since > 1400 || rig->closed);
    assert_false(rig->closed);
    assert_int_equal(close(fd), 0);
    assert_int_equal(rig_await(rig, 0)->status, 0);
}

static void a_client_that_takes_no_replies_is_not_read(void **state)
{
    struct rig *rig = *state;
    struct rig second;
    enum { FILE_MIB = 4, READS = 60 };
    int fd = open(rig_path(rig, "big"), O_WRONLY | O_CREAT, 0644);
    char *data = test_calloc(1, RSYS_DATA_MAX);
    memset(data, 'x', RSYS_DATA_MAX);
    for (int i = 0; i < FILE_MIB; i++) {
        assert_int_equal(write(fd, data, RSYS_DATA_MAX), RSYS_DATA_MAX);
    }
    assert_int_equal(close(fd), 0);
    rig_open(rig, NULL);
    uint64_t handle = (uint64_t)rig_open_file(rig, "big", RSYS_OPEN_READ);
    rig_second(rig, &second);
    assert_int_equal(rig_hello(&second, TICKET, false), 0);
    stream_pause(rig->client, true);
    for (uint16_t i = 0; i < READS; i++) {
        struct rsys_request read = {.op = RSYS_READ,
                                    .at.handle = handle,
                                    .offset = (uint64_t)(i % FILE_MIB) << 20,
                                    .length = RSYS_DATA_MAX};
        rig_send(rig, i, &read);
    }
    uint64_t before = 0;
    do { /* until the server stands still */
        before = rig_stats(rig).bytes_read;
        for (int i = 0; i < 50; i++) {
            assert_int_equal(rig_stat(&second, "none", NULL), -ENOENT);
        }
    } while (rig_stats(rig).bytes_read != before);
    assert_true(before < (uint64_t)24 << 20);
    stream_pause(rig->client, false);
    for (uint16_t i = 0; i < READS; i++) {
        assert_int_equal(rig_await(rig, i)->value, RSYS_DATA_MAX);
    }
    rig_second_fini(&second);
    test_free(data);
}

UNIT_TESTS(RIG_UNIT(a_wrong_ticket_is_refused), RIG_UNIT(another_version_is_refused),
           RIG_UNIT(who_does_not_say_hello_first_is_cut),
           RIG_UNIT(a_stranger_may_say_no_more_than_hello),
           RIG_UNIT(many_strangers_do_not_keep_a_client_out),
           RIG_UNIT(offers_and_tickets_that_make_no_sense_are_refused),
           RIG_UNIT(a_root_that_is_not_there_is_told_and_looked_for_again),
           RIG_UNIT(what_is_open_survives_a_cut), RIG_UNIT(a_request_that_comes_again_is_done_once),
           RIG_UNIT(a_request_cut_off_from_its_answer_is_done_once),
           RIG_UNIT(a_read_that_comes_again_is_read_again),
           RIG_UNIT(an_open_that_comes_again_has_its_handle_and_no_contents),
           RIG_UNIT(the_newest_connection_of_a_session_is_the_right_one),
           RIG_UNIT(an_unknown_session_is_told_and_a_new_one_begun_on_the_same_connection),
           RIG_UNIT(a_session_ends_when_nothing_is_heard_for_the_lease),
           RIG_UNIT(bye_closes_all_that_is_open), RIG_UNIT(a_job_that_is_over_has_no_clients),
           RIG_UNIT(numbers_that_cannot_be_end_the_connection),
           RIG_UNIT(a_message_with_wrong_fields_is_refused_alone), RIG_UNIT(handles_are_limited),
           RIG_BOTH(what_is_written_into_holes_counts_as_the_disk_sees_it),
           RIG_BOTH(space_that_is_asked_for_by_the_byte_counts_as_the_disk_sees_it),
           RIG_BOTH(lines_at_the_end_count_as_they_are_long),
           RIG_BOTH(a_file_that_takes_anothers_name_counts_for_both),
           RIG_BOTH(a_file_beyond_our_own_limit_is_an_error), RIG_UNIT(bytes_written_are_limited),
           RIG_UNIT(files_are_limited_and_what_is_there_can_still_be_opened),
           RIG_UNIT(sessions_are_limited_and_a_cut_one_gives_its_place),
           RIG_UNIT(nobody_else_waits_for_a_file_that_hangs),
           {"in memory: a_write_is_no_longer_done_at_once_when_a_lane_is_busy",
            a_write_is_no_longer_done_at_once_when_a_lane_is_busy, rig_setup_memory, rig_teardown,
            NULL},
           RIG_UNIT(what_is_being_done_is_not_done_again),
           RIG_UNIT(a_job_is_closed_without_waiting_for_what_hangs),
           RIG_UNIT(requests_that_wait_hold_no_more_memory_than_they_may),
           RIG_UNIT(a_client_that_is_not_listened_to_does_not_lose_its_lease),
           RIG_UNIT(a_client_that_takes_no_replies_is_not_read))
