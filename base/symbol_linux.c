/* base/symbol_linux.c - see symbol_linux.h.  The format: elf(5).
 *
 * The file is this program's own, which the kernel has loaded; all the same nothing is read outside
 * of it, because a tool may have changed it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/symbol_linux.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the linker put the first byte of the executable. */
extern const char __executable_start[]; /* NOLINT(bugprone-reserved-identifier) */

struct image {
    const char *data;
    size_t size;
};

/* Returns the bytes [offset, offset + size) of the file; NULL: it is shorter. */
static const void *bytes_at(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset ? image->data + offset : NULL;
}

/* Returns the zero-terminated text at `offset` of a table of texts; NULL: there is none. */
static const char *text_at(const struct image *image, const Elf64_Shdr *texts, uint64_t offset)
{
    const char *at =
        offset < texts->sh_size ? bytes_at(image, texts->sh_offset, texts->sh_size) : NULL;
    return at != NULL && memchr(at + offset, '\0', texts->sh_size - offset) ? at + offset : NULL;
}

/* Returns by how much addresses in memory are above those in the file. */
static uint64_t moved_by(const struct image *image, const Elf64_Ehdr *header)
{
    const Elf64_Phdr *parts =
        bytes_at(image, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
    for (size_t i = 0; parts != NULL && i < header->e_phnum; i++) {
        if (parts[i].p_type == PT_LOAD && parts[i].p_offset == 0) {
            return (uintptr_t)__executable_start - parts[i].p_vaddr;
        }
    }
    return 0;
}

static bool search_table(const struct image *image, const Elf64_Shdr *table,
                         const Elf64_Shdr *texts, uint64_t address, char *ret, size_t size)
{
    const Elf64_Sym *symbols = bytes_at(image, table->sh_offset, table->sh_size);
    const char *file = NULL;
    for (size_t i = 0; symbols != NULL && i < table->sh_size / sizeof(Elf64_Sym); i++) {
        const Elf64_Sym *symbol = &symbols[i];
        unsigned type = ELF64_ST_TYPE(symbol->st_info);
        if (type == STT_FILE) { /* of the local symbols that follow */
            file = text_at(image, texts, symbol->st_name);
        } else if (type == STT_FUNC && address >= symbol->st_value &&
                   address - symbol->st_value < (symbol->st_size > 0 ? symbol->st_size : 1)) {
            const char *name = text_at(image, texts, symbol->st_name);
            bool is_local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL && file != NULL;
            if (name != NULL) {
                (void)snprintf(ret, size, is_local ? "%s (%s)" : "%s", name, file);
                return true;
            }
        }
    }
    return false;
}

static bool search_image(const struct image *image, uintptr_t address, char *ret, size_t size)
{
    const Elf64_Ehdr *header = bytes_at(image, 0, sizeof *header);
    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return false;
    }
    const Elf64_Shdr *tables =
        bytes_at(image, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
    for (size_t i = 0; tables != NULL && i < header->e_shnum; i++) {
        if (tables[i].sh_type == SHT_SYMTAB && tables[i].sh_link < header->e_shnum) {
            return search_table(image, &tables[i], &tables[tables[i].sh_link],
                                address - moved_by(image, header), ret, size);
        }
    }
    return false;
}

uint64_t symbol_offset(uintptr_t address)
{
    return address - (uintptr_t)__executable_start;
}

bool symbol_name(uintptr_t address, char *ret, size_t size)
{
    struct stat status;
    bool found = false;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            const struct image image = {data, (size_t)status.st_size};
            found = search_image(&image, address, ret, size);
            (void)munmap(data, (size_t)status.st_size);
        }
    }
    (void)close(fd);
    return found;
}
