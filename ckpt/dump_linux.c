/* ckpt/dump_linux.c - makes the image of a process that runs: see dump_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/dump_linux.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump.h"
#include "ckpt/image.h"
#include "ckpt/image_linux.h"
#include "ckpt/stub_code.h"
#include "ckpt/sum.h"

/* Where windows are looked for: far from where programs, heaps, libraries and stacks are put. */
#define WINDOW_FIRST UINT64_C(0x1000000000)
#define WINDOW_STEP  UINT64_C(0x0100000000)
#define WINDOW_LAST  UINT64_C(0x7f0000000000)
#define WINDOW_ROOM  UINT64_C(0x0080000000) /* that must be free */

#define TRIES          13 /* after the first one */
#define FIRST_PAUSE_NS 2500000

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + CKPT_PAGE - 1) & ~(uint64_t)(CKPT_PAGE - 1);
}

/* ---- contents */

static int write_all(int fd, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t done = pwrite(fd, from, bytes, (off_t)at);
        if (done < 0 && errno != EINTR) {
            return -errno;
        }
        if (done > 0) {
            from += done;
            at += (uint64_t)done;
            bytes -= (size_t)done;
        }
    }
    return 0;
}

uint64_t dump_next_page(const struct dump *dump)
{
    return round_up(dump->at);
}

void dump_begin_extent(struct dump *dump, struct ckpt_extent *extent, uint64_t start)
{
    dump->at = round_up(dump->at);
    *extent = (struct ckpt_extent){.start = start, .offset = dump->at};
}

int dump_put(struct dump *dump, struct ckpt_extent *extent, const void *data, size_t bytes,
             struct err *err)
{
    int rc = write_all(dump->out, data, bytes, dump->at);
    if (rc != 0) {
        return err_set(err, rc, "writing the image: %s", err_code_text(rc));
    }
    extent->bytes += bytes;
    dump->at += bytes;
    return 0;
}

/* ---- the frame: ELF, stub, tables */

/* Nobody has anything there, but an earlier window. */
static bool is_window(const struct dump *dump, uint64_t at)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        bool was = subject->before != NULL && image_head(subject->before)->window == at;
        if (!was && !maps_is_free(&subject->maps, at, at + WINDOW_ROOM)) {
            return false;
        }
    }
    return true;
}

static int choose_window(struct dump *dump, uint64_t bytes, struct err *err)
{
    /* Where it was, if it can be: a handler of the job's may return there. */
    const struct image *before = dump->subjects[0]->before;
    if (before != NULL && bytes <= WINDOW_ROOM && is_window(dump, image_head(before)->window)) {
        dump->head.window = image_head(before)->window;
        return 0;
    }
    for (uint64_t at = WINDOW_FIRST; at < WINDOW_LAST && bytes <= WINDOW_ROOM; at += WINDOW_STEP) {
        if (is_window(dump, at)) {
            dump->head.window = at;
            return 0;
        }
    }
    return err_set(err, -ENOMEM, "process %d: no room is left between its mappings",
                   (int)dump->subjects[0]->tracee.pid);
}

static void fill_elf(const struct ckpt_head *head, uint64_t tables_at, unsigned char *page)
{
    uint64_t code = CKPT_STUB_OFFSET + stub_code_bytes;
    Elf64_Ehdr elf = {.e_type = ET_EXEC,
                      .e_machine = EM_X86_64,
                      .e_version = EV_CURRENT,
                      .e_entry = head->window + CKPT_STUB_OFFSET,
                      .e_phoff = sizeof elf,
                      .e_ehsize = sizeof elf,
                      .e_phentsize = sizeof(Elf64_Phdr),
                      .e_phnum = 3};
    const Elf64_Phdr headers[3] = {{.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_X,
                                    .p_vaddr = head->window,
                                    .p_paddr = head->window,
                                    .p_filesz = code,
                                    .p_memsz = code,
                                    .p_align = CKPT_PAGE},
                                   {.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_W,
                                    .p_offset = tables_at,
                                    .p_vaddr = head->window + code,
                                    .p_paddr = head->window + code,
                                    .p_filesz = round_up(head->tables_bytes),
                                    .p_memsz = head->window_bytes - code,
                                    .p_align = CKPT_PAGE},
                                   {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16}};
    memcpy(elf.e_ident, ELFMAG, SELFMAG);
    elf.e_ident[EI_CLASS] = ELFCLASS64;
    elf.e_ident[EI_DATA] = ELFDATA2LSB;
    elf.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(elf.e_ident + EI_PAD, "ROOST", 5);
    memset(page, 0, CKPT_STUB_OFFSET);
    memcpy(page, &elf, sizeof elf);
    memcpy(page + sizeof elf, headers, sizeof headers);
}

