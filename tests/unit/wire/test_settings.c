/* tests/unit/wire/test_settings.c - CONFIG: who may ask for a configuration, and who may change it.
 *
 * The daemon that is asked is a real one (daemon_run_start()) with a table of its own; the wire's
 * server hands it the requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/wire/world.h"

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/daemon/daemon_run.h"
#include "base/knob.h"
#include "base/text.h"
#include "wire/settings.h"

static const struct knob KNOBS[] = {
    {.name = "START", .type = KNOB_EXPR, .fallback = "true", .help = "h"},
    {.name = "RANK", .type = KNOB_EXPR, .fallback = "0", .help = "h"},
    {.name = "NUM_SLOTS",
     .type = KNOB_INT,
     .restart = true,
     .fallback = "1",
     .max = 9,
     .help = "How many."},
    {.name = "COMMAND", .type = KNOB_STRING, .help = "h"},
};
static const struct knob_table TOY_KNOBS = {.owner = "TOY",
                                            .knobs = KNOBS,
                                            .knob_count = ARRAY_COUNT(KNOBS)};
static const struct knob_table *const TABLES[] = {&TOY_KNOBS, &knobs_common};

static void toy_reload(void *state, const struct config *config)
{
    ((struct daemon_env *)state)->config = config;
}

struct toy {
    struct world *world;
    struct daemon_run *run;
    struct daemon_env *env; /* the daemon's own, which is all the state it has */
    char path[256];
    struct end end;
};

/* The environment goes to the test through the last argument, which is the toy's address. */
static int toy_start(const struct daemon_env *env, void **state, struct err *err)
{
    uintptr_t address = 0;
    assert_int_equal(text_unhex(env->argv[0], &address, sizeof address, err), 0);
    *state = mem_dup(env, sizeof *env);
    ((struct toy *)address)->env = *state;
    return 0;
}

static const struct daemon TOY = {.name = "toy",
                                  .tables = TABLES,
                                  .table_count = ARRAY_COUNT(TABLES),
                                  .start = toy_start,
                                  .reload = toy_reload,
                                  .destroy = mem_free};

static void serve(void *arg, struct wire_request *request)
{
    struct toy *toy = arg;
    settings_serve(toy->env, request);
}

static void configure(struct toy *toy, const char *more)
{
    char text[1000];
    (void)snprintf(text, sizeof text,
                   "LOCAL_DIR = \"%s/local\"\nLOG = \"%s\"\nENABLE_PERSISTENT_CONFIG = true\n%s",
                   toy->world->dir, toy->world->dir, more);
    world_write(toy->world, toy->path, text);
}

static void toy_begin(struct toy *toy, struct world *world, const char *more)
{
    char address[2 * sizeof toy + 1];
    char *argv[] = {(char *)"toy", (char *)"-config", toy->path, address, NULL};
    const struct log_sink sink = loop_rig_sink(&world->log_text);
    struct err err = {""};
    *toy = (struct toy){.world = world};
    text_hex(&toy, sizeof toy, address);
    (void)snprintf(toy->path, sizeof toy->path, "%s/roost.conf", world->dir);
    configure(toy, more);
    if (daemon_run_start(&TOY, world->loop, world->os, &sink, 4, argv, &toy->run, &err) != 0) {
        fail_msg("%s", err.text);
    }
    world->handler = serve;
    world->handler_arg = toy;
}

static void toy_end(struct toy *toy)
{
    daemon_run_destroy(toy->run);
}

/* ---- calls */

struct answer {
    bool done;
    int status;
    char text[ERR_TEXT_MAX];
    struct ad *args;
    size_t ads;
    char names[1000];
};

static void on_answer(void *arg, struct wire_reply *reply)
{
    struct answer *answer = arg;
    answer->done = true;
    answer->status = reply->status;
    (void)snprintf(answer->text, sizeof answer->text, "%s", reply->text);
    answer->args = reply->args != NULL ? ad_copy(reply->args) : NULL;
    answer->ads = reply->ad_count;
    for (size_t i = 0; i < reply->ad_count; i++) {
        size_t used = strlen(answer->names);
        (void)snprintf(answer->names + used, sizeof answer->names - used, "%s=%s(%s) ",
                       ad_string_or(reply->ads[i], "Name", ""),
                       ad_string_or(reply->ads[i], "Value", "?"),
                       ad_string_or(reply->ads[i], "Layer", "?"));
    }
}

