/* ckpt/image/frame.c - assembles an image: see frame.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/frame.h"

#include <elf.h>
#include <string.h>

#include "ckpt/image/tables.h"

uint64_t frame_round_up(uint64_t bytes)
{
    return (bytes + CKPT_PAGE - 1) & ~(uint64_t)(CKPT_PAGE - 1);
}

static uint32_t most_threads(const struct tables *tables)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < tables->counts[CKPT_PROCESSES]; i++) {
        const struct ckpt_process *process =
            (const void *)(tables->bytes[CKPT_PROCESSES].data + i * sizeof(struct ckpt_process));
        most = process->threads.count > most ? process->threads.count : most;
    }
    return most;
}

bool frame_lay_out(const struct tables *tables, struct ckpt_head *head, uint64_t window,
                   uint64_t code_bytes, uint64_t at)
{
    uint64_t bytes = frame_round_up(tables_bytes(tables));
    head->window = window;
    head->stack_bytes = frame_round_up(CKPT_STACK + head->xstate_bytes);
    head->stacks = window + code_bytes + bytes;
    head->meeting = head->stacks + head->stack_bytes * (most_threads(tables) + 1);
    head->parking = head->meeting + CKPT_PAGE;
    head->window_bytes = head->parking + CKPT_PARKING - window;
    head->image_bytes = at + bytes;
    return head->window_bytes <= FRAME_WINDOW_MAX;
}

void frame_elf(const struct ckpt_head *head, uint64_t code_bytes, uint64_t at, unsigned char *page)
{
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
                                    .p_filesz = code_bytes,
                                    .p_memsz = code_bytes,
                                    .p_align = CKPT_PAGE},
                                   {.p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_W,
                                    .p_offset = at,
                                    .p_vaddr = head->window + code_bytes,
                                    .p_paddr = head->window + code_bytes,
                                    .p_filesz = frame_round_up(head->tables_bytes),
                                    .p_memsz = head->window_bytes - code_bytes,
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