static void fill_head(struct dump *dump)
{
    struct utsname names;
    struct ckpt_head *head = &dump->head;
    head->made_s = time(NULL);
    if (uname(&names) == 0) {
        head->kernel = tables_text(&dump->tables, names.release);
        head->host = tables_text(&dump->tables, names.nodename);
    }
}

static int write_frame(struct dump *dump, struct err *err)
{
    struct ckpt_head *head = &dump->head;
    struct strbuf bytes;
    unsigned char page[CKPT_STUB_OFFSET];
    uint32_t threads = 0;
    for (size_t i = 0; i < dump->count; i++) {
        const struct ckpt_process *process = &dump->subjects[i]->process;
        (void)tables_add(&dump->tables, CKPT_PROCESSES, process);
        threads = process->threads.count > threads ? process->threads.count : threads;
    }
    fill_head(dump);
    uint64_t code = CKPT_STUB_OFFSET + stub_code_bytes;
    uint64_t tables = round_up(tables_bytes(&dump->tables));
    head->stack_bytes = round_up(CKPT_STACK + head->xstate_bytes);
    head->meeting = code + tables + head->stack_bytes * (threads + 1);
    head->parking = head->meeting + CKPT_PAGE;
    head->window_bytes = head->parking + CKPT_PARKING;
    int rc = choose_window(dump, head->window_bytes, err);
    if (rc != 0) {
        return rc;
    }
    head->meeting += head->window;
    head->parking += head->window;
    head->stacks = head->window + code + tables;
    uint64_t at = round_up(dump->at);
    head->image_bytes = at + tables;
    strbuf_init(&bytes, CKPT_TABLES_MAX);
    rc = tables_write(&dump->tables, head, &bytes);
    rc = rc != 0 ? rc : write_all(dump->out, bytes.data, bytes.length, at);
    rc = rc == 0 && ftruncate(dump->out, (off_t)head->image_bytes) != 0 ? -errno : rc;
    if (rc == 0) {
        fill_elf(head, at, page);
        rc = write_all(dump->out, page, sizeof page, 0);
    }
    rc = rc != 0 ? rc : write_all(dump->out, stub_code, stub_code_bytes, CKPT_STUB_OFFSET);
    strbuf_fini(&bytes);
    return rc != 0 ? err_set(err, rc, "writing the image: %s", err_code_text(rc)) : 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int open_temporary(const char *image, char *path, size_t size, int *ret, struct err *err)
{
    if ((size_t)snprintf(path, size, "%s.XXXXXX", image) >= size) {
        return err_set(err, -ENAMETOOLONG, "%s: the name is too long", image);
    }
    *ret = mkostemp(path, O_CLOEXEC);
    if (*ret < 0) {
        int rc = -errno;
        return err_set(err, rc, "%s: %s", image, err_code_text(rc));
    }
    return 0;
}

static int finish(int fd, const char *from, const char *to, struct err *err)
{
    int rc = fchmod(fd, 0700) != 0 || fsync(fd) != 0 || rename(from, to) != 0 ? -errno : 0;
    return rc != 0 ? err_set(err, rc, "%s: %s", to, err_code_text(rc)) : 0;
}

/* Opens the image in the process that is copied, if it can: it may see other files than we do. */
static void open_inside(struct dump *dump, const char *path)
{
    struct tracee *source = dump->now->source;
    char full[PATH_MAX];
    struct stat ours, its;
    dump->now->inner = -1;
    if (realpath(path, full) == NULL || strlen(full) >= CKPT_PAGE ||
        tracee_write(source, source->scratch, full, strlen(full) + 1) < 0) {
        return;
    }
    long fd = TRACEE_CALL(source, 0, SYS_openat, (uint64_t)AT_FDCWD, source->scratch,
                          O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    (void)snprintf(full, sizeof full, "/proc/%d/fd/%ld", (int)source->pid, fd);
    if (fstat(dump->out, &ours) == 0 && stat(full, &its) == 0 && ours.st_dev == its.st_dev &&
        ours.st_ino == its.st_ino) {
        dump->now->inner = (int)fd;
    } else {
        (void)TRACEE_CALL(source, 0, SYS_close, (uint64_t)fd);
    }
}

static void close_inside(struct dump *dump)
{
    if (dump->now->inner >= 0) {
        (void)TRACEE_CALL(dump->now->source, 0, SYS_close, (uint64_t)dump->now->inner);
        dump->now->inner = -1;
    }
}

static bool is_alive(const struct subject *subject)
{
    return (subject->process.flags & CKPT_ZOMBIE) == 0;
}

/* All but the memory, for which they need not stand still. */
static int dump_states(struct dump *dump, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        struct subject *subject = dump->now = dump->subjects[i];
        if (is_alive(subject)) {
            rc = maps_read(subject->tracee.pid, &subject->maps, err);
            rc = rc != 0 ? rc : dump_regions(dump, err);
            const struct ckpt_process *was = subject->was;
            struct tracee_code lent = {.start = was != NULL ? was->vdso : 0,
                                       .end = was != NULL ? was->vdso + was->vdso_bytes : 0};
            rc = rc != 0 ? rc : tracee_prepare(&subject->tracee, &subject->maps, &lent, err);
            rc = rc != 0 ? rc : dump_threads(dump, err);
            rc = rc != 0 ? rc : dump_process(dump, err);
            rc = rc != 0 ? rc : dump_memory(dump, true, err);
        }
    }
    rc = rc != 0 ? rc : dump_files(dump, err);
    rc = rc != 0 ? rc : dump_shared(dump, err);
    if (rc == 0) {
        dump_machine(dump);
    }
    return rc;
}

/* One that was killed meanwhile, or whose copy was (by a machine that is out of memory), has read
 * as if there was nothing. */
static int check_whole(const struct dump *dump, int rc, struct err *err)
{
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        char byte;
        if (is_alive(subject) && tracee_read(subject->source, subject->source->scratch, &byte,
                                             sizeof byte) != (ssize_t)sizeof byte) {
            return err_set(err, -ESRCH,
                           "process %d: there is none any more: it ended before it was saved",
                           (int)subject->tracee.pid);
        }
    }
    return rc;
}

