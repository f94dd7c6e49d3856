/* tests/unit/rsyscall/test_grants.c - what of its owner's files a job may change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/rsyscall/rsys_rig.h"

#include <time.h>

#define WRITE  (RSYS_OPEN_READ | RSYS_OPEN_WRITE)
#define MAKE   (RSYS_OPEN_WRITE | RSYS_OPEN_CREATE)
#define LATER  (((int64_t)time(NULL) + 1000) * 1000)
#define BEFORE ((int64_t)1000)

/* root is a home: work/ is where the job begins. */
struct home {
    struct rsys_offer_root root;
    struct rsys_offer_grant grants[8];
    char paths[8][160];
    struct rsys_offer offer;
};

static void put(struct rig *rig, const char *name, const char *text, mode_t mode)
{
    rig_put_file(rig, name, text);
    assert_int_equal(chmod(rig_path(rig, name), mode), 0);
}

static void make_dir(struct rig *rig, const char *name)
{
    assert_int_equal(mkdir(rig_path(rig, name), 0755), 0);
}

static void grant(struct rig *rig, struct home *home, enum rsys_grant_kind kind, const char *name)
{
    size_t i = home->offer.grant_count++;
    (void)snprintf(home->paths[i], sizeof(home->paths[i]), "%s%s%s", rig->root,
                   name[0] != '\0' ? "/" : "", name);
    home->grants[i].kind = kind;
    home->grants[i].path = home->paths[i];
}

static void prepare(struct rig *rig, struct home *home, int64_t began_ms)
{
    *home = (struct home){.root = {.view = "/", .directory = rig->root}};
    home->offer = (struct rsys_offer){.roots = &home->root,
                                      .root_count = 1,
                                      .guarded = true,
                                      .grants = home->grants,
                                      .home = rig->root,
                                      .began_ms = began_ms,
                                      .limits = RSYS_LIMITS_DEFAULT};
    make_dir(rig, "work");
    make_dir(rig, "bin");
    make_dir(rig, ".local");
    put(rig, "bin/ls", "#!/bin/sh\n", 0755);
    put(rig, "notes", "mine", 0644);
    put(rig, "work/data", "1", 0644);
}

static int ask(struct rig *rig, uint16_t op, const char *path)
{
    return rig_status(rig, (struct rsys_request){.op = op, .at = AT(0, path), .mode = 0755});
}

static int rename_to(struct rig *rig, const char *from, const char *to)
{
    return rig_status(rig,
                      (struct rsys_request){.op = RSYS_RENAME, .at = AT(0, from), .to = AT(0, to)});
}

static int link_to(struct rig *rig, const char *from, const char *to)
{
    return rig_status(rig,
                      (struct rsys_request){.op = RSYS_LINK, .at = AT(0, from), .to = AT(0, to)});
}

static int symlink_at(struct rig *rig, const char *path, const char *to)
{
    return rig_status(rig, (struct rsys_request){.op = RSYS_SYMLINK,
                                                 .at = AT(0, path),
                                                 .text = TEXT(to)});
}

static int set_mode(struct rig *rig, const char *path, uint32_t mode)
{
    return rig_status(rig, (struct rsys_request){.op = RSYS_SETATTR,
                                                 .at = AT(0, path),
                                                 .how = RSYS_SET_MODE,
                                                 .attr.mode = mode});
}

