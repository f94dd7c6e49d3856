/* classad_formats/xml_library.c - see xml_library.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad_formats/xml_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"

int xml_library_open(const char *file, struct xml_library *ret, struct err *err)
{
    struct xml_library library = {.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
    if (library.handle == NULL) {
        return err_set(err, -ENOENT, "XML needs the library libxml2, which cannot be loaded: %s",
                       dlerror());
    }
    const struct {
        const char *name;
        void *to;
    } functions[] = {
#define XML_LIBRARY_ROW(member, function) {#function, &library.member},
        XML_LIBRARY_FUNCTIONS(XML_LIBRARY_ROW)
#undef XML_LIBRARY_ROW
    };
    for (size_t i = 0; i < ARRAY_COUNT(functions); i++) {
        void *found = dlsym(library.handle, functions[i].name);
        if (found == NULL) {
            xml_library_close(&library);
            return err_set(err, -ENOSYS, "XML needs %s, which %s does not have", functions[i].name,
                           file);
        }
        memcpy(functions[i].to, &found, sizeof(found)); /* POSIX: a function's address, too */
    }
    *ret = library;
    return 0;
}

void xml_library_close(struct xml_library *library)
{
    if (library->handle != NULL) {
        (void)dlclose(library->handle);
        library->handle = NULL;
    }
}
