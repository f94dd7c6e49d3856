/* virt/domain_xml.c - see domain_xml.h.
 *
 * The only user of libxml2.  libvirtd has checked the text; still nothing is fetched for it
 * (NONET), no entity is replaced, and a huge text is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "virt/domain_xml.h"

#include <errno.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <string.h>

#include "base/err.h"

#define DOMAIN_XML_MAX (4 << 20) /* bytes */

bool domain_xml_is_mac(const char *text, char ret[DOMAIN_XML_MAC_SIZE])
{
    static const char DIGITS[] = "0123456789abcdef0123456789ABCDEF";
    if (strlen(text) != DOMAIN_XML_MAC_SIZE - 1) {
        return false;
    }
    char mac[DOMAIN_XML_MAC_SIZE];
    for (int i = 0; i < DOMAIN_XML_MAC_SIZE - 1; i++) {
        const char *digit = strchr(DIGITS, text[i]);
        if (i % 3 == 2 ? text[i] != ':' && text[i] != '-' : digit == NULL) {
            return false;
        }
        mac[i] = ':';
        if (i % 3 != 2) {
            mac[i] = DIGITS[(digit - DIGITS) % 16];
        }
    }
    memcpy(ret, mac, DOMAIN_XML_MAC_SIZE - 1);
    ret[DOMAIN_XML_MAC_SIZE - 1] = '\0';
    return true;
}

static void tell_macs(const xmlXPathObject *found, void (*each)(void *arg, const char *mac),
                      void *arg)
{
    for (int i = 0; found->nodesetval != NULL && i < found->nodesetval->nodeNr; i++) {
        xmlChar *text = xmlNodeGetContent(found->nodesetval->nodeTab[i]);
        char mac[DOMAIN_XML_MAC_SIZE];
        if (text != NULL && domain_xml_is_mac((const char *)text, mac)) {
            each(arg, mac);
        }
        xmlFree(text);
    }
}

int domain_xml_macs(const char *xml, void (*each)(void *arg, const char *mac), void *arg,
                    struct err *err)
{
    size_t length = strlen(xml);
    if (length > DOMAIN_XML_MAX) {
        return err_set(err, -E2BIG, "the description of a domain is too large: %zu bytes", length);
    }
    xmlDoc *document = xmlReadMemory(xml, (int)length, "domain.xml", NULL,
                                     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    xmlXPathContext *context = document != NULL ? xmlXPathNewContext(document) : NULL;
    xmlXPathObject *found = NULL;
    int rc = -EINVAL;
    if (context != NULL) {
        found = xmlXPathEvalExpression((const xmlChar *)"/domain/devices/interface/mac/@address",
                                       context);
    }
    xmlNode *root = document != NULL ? xmlDocGetRootElement(document) : NULL;
    if (found != NULL && root != NULL && xmlStrEqual(root->name, (const xmlChar *)"domain")) {
        tell_macs(found, each, arg);
        rc = 0;
    }
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(context);
    xmlFreeDoc(document);
    return rc == 0 ? 0 : err_set(err, rc, "not the description of a domain: '%.40s'", xml);
}