static void only_what_was_given_can_be_changed(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, BEFORE);
    make_dir(rig, "given");
    make_dir(rig, "logs");
    grant(rig, &home, RSYS_GRANT_START, "work");
    grant(rig, &home, RSYS_GRANT_GIVEN, "given");
    grant(rig, &home, RSYS_GRANT_OUTPUT, "logs/out");
    rig_open(rig, &home.offer);
    assert_true(rig_open_file(rig, "notes", RSYS_OPEN_READ) > 0);
    assert_int_equal(rig_open_file(rig, "notes", WRITE), -EROFS);
    assert_int_equal(rig_open_file(rig, "new", MAKE), -EROFS);
    assert_int_equal(rig_open_file(rig, "bin/new", MAKE), -EROFS);
    assert_int_equal(ask(rig, RSYS_MKDIR, "dir"), -EROFS);
    assert_int_equal(ask(rig, RSYS_UNLINK, "notes"), -EROFS);
    assert_int_equal(set_mode(rig, "notes", 0600), -EROFS);
    assert_int_equal(rename_to(rig, "notes", "work/notes"), -EROFS);
    assert_int_equal(rename_to(rig, "work/data", "data"), -EROFS);
    assert_int_equal(link_to(rig, "notes", "work/notes"), -EROFS);
    assert_int_equal(symlink_at(rig, "link", "x"), -EROFS);
    assert_true(rig_open_file(rig, "work/data", WRITE) > 0);
    assert_true(rig_open_file(rig, "work/new", MAKE) > 0);
    assert_true(rig_open_file(rig, "given/new", MAKE) > 0);
    assert_int_equal(ask(rig, RSYS_MKDIR, "work/dir"), 0);
    assert_int_equal(rename_to(rig, "work/new", "given/moved"), 0);
    /* An output is one file. */
    assert_true(rig_open_file(rig, "logs/out", MAKE) > 0);
    assert_int_equal(rig_open_file(rig, "logs/other", MAKE), -EROFS);
    /* The places stay what they are. */
    assert_int_equal(rename_to(rig, "work", "given/work"), -EBUSY);
    assert_int_equal(ask(rig, RSYS_RMDIR, "work"), -EBUSY);
    assert_int_equal(ask(rig, RSYS_UNLINK, "logs/out"), -EBUSY);
    assert_int_equal(rename_to(rig, "work/data", "logs/out"), -EBUSY);
}

static void a_job_that_begins_at_home_can_change_its_outputs_only(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, BEFORE);
    grant(rig, &home, RSYS_GRANT_START, "");
    grant(rig, &home, RSYS_GRANT_OUTPUT, "out");
    rig_open(rig, &home.offer);
    assert_true(rig_open_file(rig, "out", MAKE) > 0);
    assert_int_equal(rig_open_file(rig, "work/data", WRITE), -EROFS);
    assert_int_equal(rig_open_file(rig, ".bash_aliases", MAKE), -EROFS);
    assert_int_equal(rig_open_file(rig, "new", MAKE), -EROFS);
}

static void dot_entries_of_a_home_that_was_given_stay(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, BEFORE);
    grant(rig, &home, RSYS_GRANT_GIVEN, "");
    rig_open(rig, &home.offer);
    assert_true(rig_open_file(rig, "new", MAKE) > 0);
    assert_int_equal(rig_open_file(rig, ".inputrc", MAKE), -EROFS);
    assert_int_equal(ask(rig, RSYS_MKDIR, ".emacs.d"), -EROFS);
    assert_int_equal(rig_open_file(rig, ".local/new", MAKE), -EROFS);
    assert_int_equal(rename_to(rig, "new", ".vimrc"), -EROFS);
    assert_int_equal(rename_to(rig, ".local", "local"), -EROFS);
    assert_int_equal(symlink_at(rig, ".npmrc", "work/data"), -EROFS);
    assert_true(rig_open_file(rig, "work/.git", MAKE) > 0); /* not directly in it */
}

