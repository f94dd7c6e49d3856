/* ckpt/stub/start.c - from the execution of an image to the process that is to become the job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <linux/fs.h>

#include "ckpt/machine.h"
#include "ckpt/stub/keeper.h"
#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"
#include "ckpt/sum.h"
#include "ckpt/xstate.h"

#define STDERR             2
#define SIGNALS            64
#define SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))
#define STACK_LEFT         4096U /* for the code that runs beside what it puts on a thread's stack */

/* ---- failing */

_Noreturn static void fail_start(const struct stub *stub, struct stub_text *text, long error)
{
    text_put(text, ": ");
    text_put_error(text, error);
    text_say(stub->say, text);
    if (stub->meeting != NULL) {
        stub_give_up(stub);
    }
    (void)SYS1(exit_group, STUB_EXIT_LOST);
    __builtin_unreachable();
}

_Noreturn void stub_fail(const struct stub *stub, const char *what, const char *thing, long error)
{
    struct stub_text text = {.length = 0};
    text_put(&text, "cannot resume: ");
    text_put(&text, what);
    text_put(&text, *thing != '\0' ? " " : "");
    text_put(&text, thing);
    fail_start(stub, &text, error);
}

_Noreturn void stub_fail_at(const struct stub *stub, const char *what, uint64_t address, long error)
{
    struct stub_text text = {.length = 0};
    text_put(&text, "cannot resume: ");
    text_put(&text, what);
    text_put(&text, " ");
    text_put_hex(&text, address);
    fail_start(stub, &text, error);
}

long stub_must(const struct stub *stub, long result, const char *what)
{
    if (SYS_FAILED(result)) {
        stub_fail(stub, what, "", result);
    }
    return result;
}

/* ---- is it whole, and can this machine run it? */

/* The contents are the last part of the image; if they are missing they cannot be checked. */
static void check_size(const struct stub *stub, const Elf64_Phdr *tables)
{
    long bytes = stub_must(stub, SYS3(lseek, stub->image, 0, SEEK_END), "opening the image");
    if ((uint64_t)bytes < tables->p_offset + tables->p_filesz) {
        stub_fail(stub, "damaged image: the file is cut off", "", -EIO);
    }
}

static void check_tables(const struct stub *stub)
{
    struct ckpt_head *head = (struct ckpt_head *)(uintptr_t)stub->head;
    uint64_t sum = head->sum;
    head->sum = 0; /* our private copy of the page */
    uint32_t is = ckpt_sum(0, head, head->tables_bytes);
    head->sum = sum;
    if (is != sum) {
        stub_fail(stub, "damaged image: bad checksum of its tables", "", -EIO);
    }
}

/* Refuses a delta: it cannot be run. */
static void check_whole(const struct stub *stub)
{
    if ((stub->head->flags & CKPT_DELTA) != 0) {
        stub_fail(stub, "this image holds only changes; merge it (roost-ckpt merge) with",
                  stub_text(stub, stub->head->base), -ENOEXEC);
    }
}

/* Returns a value that the kernel gave this program after its environment, on its first stack. */
static uint64_t auxiliary_value(const uint64_t *stack, uint64_t what)
{
    const uint64_t *at = stack + 1 + stack[0] + 1;
    while (*at != 0) {
        at++;
    }
    for (at++; at[0] != AT_NULL; at += 2) {
        if (at[0] == what) {
            return at[1];
        }
    }
    return 0;
}

/* Returns the value of a variable of this program's environment; NULL: not set. */
static const char *variable_value(const uint64_t *stack, const char *name)
{
    const char *const *at = (const char *const *)(stack + 1 + stack[0] + 1);
    size_t length = text_length(name);
    for (; *at != NULL; at++) {
        size_t same = 0;
        while (same < length && (*at)[same] == name[same]) {
            same++;
        }
        if (same == length && (*at)[same] == '=') {
            return *at + same + 1;
        }
    }
    return NULL;
}

static void check_machine(struct stub *stub, const uint64_t *stack)
{
    const struct ckpt_head *head = stub->head;
    uint32_t here[MACHINE_WORDS];
    machine_read(auxiliary_value(stack, AT_HWCAP2), here);
    const char *missing = machine_missing(head->machine, here);
    if (missing != NULL) {
        stub_fail(stub, "this machine lacks features that the job may use:", missing, -EOPNOTSUPP);
    }
    if (machine_outgrows(head->linker_room, here)) {
        stub_fail(stub,
                  "this processor has more registers than the job's dynamic linker makes "
                  "room for; start the job with roost-ckpt run --cpu",
                  "", -EOPNOTSUPP);
    }
    xstate_read_layout(&stub->xstate);
    if (xstate_fit_max(&head->xstate, &stub->xstate) > head->stack_bytes - STACK_LEFT) {
        stub_fail(stub, "this processor has more registers than the image has room for", "",
                  -EOPNOTSUPP);
    }
    for (uint32_t i = 0; i < head->tables[CKPT_THREADS].count; i++) {
        const struct ckpt_thread *thread = STUB_ENTRY(stub, CKPT_THREADS, struct ckpt_thread, i);
        const uint8_t *saved = stub_entry(stub, CKPT_XSTATES, thread->xstate, 1);
        missing = xstate_missing(&head->xstate, saved, &stub->xstate);
        if (missing != NULL) {
            stub_fail(stub, "this machine lacks features that the job uses:", missing, -EOPNOTSUPP);
        }
    }
}