static int dump_memories(struct dump *dump, const char *path, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        dump->now = dump->subjects[i];
        if (is_alive(dump->now)) {
            open_inside(dump, path);
            rc = dump_memory(dump, false, err);
            close_inside(dump);
        }
    }
    return check_whole(dump, rc, err);
}

static int copy_processes(struct dump *dump, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        if (is_alive(subject)) {
            rc = tracee_copy(&subject->tracee, &subject->copy, err);
            subject->source = rc == 0 ? &subject->copy : subject->source;
        }
    }
    return rc;
}

static int do_while_still(const struct dump_options *options, struct err *err)
{
    return options->while_still != NULL ? options->while_still(options->still_arg, err) : 0;
}

/* They go on as soon as there are copies of them; freed_ns: then. */
static int dump_running(struct dump *dump, const char *path, const struct dump_options *options,
                        uint64_t *freed_ns, struct err *err)
{
    int rc = dump_states(dump, err);
    rc = rc != 0 ? rc : copy_processes(dump, err);
    rc = rc != 0 ? rc : do_while_still(options, err);
    for (size_t i = 0; i < dump->count; i++) {
        tracee_release(&dump->subjects[i]->tracee, false);
    }
    *freed_ns = now_ns();
    if (rc == 0 && options->freed != NULL) {
        options->freed(options->arg);
    }
    rc = rc != 0 ? rc : dump_memories(dump, path, err);
    for (size_t i = 0; i < dump->count; i++) {
        struct subject *subject = dump->subjects[i];
        if (subject->copy.pid > 0) {
            tracee_end_copy(&subject->copy, subject->tracee.pid);
        }
    }
    return rc;
}