static void programs_from_before_the_job_stay(void **state)
{
    struct rig *rig = *state;
    struct home home;
    static const char ELF[] = "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0";
    prepare(rig, &home, LATER); /* all there is now is from before */
    put(rig, "work/tool", "#!/bin/sh\n", 0755);
    int fd = open(rig_path(rig, "work/lib.so"), O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, ELF, sizeof(ELF) - 1), sizeof(ELF) - 1);
    assert_int_equal(close(fd), 0);
    make_dir(rig, "work/deep");
    make_dir(rig, "work/deep/bin");
    put(rig, "work/deep/bin/ls", "#!/bin/sh\n", 0755);
    make_dir(rig, "work/plain");
    put(rig, "work/plain/text", "1", 0644);
    assert_int_equal(symlink("tool", rig_path(rig, "work/python")), 0);
    assert_int_equal(symlink("deep", rig_path(rig, "work/current")), 0);
    assert_int_equal(symlink("plain", rig_path(rig, "work/latest")), 0);
    grant(rig, &home, RSYS_GRANT_START, "work");
    rig_open(rig, &home.offer);
    static const char *const PROGRAMS[] = {"work/tool", "work/lib.so", "work/deep/bin/ls"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(rig_open_file(rig, PROGRAMS[i], RSYS_OPEN_READ) > 0);
        assert_int_equal(rig_open_file(rig, PROGRAMS[i], WRITE), -EROFS);
        assert_int_equal(rig_open_file(rig, PROGRAMS[i], RSYS_OPEN_WRITE | RSYS_OPEN_TRUNC),
                         -EROFS);
        assert_int_equal(set_mode(rig, PROGRAMS[i], 0644), -EROFS);
        assert_int_equal(ask(rig, RSYS_UNLINK, PROGRAMS[i]), -EROFS);
        assert_int_equal(rename_to(rig, PROGRAMS[i], "work/away"), -EROFS);
        assert_int_equal(rename_to(rig, "work/data", PROGRAMS[i]), -EROFS);
        assert_int_equal(link_to(rig, PROGRAMS[i], "work/second"), -EROFS);
    }
    assert_int_equal(rename_to(rig, "work/deep", "work/away"), -EROFS);
    assert_int_equal(rename_to(rig, "work/deep/bin", "work/away"), -EROFS);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/python"), -EROFS);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/current"), -EROFS);
    /* What is no program is the job's to change. */
    assert_true(rig_open_file(rig, "work/data", WRITE) > 0);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/latest"), 0);
    assert_int_equal(rename_to(rig, "work/plain", "work/plain2"), 0);
}

static void directories_from_before_the_job_are_not_opened_to_others(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, LATER);
    make_dir(rig, "work/bin");
    grant(rig, &home, RSYS_GRANT_START, "work");
    rig_open(rig, &home.offer);
    static const char *const DIRECTORIES[] = {"work", "work/bin"};
    for (size_t i = 0; i < 2; i++) {
        struct rsys_request give = {.op = RSYS_SETATTR,
                                    .at = AT(0, DIRECTORIES[i]),
                                    .how = RSYS_SET_GID,
                                    .attr.gid = (uint32_t)getgid() + 1};
        assert_int_equal(set_mode(rig, DIRECTORIES[i], 0777), -EPERM);
        assert_int_equal(set_mode(rig, DIRECTORIES[i], 0775), -EPERM);
        assert_int_equal(rig_status(rig, give), -EPERM);
        give.attr.gid = (uint32_t)getgid();
        assert_int_equal(rig_status(rig, give), 0);
        assert_int_equal(set_mode(rig, DIRECTORIES[i], 0700), 0);
        assert_int_equal(set_mode(rig, DIRECTORIES[i], 0755), 0);
    }
    assert_int_equal(ask(rig, RSYS_MKDIR, "work/new"), 0);
    assert_int_equal(set_mode(rig, "work/new", 0777), 0); /* its own */
}

static void what_the_job_made_it_may_change(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, LATER); /* no time of birth tells: the server has to know */
    grant(rig, &home, RSYS_GRANT_START, "work");
    rig_open(rig, &home.offer);
    assert_true(rig_open_file(rig, "work/prog", MAKE) > 0);
    assert_int_equal(set_mode(rig, "work/prog", 0755), 0);
    assert_true(rig_open_file(rig, "work/prog", WRITE) > 0);
    assert_int_equal(ask(rig, RSYS_MKDIR, "work/venv"), 0);
    assert_int_equal(ask(rig, RSYS_MKDIR, "work/venv/site-packages"), 0);
    assert_true(rig_open_file(rig, "work/venv/site-packages/x.py", MAKE) > 0);
    assert_int_equal(symlink_at(rig, "work/venv/python", "../prog"), 0);
    assert_int_equal(rename_to(rig, "work/prog", "work/venv/prog"), 0);
    assert_int_equal(rename_to(rig, "work/venv", "work/env"), 0);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/env/python"), 0);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/env/prog"), 0);
}