static void call(struct toy *toy, const char *text, struct answer *answer)
{
    struct ad *args = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &args, &err) != 0) {
        fail_msg("%s", err.text);
    }
    const struct wire_body body = {.args = args};
    *answer = (struct answer){0};
    assert_true(wire_call(toy->end.wire, VERB_CONFIG, &body, 0, on_answer, answer) > 0);
    world_until_flag(toy->world, &answer->done);
    ad_destroy(args);
}

/* "Changed|NeedsRestart", or why not. */
static const char *change(struct toy *toy, const char *text)
{
    static char said[ERR_TEXT_MAX + 32];
    struct answer answer;
    call(toy, text, &answer);
    if (answer.status != 0) {
        (void)snprintf(said, sizeof said, "%d %s", answer.status, answer.text);
    } else {
        (void)snprintf(said, sizeof said, "%s|%s", ad_string_or(answer.args, "Changed", "-"),
                       ad_string_or(answer.args, "NeedsRestart", "-"));
    }
    ad_destroy(answer.args);
    return said;
}

static bool log_has(struct toy *toy, const char *text)
{
    return strstr(strbuf_text(&toy->world->log_text), text) != NULL;
}

/* ---- the tests */

static void an_administrator_sets_gets_and_takes_back(void **state)
{
    struct world *world = *state;
    struct toy toy;
    struct answer answer;
    toy_begin(&toy, world, "SETTABLE_ATTRS_ADMINISTRATOR = \"START NUM_*\"\n");
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &toy.end);
    assert_string_equal(
        change(&toy,
               "[ Action = \"Set\"; Name = \"start\"; Value = \"$(START) && x == \\\"a\\\"\" ]"),
        "START|");
    assert_string_equal(config_expr(toy.env->config, "START"), "true && x == \"a\"");
    assert_true(log_has(&toy, "config.set "));
    assert_true(log_has(&toy, "by=root@pool"));
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"NUM_SLOTS\"; Value = \"2\" ]"),
                        "NUM_SLOTS|NUM_SLOTS");
    call(&toy, "[ Action = \"Get\"; Names = {\"START\", \"NUM_S*\", \"RANK\"} ]", &answer);
    assert_int_equal(answer.status, 0);
    assert_string_equal(answer.names, "START=true && x == \"a\"(set at run time) "
                                      "RANK=0(built-in) NUM_SLOTS=2(set at run time) ");
    struct ad *ad = ad_create();
    settings_put(ad, toy.env->config);
    assert_string_equal(ad_string_or(ad, "PersistentConfig", ""), "START, NUM_SLOTS");
    ad_destroy(ad);
    assert_string_equal(change(&toy, "[ Action = \"Unset\"; Name = \"START\" ]"), "START|");
    assert_string_equal(config_expr(toy.env->config, "START"), "true");
    assert_string_equal(change(&toy, "[ Action = \"Unset\"; Name = \"START\" ]"),
                        "-2 START was not set at run time");
    call(&toy, "[ Action = \"Get\" ]", &answer);
    assert_true(answer.ads > 10);
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"STRAT\"; Value = \"1\" ]"),
                        "-2 unknown knob 'STRAT' (did you mean START?)");
    assert_string_equal(change(&toy, "[ Action = \"Frob\" ]"), "-22 CONFIG: unknown Action 'Frob'");
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"START\" ]"),
                        "-22 CONFIG: Set without a Value");
    toy_end(&toy);
}

