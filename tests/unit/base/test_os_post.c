/* tests/unit/base/test_os_post.c - the promises of base/os/os_post.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os_post.h"

#define SOMEBODY 54321

struct scene {
    struct loop *loop;
    struct os_post *post;
    char name[64];
    int count;
    bool asked;
    char text[64];
};

static void was_asked(void *arg, const struct os_post_sender *sender, const char *text)
{
    struct scene *scene = arg;
    scene->count++;
    scene->asked = true;
    (void)snprintf(scene->text, sizeof(scene->text), "%s", text);
    struct os_post_sender *kept = os_post_keep(sender);
    os_post_answer(scene->post, kept, "forty two");
    mem_free(kept);
}

static void copy_text(void *arg, size_t index, const char *text)
{
    struct scene *scene = arg;
    scene->count += (int)(index + 1) * 10;
    (void)snprintf(scene->text, sizeof(scene->text), "%s", text);
}

static void note_name(void *arg, const char *name)
{
    struct scene *scene = arg;
    scene->count += strcmp(name, scene->name) == 0 ? 1 : 0;
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.count = 0};
    (void)snprintf(scene->name, sizeof(scene->name), "roost-test-post-%d", (int)getpid());
    assert_int_equal(loop_create(&scene->loop, NULL), 0);
    assert_int_equal(os_post_open(scene->loop, scene->name, was_asked, scene, &scene->post, NULL),
                     0);
}

static void close_scene(struct scene *scene)
{
    os_post_close(scene->post);
    loop_destroy(scene->loop);
}

/* Asks the post, and a name that nobody has, in a process of its own.  Its exit status is what
 * os_post_ask() returned plus 10 for an answer of the first name, 20 of the second. */
static pid_t ask(const struct scene *scene, uid_t uid, unsigned wait_ms)
{
    pid_t pid = fork();
    if (pid == 0) {
        const char *const names[] = {"roost-test-nobody", scene->name};
        struct scene asking = {.count = 0};
        if (uid != 0 && (setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)) {
            _exit(99);
        }
        int asked = os_post_ask(names, 2, "what?", wait_ms, copy_text, &asking);
        if (asking.count > 0 && strcmp(asking.text, "forty two") != 0) {
            _exit(98);
        }
        _exit(asked + asking.count);
    }
    return pid;
}

static int status_of(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void who_asks_by_the_name_is_answered(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene);
    pid_t pid = ask(&scene, 0, 20000);
    loop_run_until(scene.loop, &scene.asked);
    assert_string_equal(scene.text, "what?");
    assert_int_equal(status_of(pid), 1 + 20);
    close_scene(&scene);
    assert_int_equal(status_of(ask(&scene, 0, 20000)), 0); /* nobody has the name any more */
}

static void set_flag(void *arg)
{
    *(bool *)arg = true;
}

static void another_user_is_not_heard(void **state)
{
    (void)state;
    struct scene scene;
    bool over = false;
    if (geteuid() != 0) {
        skip();
    }
    open_scene(&scene);
    struct loop_timer *timer = loop_timer_create(scene.loop, set_flag, &over);
    pid_t pid = ask(&scene, SOMEBODY, 300);
    loop_timer_set(timer, 300);
    loop_run_until(scene.loop, &over);
    assert_int_equal(scene.count, 0);
    assert_int_equal(status_of(pid), 1); /* asked, but not answered */
    loop_timer_destroy(timer);
    close_scene(&scene);
}

static void a_name_has_one_owner_and_is_listed(void **state)
{
    (void)state;
    struct scene scene;
    struct os_post *second = NULL;
    struct err err;
    char name[OS_POST_NAME_MAX + 2];
    open_scene(&scene);
    assert_int_equal(os_post_open(scene.loop, scene.name, was_asked, &scene, &second, &err),
                     -EADDRINUSE);
    assert_non_null(strstr(err.text, scene.name));
    os_post_list("roost-test-post-", note_name, &scene);
    assert_int_equal(scene.count, 1);
    os_post_list("roost-test-nobody", note_name, &scene);
    assert_int_equal(scene.count, 1);
    close_scene(&scene);
    os_post_list("roost-test-post-", note_name, &scene);
    assert_int_equal(scene.count, 1); /* the name is gone with its owner */
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(loop_create(&scene.loop, NULL), 0);
    assert_int_equal(os_post_open(scene.loop, name, was_asked, &scene, &second, &err),
                     -ENAMETOOLONG);
    loop_destroy(scene.loop);
}

static void who_does_not_answer_is_not_waited_for_longer(void **state)
{
    (void)state;
    struct scene scene;
    open_scene(&scene); /* and its loop does not run */
    assert_int_equal(status_of(ask(&scene, 0, 100)), 1);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_by_the_name_is_answered),
        cmocka_unit_test(another_user_is_not_heard),
        cmocka_unit_test(a_name_has_one_owner_and_is_listed),
        cmocka_unit_test(who_does_not_answer_is_not_waited_for_longer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