/* ---- options */

static void parse_options(struct stub *stub, int argc, const char *const *argv)
{
    for (int i = 1; i < argc; i++) {
        if (text_is(argv[i], "--lazy")) {
            stub->lazy = true;
        } else if (text_is(argv[i], "--stdio")) {
            stub->stdio = true;
        } else if (text_is(argv[i], "--inside")) {
            stub->inside = true;
        } else if (text_is(argv[i], "--check")) {
            stub->check = true;
        } else {
            stub_fail(stub, "unknown option; expected --lazy, --stdio, --inside or --check, not",
                      argv[i], -EINVAL);
        }
    }
}

/* ---- the processes */

static void become_process(void *arg)
{
    struct stub *stub = arg;
    stub_make_memory(stub);
    stub_make_process(stub);
    stub_run_threads(stub);
}

/* The process that resumes the job may ignore signals.  The job must not, because of that (with
 * SIGCHLD its children would end unnoticed).  But nohup, and a shell that starts it in the
 * background, mean it. */
static void forget_ignored(void)
{
    const uint64_t kept = SIGNAL_BIT(SIGHUP) | SIGNAL_BIT(SIGINT) | SIGNAL_BIT(SIGQUIT);
    const uint64_t plain[4] = {0}; /* the kernel's struct sigaction */
    for (int signal = 1; signal <= SIGNALS; signal++) {
        if ((SIGNAL_BIT(signal) & kept) == 0) {
            (void)SYS4(rt_sigaction, signal, plain, NULL, sizeof kept);
        }
    }
}

/* This new process becomes its process of the image. */
static void go_on(struct stub *stub)
{
    if (stub->out >= 0) {
        (void)SYS1(close, stub->out);
        stub->out = -1;
    }
    stub_make_tree(stub, go_on);
    stub_make_descriptors(stub);
    /* From here on nothing of the kernel's stack is needed: the state goes to the window, at the
     * bottom of a stack of its own behind those of the threads. */
    uint64_t last = stub->head->meeting - stub->head->stack_bytes;
    struct ckpt_head *head = (struct ckpt_head *)(uintptr_t)stub->head;
    head->self =
        (uint32_t)(stub->process - STUB_ENTRY(stub, CKPT_PROCESSES, struct ckpt_process, 0));
    struct stub *kept = (struct stub *)last;
    *kept = *stub;
    stub_on_stack(become_process, kept, last + stub->head->stack_bytes);
}

static void run_job(void *arg)
{
    forget_ignored();
    go_on(arg);
}

/* Called in the keeper. */
static int prepare_keeper(void *arg, int out)
{
    struct stub *stub = arg;
    long page = SYS6(mmap, stub->head->meeting, CKPT_PAGE, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    stub_must(stub, page, "mapping the page that the processes share");
    stub->meeting = (struct stub_meeting *)stub->head->meeting;
    stub->out = out;
    stub_open_files(stub);
    return stub->out;
}

static void add_orphans(void *arg)
{
    struct stub *stub = arg;
    forget_ignored();
    stub_make_orphans(stub, go_on);
    stub_forget_files(stub);
}

static void see_end(void *arg, long pid)
{
    stub_see_end(arg, pid);
}

/* Avoids the numbers 0 to 2, which may be closed: the job would have the image there. */
static void open_image(struct stub *stub)
{
    long fd = stub_must(stub, SYS4(openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC, 0),
                        "opening the image");
    stub->image =
        (int)stub_must(stub, SYS3(fcntl, fd, F_DUPFD_CLOEXEC, STDERR + 1), "opening the image");
    (void)SYS1(close, fd);
}

void stub_main(const uint64_t *stack, uint64_t code);

__attribute__((used)) void stub_main(const uint64_t *stack, uint64_t code)
{
    struct stub stub = {.stub = code, .say = STDERR, .image = -1, .out = -1};
    const Elf64_Ehdr *elf = (const void *)(code - CKPT_STUB_OFFSET);
    const Elf64_Phdr *headers = (const void *)((const char *)elf + elf->e_phoff);
    const char *what = "";
    const uint64_t all = ~UINT64_C(0); /* what comes meanwhile is for the job, when it is there */
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    stub.head = (const void *)headers[1].p_vaddr;
    open_image(&stub);
    parse_options(&stub, (int)stack[0], (const char *const *)(stack + 1));
    check_size(&stub, &headers[1]);
    check_tables(&stub);
    check_whole(&stub);
    check_machine(&stub, stack);
    if (stub.check) {
        (void)SYS1(exit_group, 0);
    }
    stub.sums = ckpt_sum_is_fast();
    stub.process = STUB_ENTRY(&stub, CKPT_PROCESSES, struct ckpt_process, 0);
    const struct keeper keeper = {.pid = &stub.process->pid,
                                  .is_inside = stub.inside,
                                  .clocks_ns = stub.head->clocks_ns,
                                  .job = run_job,
                                  .before = prepare_keeper,
                                  .after = add_orphans,
                                  .outcome = variable_value(stack, KEEPER_OUTCOME),
                                  .other_ended = see_end,
                                  .arg = &stub};
    long status = keeper_run(&keeper, &what);
    if (status < 0) {
        stub_fail(&stub, what, "", status);
    }
    keeper_end_as((int)status);
}
