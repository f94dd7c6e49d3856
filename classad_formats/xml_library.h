/* classad_formats/xml_library.h - loads libxml2 when the first XML document is read.
 *
 * Debian's libxml2 needs ICU and the C++ library: 35 MB, which take longer to load than most
 * commands of `roost` take to run, and XML is rarely read.  So programs are compiled with libxml2's
 * headers but not linked with it; the functions are looked up by name.  A separate module linked
 * with libxml2 would do the same, but would have to be installed, found and kept in step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_FORMATS_XML_LIBRARY_H
#define CLASSAD_FORMATS_XML_LIBRARY_H

#include <libxml/SAX2.h>
#include <libxml/parser.h>

struct err;

/* The functions used: X(member of struct xml_library, function of libxml2). */
#define XML_LIBRARY_FUNCTIONS(X)                 \
    X(create_parser, xmlCreatePushParserCtxt)    \
    X(free_parser, xmlFreeParserCtxt)            \
    X(free_document, xmlFreeDoc)                 \
    X(use_options, xmlCtxtUseOptions)            \
    X(parse_chunk, xmlParseChunk)                \
    X(stop_parser, xmlStopParser)                \
    X(predefined_entity, xmlGetPredefinedEntity) \
    X(line_number, xmlSAX2GetLineNumber)         \
    X(column_number, xmlSAX2GetColumnNumber)

struct xml_library {
    void *handle; /* handle of dlopen(); NULL: libxml2 is not loaded */
#define XML_LIBRARY_MEMBER(name, function) __typeof__(function) *name;
    XML_LIBRARY_FUNCTIONS(XML_LIBRARY_MEMBER)
#undef XML_LIBRARY_MEMBER
};

/* Loads libxml2; file is its name for dlopen().  Returns 0; -ENOENT: not found; -ENOSYS: a function
 * is missing. The library stays loaded until the process ends, because it has thread-local data. */
int xml_library_open(const char *file, struct xml_library *ret, struct err *err);
void xml_library_close(struct xml_library *library);

#endif
