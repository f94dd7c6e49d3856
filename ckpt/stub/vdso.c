/* ckpt/stub/vdso.c - the functions of another kernel's vdso, for a job that knows its addresses.
 *
 * The job has the addresses of functions in the vdso of the kernel on which it was begun, in tables
 * of its C library.  Where this kernel's is another one, the old code is put back to its place, and
 * the beginning of each of its functions becomes a jump to this kernel's function of that name, or,
 * where there is none, the system call.  No thread is inside that code: the dumper sees to it.  One
 * that was interrupted there by a signal whose handler it is in now returns to the old code, whose
 * data are no longer there: nothing can be done about that from outside.
 *
 * The next image of the job has the patched code, and is patched again wherever it goes on.
 *
 * getrandom is always the system call: its function works on memory that the job has laid out as
 * the old kernel's told it to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>

#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define SYMBOLS_MAX       64
#define KERNEL_CALL_BYTES 8
#define PATCH_BYTES       22 /* of the longest: getrandom's */

struct symbols {
    const Elf64_Sym *table;
    const char *names;
    uint32_t count;
    uint64_t bias; /* from a symbol's value to its address */
};

static bool find_symbols(uint64_t vdso, struct symbols *ret)
{
    const Elf64_Ehdr *elf = (const void *)vdso;
    const Elf64_Phdr *headers = (const void *)(vdso + elf->e_phoff);
    const Elf64_Dyn *dynamic = NULL;
    *ret = (struct symbols){.bias = vdso};
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD) {
            ret->bias = vdso + headers[i].p_offset - headers[i].p_vaddr;
        } else if (headers[i].p_type == PT_DYNAMIC) {
            dynamic = (const void *)(vdso + headers[i].p_offset);
        }
    }
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        uint64_t at = dynamic->d_un.d_ptr + ret->bias;
        if (dynamic->d_tag == DT_SYMTAB) {
            ret->table = (const void *)at;
        } else if (dynamic->d_tag == DT_STRTAB) {
            ret->names = (const void *)at;
        } else if (dynamic->d_tag == DT_HASH) {
            ret->count = ((const uint32_t *)at)[1];
        }
    }
    if (ret->count == 0 && ret->names > (const char *)ret->table) { /* no DT_HASH since Linux 6.6 */
        ret->count = (uint32_t)(((uint64_t)ret->names - (uint64_t)ret->table) / sizeof *ret->table);
    }
    ret->count = ret->count < SYMBOLS_MAX ? ret->count : SYMBOLS_MAX;
    return ret->table != NULL && ret->names != NULL;
}

static uint64_t address_of(const struct symbols *symbols, const char *name)
{
    for (uint32_t i = 0; i < symbols->count; i++) {
        const Elf64_Sym *symbol = &symbols->table[i];
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
            text_is(symbols->names + symbol->st_name, name)) {
            return symbol->st_value + symbols->bias;
        }
    }
    return 0;
}

static long call_of(const char *name)
{
    return text_is(name, "__vdso_clock_gettime") || text_is(name, "clock_gettime")
               ? SYS_clock_gettime
           : text_is(name, "__vdso_gettimeofday") || text_is(name, "gettimeofday")
               ? SYS_gettimeofday
           : text_is(name, "__vdso_time") || text_is(name, "time") ? SYS_time
           : text_is(name, "__vdso_clock_getres") || text_is(name, "clock_getres")
               ? SYS_clock_getres
           : text_is(name, "__vdso_getcpu") || text_is(name, "getcpu")       ? SYS_getcpu
           : text_is(name, "__vdso_getrandom") || text_is(name, "getrandom") ? SYS_getrandom
                                                                             : -1;
}

static void put_code(unsigned char **at, const unsigned char *code, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        *(*at)++ = code[i];
    }
}

static void jump_to(unsigned char *at, uint64_t address)
{
    static const unsigned char LOAD[] = {0x48, 0xb8}, JUMP[] = {0xff, 0xe0}; /* rax */
    put_code(&at, LOAD, sizeof LOAD);
    put_code(&at, (const unsigned char *)&address, sizeof address);
    put_code(&at, JUMP, sizeof JUMP);
}

static void call_kernel(unsigned char **at, long number)
{
    static const unsigned char LOAD[] = {0xb8}, CALL[] = {0x0f, 0x05, 0xc3}; /* eax; syscall; ret */
    uint32_t word = (uint32_t)number;
    put_code(at, LOAD, sizeof LOAD);
    put_code(at, (const unsigned char *)&word, sizeof word);
    put_code(at, CALL, sizeof CALL);
}

static void say_there_is_none(unsigned char **at)
{
    static const unsigned char CODE[] = {0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, /* rax: ENOSYS */
                                         0xc3};
    put_code(at, CODE, sizeof CODE);
}

/* With a size of ~0 it is asked how its memory is to be laid out: that is only for its own. */
static void call_getrandom(unsigned char **at)
{
    static const unsigned char IS_ASKED[] = {0x49, 0x83,
                                             0xf8, 0xff,               /* r8: -1? */
                                             0x74, KERNEL_CALL_BYTES}; /* je */
    put_code(at, IS_ASKED, sizeof IS_ASKED);
    call_kernel(at, SYS_getrandom);
    say_there_is_none(at);
}

static void patch_function(const struct stub *stub, const char *name, unsigned char *at,
                           uint64_t room, uint64_t now)
{
    long number = call_of(name);
    if (room < PATCH_BYTES) {
        stub_fail(stub, "no room to redirect the function of the job's vdso,", name, -ENOSPC);
    }
    if (number == SYS_getrandom) {
        call_getrandom(&at);
    } else if (now != 0) {
        jump_to(at, now);
    } else if (number >= 0) {
        call_kernel(&at, number);
    } else { /* as of __vdso_sgx_enter_enclave(), which needs a device that no image has */
        say_there_is_none(&at);
    }
}

void stub_patch_vdso(const struct stub *stub, uint64_t vdso)
{
    const struct ckpt_process *process = stub->process;
    struct symbols old, new;
    for (uint32_t i = 0; i < process->regions.count; i++) {
        const struct ckpt_region *region =
            STUB_ENTRY(stub, CKPT_REGIONS, struct ckpt_region, process->regions.first + i);
        if (region->kind == CKPT_VDSO) {
            stub_map_kept(stub, region);
        }
    }
    if (!find_symbols(process->vdso, &old) || !find_symbols(vdso, &new)) {
        stub_fail(stub, "redirecting the functions of", "the kernel's vdso", -EINVAL);
    }
    for (uint32_t i = 0; i < old.count; i++) {
        const Elf64_Sym *symbol = &old.table[i];
        const char *name = old.names + symbol->st_name;
        if (symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) {
            patch_function(stub, name, (unsigned char *)(symbol->st_value + old.bias),
                           symbol->st_size, address_of(&new, name));
        }
    }
    long rc = SYS3(mprotect, process->vdso, process->vdso_bytes, PROT_READ | PROT_EXEC);
    if (rc != 0) {
        stub_fail_at(stub, "protecting memory at", process->vdso, rc);
    }
}