/* They stand still until their memory is copied. */
static int dump_standing(struct dump *dump, const char *path, const struct dump_options *options,
                         struct err *err)
{
    int rc = dump_states(dump, err);
    rc = rc != 0 ? rc : do_while_still(options, err);
    return rc != 0 ? rc : dump_memories(dump, path, err);
}

static int dump_to(struct dump *dump, const char *path, const char *image,
                   const struct dump_options *options, uint64_t *freed_ns, struct err *err)
{
    int rc = options->kill ? dump_standing(dump, path, options, err)
                           : dump_running(dump, path, options, freed_ns, err);
    rc = rc != 0 ? rc : dump_sums(dump, err);
    rc = rc != 0 ? rc : write_frame(dump, err);
    rc = rc != 0 ? rc : finish(dump->out, path, image, err);
    if (options->kill) { /* only now is it safe */
        if (rc == 0 && options->end_signal != 0) {
            tracee_end(&dump->subjects[0]->tracee, options->end_signal);
        }
        dump_release_all(dump, rc == 0);
        *freed_ns = now_ns();
    }
    return rc;
}

static int dump_once(pid_t pid, const char *image, const struct dump_options *options,
                     struct dump_result *ret, struct err *err)
{
    char path[PATH_MAX];
    struct dump dump = {.at = CKPT_STUB_OFFSET + stub_code_bytes, .unseen = options->unseen};
    int rc = open_temporary(image, path, sizeof path, &dump.out, err);
    if (rc != 0) {
        return rc;
    }
    tables_init(&dump.tables);
    uint64_t began_ns = now_ns(), freed_ns = began_ns;
    rc = dump_hold_all(&dump, pid, err);
    rc = rc != 0 ? rc : dump_to(&dump, path, image, options, &freed_ns, err);
    dump_release_all(&dump, false); /* if they were not yet */
    if (rc == 0 && ret != NULL) {
        *ret = (struct dump_result){.image_bytes = dump.head.image_bytes,
                                    .memory_bytes = dump.head.memory_bytes,
                                    .frozen_ns = freed_ns - began_ns};
    }
    if (rc != 0) {
        (void)unlink(path);
    }
    (void)close(dump.out);
    dump_fini_subjects(&dump);
    dump_fini_shared(&dump);
    tables_fini(&dump.tables);
    return rc;
}

static bool has_ended(pid_t pid)
{
    struct pollfd end = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    bool ended = end.fd < 0 ? errno == ESRCH : poll(&end, 1, 0) > 0;
    if (end.fd >= 0) {
        (void)close(end.fd);
    }
    return ended;
}

/* Some states last for a moment only: between vfork() and exec, or while events wait to be read. */
int ckpt_dump(pid_t pid, const char *image, const struct dump_options *options,
              struct dump_result *ret, struct err *err)
{
    struct timespec pause = {.tv_nsec = FIRST_PAUSE_NS};
    int rc = dump_once(pid, image, options, ret, err);
    for (int i = 0; rc == -EBUSY && i < TRIES; i++) {
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec = pause.tv_nsec * 3 / 2; /* all in all, a second */
        rc = dump_once(pid, image, options, ret, err);
    }
    return rc != 0 && has_ended(pid)
               ? err_set(err, -ESRCH, "process %d: there is none any more", (int)pid)
               : rc;
}
