/* virt/find.c - finds a domain by its name, its UUID, or the address of one of its network cards.
 *
 * The addresses are only in the domains' descriptions.  All are read once (one call per domain) and
 * kept until libvirt reports a changed definition or the connection was lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <libvirt/virterror.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "virt/domain_xml.h"
#include "virt/virt.h"

#define TWO_DOMAINS "two" /* in place of a UUID */

struct virt_names {
    pthread_mutex_t lock;
    struct strmap *by_mac; /* -> UUID as text; NULL: not read yet */
    atomic_bool stale;
};

struct virt_names *virt_names_create(void)
{
    struct virt_names *names = mem_zalloc(sizeof *names);
    CHECK(pthread_mutex_init(&names->lock, NULL) == 0);
    return names;
}

void virt_names_forget(struct virt_names *names)
{
    atomic_store(&names->stale, true);
}

/* ---- addresses */

struct reading {
    struct strmap *by_mac;
    const char *uuid;
};

static void put_mac(void *arg, const char *mac)
{
    const struct reading *reading = arg;
    const char *before = strmap_get(reading->by_mac, mac);
    bool other = before != NULL && strcmp(before, reading->uuid) != 0;
    mem_free(strmap_set(reading->by_mac, mac, mem_strdup(other ? TWO_DOMAINS : reading->uuid)));
}

static int read_all(virConnectPtr conn, struct strmap **ret, struct err *err)
{
    virDomainPtr *domains = NULL;
    int count = virConnectListAllDomains(conn, &domains, 0);
    if (count < 0) {
        return err_set(err, -EIO, "%s", virt_error_text());
    }
    struct strmap *by_mac = strmap_create(STRMAP_CASE_SENSITIVE);
    for (int i = 0; i < count; i++) {
        char uuid[VIR_UUID_STRING_BUFLEN];
        char *xml = virDomainGetXMLDesc(domains[i], VIR_DOMAIN_XML_INACTIVE);
        if (xml != NULL && virDomainGetUUIDString(domains[i], uuid) == 0) {
            const struct reading reading = {by_mac, uuid};
            (void)domain_xml_macs(xml, put_mac, (void *)&reading, NULL); /* others may have it */
        } /* else: it is gone already */
        free(xml);
        (void)virDomainFree(domains[i]);
    }
    free((void *)domains);
    *ret = by_mac;
    return 0;
}

/* Finds the domain with that network address.  Returns 0, -ENOENT, -EEXIST or -EIO. */
static int uuid_of(struct virt_names *names, virConnectPtr conn, const char *mac,
                   char uuid[VIR_UUID_STRING_BUFLEN], struct err *err)
{
    CHECK(pthread_mutex_lock(&names->lock) == 0);
    int rc = 0;
    if (atomic_exchange(&names->stale, false) || names->by_mac == NULL) {
        struct strmap *fresh = NULL;
        rc = read_all(conn, &fresh, err);
        if (rc == 0) {
            strmap_destroy(names->by_mac, mem_free);
            names->by_mac = fresh;
        } else {
            atomic_store(&names->stale, true);
        }
    }
    const char *found = rc == 0 ? strmap_get(names->by_mac, mac) : NULL;
    if (rc == 0 && found == NULL) {
        rc = err_set(err, -ENOENT, "no domain has a network card with the address %s", mac);
    } else if (rc == 0 && strcmp(found, TWO_DOMAINS) == 0) {
        rc = err_set(err, -EEXIST, "two domains have a network card with the address %s", mac);
    } else if (rc == 0) {
        memcpy(uuid, found, VIR_UUID_STRING_BUFLEN);
    }
    CHECK(pthread_mutex_unlock(&names->lock) == 0);
    return rc;
}

/* ---- any */

static bool is_uuid(const char *text)
{
    size_t digits = 0, others = 0;
    for (; *text != '\0'; text++) {
        digits += strchr("0123456789abcdefABCDEF", *text) != NULL ? 1 : 0;
        others += strchr("0123456789abcdefABCDEF-", *text) == NULL ? 1 : 0;
    }
    return digits == 32 && others == 0;
}

int virt_find(struct virt_names *names, virConnectPtr conn, const char *domain, virDomainPtr *ret,
              struct err *err)
{
    char mac[DOMAIN_XML_MAC_SIZE], uuid[VIR_UUID_STRING_BUFLEN];
    virDomainPtr found = NULL;
    if (domain_xml_is_mac(domain, mac)) {
        int rc = uuid_of(names, conn, mac, uuid, err);
        if (rc != 0) {
            return rc;
        }
        domain = uuid;
    }
    if (is_uuid(domain)) {
        found = virDomainLookupByUUIDString(conn, domain);
    }
    found = found != NULL ? found : virDomainLookupByName(conn, domain);
    if (found == NULL) {
        const virError *last = virGetLastError();
        return last != NULL && last->code == VIR_ERR_NO_DOMAIN
                   ? err_set(err, -ENOENT, "no such domain: '%s'", domain)
                   : err_set(err, -EIO, "%s", virt_error_text());
    }
    *ret = found;
    return 0;
}