static void each_scope_has_a_list_of_its_own(void **state)
{
    struct world *world = *state;
    struct toy toy;
    toy_begin(&toy, world,
              "SETTABLE_ATTRS_WRITE = RANK\nSETTABLE_ATTRS_ADMINISTRATOR = \"*\"\n"
              "SETTABLE_ATTRS_DAEMON = START\n");
    world_connect(world, "alice@pool", SCOPE_WRITE, &toy.end);
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"RANK\"; Value = \"1\" ]"),
                        "RANK|");
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"START\"; Value = \"1\" ]"),
                        "-13 START may not be set by alice@pool: the knob is not in "
                        "SETTABLE_ATTRS_WRITE of this daemon");
    assert_string_equal(change(&toy, "[ Action = \"Unset\"; Name = \"START\" ]"),
                        "-13 START may not be set by alice@pool: the knob is not in "
                        "SETTABLE_ATTRS_WRITE of this daemon");
    assert_true(log_has(&toy, "config.set_refused"));
    assert_non_null(strstr(change(&toy, "[ Action = \"Get\" ]"), "-13 token is too weak"));
    assert_non_null(strstr(change(&toy, "[ Action = \"Reload\" ]"), "-13 token is too weak"));
    wire_close(toy.end.wire);
    world_connect(world, "both@pool", SCOPE_WRITE | SCOPE_SCHEDD, &toy.end);
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"START\"; Value = \"1\" ]"),
                        "START|");
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"COMMAND\"; Value = \"1\" ]"),
                        "-13 COMMAND may not be set by both@pool: the knob is not in "
                        "SETTABLE_ATTRS_DAEMON, SETTABLE_ATTRS_WRITE of this daemon");
    wire_close(toy.end.wire);
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &toy.end);
    assert_string_equal(change(&toy, "[ Action = \"Set\"; Name = \"COMMAND\"; Value = \"1\" ]"),
                        "COMMAND|");
    /* Whatever is listed, what guards the lists is in files only. */
    assert_string_equal(
        change(&toy, "[ Action = \"Set\"; Name = \"SETTABLE_ATTRS_WRITE\"; Value = \"*\" ]"),
        "-1 SETTABLE_ATTRS_WRITE can be set in files only");
    wire_close(toy.end.wire);
    world_connect(world, "reader@pool", SCOPE_READ, &toy.end);
    assert_non_null(strstr(change(&toy, "[ Action = \"Get\" ]"), "-13 token is too weak"));
    toy_end(&toy);
}

static void a_bad_value_is_refused_and_a_bad_file_keeps_the_old_values(void **state)
{
    struct world *world = *state;
    struct toy toy;
    toy_begin(&toy, world, "SETTABLE_ATTRS_ADMINISTRATOR = \"*\"\nCOMMAND = one\n");
    world_connect(world, "root@pool", SCOPE_ADMINISTRATOR, &toy.end);
    assert_non_null(
        strstr(change(&toy, "[ Action = \"Set\"; Name = \"NUM_SLOTS\"; Value = \"10\" ]"),
               "out of range: 0 to 9"));
    assert_non_null(
        strstr(change(&toy, "[ Action = \"Set\"; Name = \"COMMAND\"; Value = \"a\\nRANK = 1\" ]"),
               "control character"));
    assert_non_null(
        strstr(change(&toy, "[ Action = \"Set\"; Name = \"COMMAND\"; Value = \"$(RANK)$(START\" ]"),
               "not closed"));
    assert_string_equal(config_string(toy.env->config, "COMMAND"), "one");
    configure(&toy, "COMMAND = two\nRANK = 5\nNUM_SLOTS = 3\n");
    assert_string_equal(change(&toy, "[ Action = \"Reload\" ]"),
                        "RANK, NUM_SLOTS, COMMAND, SETTABLE_ATTRS_ADMINISTRATOR|NUM_SLOTS");
    configure(&toy, "COMMAND = three\nnode \"a\" {\n");
    assert_non_null(strstr(change(&toy, "[ Action = \"Reload\" ]"),
                           "roost.conf:5: the section 'node' is not closed"));
    assert_true(log_has(&toy, "error config.bad"));
    assert_string_equal(config_string(toy.env->config, "COMMAND"), "two");
    toy_end(&toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(an_administrator_sets_gets_and_takes_back),
        WORLD_TEST(each_scope_has_a_list_of_its_own),
        WORLD_TEST(a_bad_value_is_refused_and_a_bad_file_keeps_the_old_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
