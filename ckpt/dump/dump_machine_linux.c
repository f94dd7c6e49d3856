/* ckpt/dump/dump_machine_linux.c - the processors that the processes of a job know of, and its
 * clocks.
 *
 * A process that was resumed knows the processor on which it began: its last image has that.
 * Another one began here.  What it can know is what the processor says, unless it was started with
 * features masked (`roost-ckpt run --cpu`): then its environment, as it began, says so, and that of
 * its children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>

#include "ckpt/dump/dump.h"
#include "ckpt/image/image.h"
#include "ckpt/machine.h"
#include "ckpt/mask_linux.h"
#include "ckpt/xstate.h"

/* ---- a process that began here */

/* Finds the value of a variable ("NAME=") in the environment with which the process began; cut to
 * size. */
static bool environment_has(pid_t pid, const char *name, char *value, size_t size)
{
    char path[64];
    size_t matched = 0, length = 0, at = 0;
    int byte;
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    FILE *file = fopen(path, "re");
    bool found = false;
    while (file != NULL && !found && (byte = getc(file)) != EOF) {
        if (byte == '\0') {
            found = name[matched] == '\0';
            matched = at = 0;
        } else if (name[matched] == '\0' && length + 1 < size) {
            value[length++] = (char)byte;
        } else if (name[matched] != '\0') {
            matched += at == matched && name[matched] == (char)byte ? 1 : 0;
            at++;
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    value[length] = '\0';
    return found;
}

static bool is_linked(struct dump *dump, const struct ckpt_process *process)
{
    for (uint32_t i = 0; i + 1 < process->auxv.count; i += 2) {
        const uint64_t *entry = tables_at(&dump->tables, CKPT_AUXV, process->auxv.first + i);
        if (entry[0] == AT_BASE) {
            return entry[1] != 0;
        }
    }
    return false;
}

static void read_process(struct dump *dump, const struct subject *subject,
                         uint32_t words[MACHINE_WORDS], uint32_t *room)
{
    char value[32];
    enum machine_level level;
    pid_t pid = subject->tracee.pid;
    machine_read(getauxval(AT_HWCAP2), words);
    bool binds = environment_has(pid, "LD_BIND_NOW=", value, sizeof value) && value[0] != '\0';
    *room = is_linked(dump, &subject->process) && !binds ? machine_linker_room(words) : ~0U;
    if (environment_has(pid, MASK_VARIABLE "=", value, sizeof value) &&
        machine_level_named(value, &level)) {
        machine_mask(words, level);
    }
}

/* ---- all of them */

static void read_machines(struct dump *dump)
{
    struct ckpt_head *head = &dump->head;
    memset(head->machine, 0, sizeof head->machine);
    head->linker_room = ~0U;
    for (size_t i = 0; i < dump->count; i++) {
        const struct subject *subject = dump->subjects[i];
        uint32_t words[MACHINE_WORDS], room;
        if ((subject->process.flags & CKPT_ZOMBIE) != 0) {
            continue;
        }
        if (subject->before != NULL) {
            const struct ckpt_head *before = image_head(subject->before);
            memcpy(words, before->machine, sizeof words);
            room = before->linker_room;
        } else {
            read_process(dump, subject, words, &room);
        }
        for (size_t j = 0; j < MACHINE_WORDS; j++) {
            head->machine[j] |= words[j];
        }
        head->linker_room &= room;
    }
}

static void read_layout(struct ckpt_head *head)
{
    xstate_read_layout(&head->xstate);
    for (unsigned i = 0; i < CKPT_COMPONENTS; i++) {
        struct ckpt_component *component = &head->xstate.components[i];
        if (component->offset + component->bytes > head->xstate_bytes) { /* the kernel keeps it */
            *component = (struct ckpt_component){.bytes = 0};
        }
    }
}

/* Reads the clocks as the job sees them: it may be in a time namespace. */
static void read_clocks(struct dump *dump)
{
    static const clockid_t CLOCKS[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME};
    struct tracee *tracee = &dump->subjects[0]->tracee;
    for (size_t i = 0; i < sizeof CLOCKS / sizeof CLOCKS[0]; i++) {
        struct timespec now;
        if (TRACEE_CALL(tracee, 0, SYS_clock_gettime, (uint64_t)CLOCKS[i], tracee->scratch) == 0 &&
            tracee_read(tracee, tracee->scratch, &now, sizeof now) == (ssize_t)sizeof now) {
            dump->head.clocks_ns[i] = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        }
    }
}

void dump_machine(struct dump *dump)
{
    read_machines(dump);
    read_layout(&dump->head);
    read_clocks(dump);
}