static void by_its_time_of_birth_it_is_known_in_a_later_run(void **state)
{
    struct rig *rig = *state;
    struct home home;
    struct statx about;
    prepare(rig, &home, BEFORE);
    put(rig, "work/prog", "#!/bin/sh\n", 0755); /* by an earlier run, after the job's first began */
    grant(rig, &home, RSYS_GRANT_START, "work");
    if (statx(AT_FDCWD, rig_path(rig, "work/prog"), 0, STATX_BTIME, &about) != 0 ||
        (about.stx_mask & STATX_BTIME) == 0) {
        skip();
    }
    rig_open(rig, &home.offer);
    assert_true(rig_open_file(rig, "work/prog", WRITE) > 0);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/prog"), 0);
}

static void module_directories_from_before_the_job_stay(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, LATER);
    make_dir(rig, "work/lib");
    make_dir(rig, "work/lib/site-packages");
    make_dir(rig, "work/lib/site-packages/numpy");
    put(rig, "work/lib/site-packages/numpy/a.py", "1", 0644);
    grant(rig, &home, RSYS_GRANT_START, "work");
    rig_open(rig, &home.offer);
    assert_int_equal(rig_open_file(rig, "work/lib/site-packages/usercustomize.py", MAKE), -EROFS);
    assert_int_equal(rig_open_file(rig, "work/lib/site-packages/numpy/a.py", WRITE), -EROFS);
    assert_int_equal(ask(rig, RSYS_UNLINK, "work/lib/site-packages/numpy/a.py"), -EROFS);
    assert_int_equal(rename_to(rig, "work/lib/site-packages", "work/lib/x"), -EROFS);
    assert_int_equal(rename_to(rig, "work/lib", "work/x"), -EROFS);
}

/* The job ran before, and made a link where an output's directory is to be. */
static void a_link_of_the_jobs_makes_no_output_elsewhere(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, BEFORE);
    assert_int_equal(symlink("../bin", rig_path(rig, "work/results")), 0);
    grant(rig, &home, RSYS_GRANT_START, "work");
    grant(rig, &home, RSYS_GRANT_OUTPUT, "work/results/new");
    rig_open(rig, &home.offer);
    assert_int_equal(rig_open_file(rig, "bin/new", MAKE), -EROFS);
}

static void what_cannot_be_given_is_refused(void **state)
{
    struct rig *rig = *state;
    struct home home;
    prepare(rig, &home, BEFORE);
    assert_int_equal(symlink("../outside", rig_path(rig, "out")), 0);
    assert_int_equal(symlink("../bin", rig_path(rig, "work/results")), 0);
    static const struct {
        const char *name, *root; /* NULL: the home's */
        int code;
    } BAD[] = {{"nowhere", NULL, -ENOENT},    {"notes", NULL, -ENOTDIR}, {"out", NULL, -EXDEV},
               {"..", NULL, -EXDEV},          {"..", "/", -EPERM},       {"../../..", "/", -EPERM},
               {"../../../tmp", "/", -EPERM}, /* everybody's */
               {"work/results", NULL, -EPERM}};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char ticket[32];
        struct rig second;
        struct rsys_job *job;
        if (i == 6 && getuid() == 0) {
            continue; /* it is root's */
        }
        home.root.directory = BAD[i].root != NULL ? BAD[i].root : rig->root;
        home.offer.grant_count = 0;
        grant(rig, &home, RSYS_GRANT_START, "work");
        grant(rig, &home, RSYS_GRANT_GIVEN, BAD[i].name);
        (void)snprintf(ticket, sizeof(ticket), "bad%zu", i);
        assert_int_equal(rsys_job_open(rig->server, ticket, &home.offer, &job), 0);
        rig_second(rig, &second);
        assert_int_equal(rig_hello(&second, ticket, false), BAD[i].code);
        rig_second_fini(&second);
    }
    rig_open(rig, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_what_was_given_can_be_changed),
        TEST(a_job_that_begins_at_home_can_change_its_outputs_only),
        TEST(dot_entries_of_a_home_that_was_given_stay),
        TEST(programs_from_before_the_job_stay),
        TEST(directories_from_before_the_job_are_not_opened_to_others),
        TEST(what_the_job_made_it_may_change),
        TEST(by_its_time_of_birth_it_is_known_in_a_later_run),
        TEST(module_directories_from_before_the_job_stay),
        TEST(a_link_of_the_jobs_makes_no_output_elsewhere),
        TEST(what_cannot_be_given_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
