/* classad_formats/xml_library.h - libxml2, loaded when the first document is read.
 *
 * Debian's libxml2 brings ICU and the C++ library, 35 MB whose loading takes longer than most of
 * what `roost` is asked to do, and hardly anybody reads XML.  So programs are compiled with its
 * headers but not linked with it; what we call is looked up by name.  A module of our own that is
 * linked with it would do the same, and would have to be installed, found and kept in step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_FORMATS_XML_LIBRARY_H
#define CLASSAD_FORMATS_XML_LIBRARY_H

#include <libxml/SAX2.h>
#include <libxml/parser.h>

struct err;

/* What is called; each name stands for the function xml<Name>. */
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
    void *handle; /* NULL: not open */
#define XML_LIBRARY_MEMBER(name, function) __typeof__(function) *name;
    XML_LIBRARY_FUNCTIONS(XML_LIBRARY_MEMBER)
#undef XML_LIBRARY_MEMBER
};

/* file: its name as the dynamic linker knows it.  -ENOENT: it is not there; -ENOSYS: it lacks a
 * function. Once loaded it stays until the process ends: it has threads' data of its own. */
int xml_library_open(const char *file, struct xml_library *ret, struct err *err);
void xml_library_close(struct xml_library *library);

#endif
