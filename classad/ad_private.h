/* classad/ad_private.h - the trees, ads and names inside the library.  Only for this folder.
 *
 * A node is 24 bytes.  The children of a node lie side by side in the expression's block, and so do
 * its names and strings: an expression is one allocation, and a walk reads neighbouring memory.  An
 * ad written inside an expression is a struct ad of its own, owned by the node.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_PRIVATE_H
#define CLASSAD_AD_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "classad/ad.h"

struct arena;

/* ---- names ---- */

struct ad_name {
    /* number of references to the name; 0: the name is inside an expression's block */
    uint32_t owner_count;
    uint32_t hash; /* hash of the name in lower case */
    uint32_t length;
    char text[]; /* as first written, zero-terminated */
};

uint32_t ad_name_hash(const char *text, size_t length);
/* true when the first `length` bytes of a and b are equal, ignoring ASCII case */
bool ad_name_equal(const char *a, const char *b, size_t length);
/* Returns what ad_name_equal() returns; faster, without a call, when a and b have the same case. */
static inline bool ad_name_is(const char *a, const char *b, size_t length)
{
    uint64_t x[2];
    uint64_t y[2];
    if (length >= 8 && length <= 16) {
        memcpy(&x[0], a, 8);
        memcpy(&x[1], a + length - 8, 8);
        memcpy(&y[0], b, 8);
        memcpy(&y[1], b + length - 8, 8);
        if (((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0) {
            return true;
        }
    } else if (length >= 4 && length < 8) {
        uint32_t s[2];
        uint32_t t[2];
        memcpy(&s[0], a, 4);
        memcpy(&s[1], a + length - 4, 4);
        memcpy(&t[0], b, 4);
        memcpy(&t[1], b + length - 4, 4);
        if (((s[0] ^ t[0]) | (s[1] ^ t[1])) == 0) {
            return true;
        }
    }
    return ad_name_equal(a, b, length);
}

/* Returns true for the reserved words: true, false, undefined, error, is, isnt, parent. */
bool ad_name_is_reserved(const char *text, size_t length);
/* Returns true when the name prints without quotes. */
bool ad_name_is_word(const char *text, size_t length);
bool ad_name_is_private(const char *text, size_t length);
extern const char *const ad_identity_names[]; /* indexed by enum ad_identity */
/* Returns 1 << enum ad_identity when the name is that of an identity attribute, otherwise 0. */
uint16_t ad_name_identity(const char *text, size_t length);
struct ad_name *ad_name_create(const char *text, size_t length);
struct ad_name *ad_name_ref(struct ad_name *name);
void ad_name_destroy(struct ad_name *name);

static inline char ad_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* ---- trees ---- */

enum ad_kind {
    AD_NODE_UNDEFINED, /* the first eight kinds have the numbers of enum ad_type */
    AD_NODE_ERROR,
    AD_NODE_BOOL,
    AD_NODE_INT,
    AD_NODE_REAL,
    AD_NODE_STRING,
    AD_NODE_ABSTIME,
    AD_NODE_RELTIME,
    AD_NODE_LIST, /* children: the elements */
    AD_NODE_AD,   /* nested */
    /* a reference: x (count 0) or child.x (count 1); .x when op is AD_REF_ABSOLUTE */
    AD_NODE_REF,
    AD_NODE_UNARY, /* operator in op; one child */
    /* a op b op c ... with operators of one precedence, from the left; each child but the first has
     * the operator before it in link */
    AD_NODE_CHAIN,
    AD_NODE_COND,      /* a ? b : c; three children */
    AD_NODE_ELSE,      /* a ?: b; two children */
    AD_NODE_SUBSCRIPT, /* a[b]; two children */
    AD_NODE_PAREN,     /* one child */
    /* children: the arguments; op: index in the table of functions, or AD_CALL_UNKNOWN */
    AD_NODE_CALL,
    /* a computed value; only in lists that evaluation makes, never in an expression's block */
    AD_NODE_VALUE,
    AD_KIND_COUNT,
};

/* Words that mean an ad (or the time), unless an attribute has that name. */
enum ad_special {
    AD_SPECIAL_NONE,
    AD_SPECIAL_MY,     /* my, self */
    AD_SPECIAL_TARGET, /* target, other */
    AD_SPECIAL_PARENT,
    AD_SPECIAL_ROOT, /* root, toplevel */
    AD_SPECIAL_LEFT,
    AD_SPECIAL_RIGHT,
    AD_SPECIAL_TIME, /* CurrentTime: not an ad; means time() */
};

enum ad_special ad_name_special(const char *text, size_t length);

#define AD_REF_ABSOLUTE 1
#define AD_CALL_UNKNOWN 255

/* The operators.  Their numbers are part of the binary form; binary operators are sorted by
 * precedence, the lowest first. */
enum ad_op {
    AD_OP_NONE,
    AD_OP_OR,
    AD_OP_AND,
    AD_OP_BIT_OR,
    AD_OP_BIT_XOR,
    AD_OP_BIT_AND,
    AD_OP_EQ,
    AD_OP_NE,
    AD_OP_IS,
    AD_OP_ISNT,
    AD_OP_LT,
    AD_OP_LE,
    AD_OP_GT,
    AD_OP_GE,
    AD_OP_SHL,
    AD_OP_SHR,
    AD_OP_USHR,
    AD_OP_ADD,
    AD_OP_SUB,
    AD_OP_MUL,
    AD_OP_DIV,
    AD_OP_MOD,
    AD_OP_NOT, /* AD_OP_NOT and all after it are unary */
    AD_OP_BIT_NOT,
    AD_OP_PLUS,
    AD_OP_MINUS,
    AD_OP_COUNT,
};

struct ad_node {
    uint8_t kind; /* enum ad_kind */
    uint8_t op;
    uint8_t link;    /* for a child of AD_NODE_CHAIN: enum ad_op before the child */
    uint8_t special; /* for a reference in an expression's block: enum ad_special of its name */
    /* number of children; bytes of a string; int32_t zone offset of an absolute time */
    uint32_t count;
    union {
        bool boolean;
        int64_t integer; /* value of AD_NODE_INT; seconds since 1970 of AD_NODE_ABSTIME */
        double real;     /* value of AD_NODE_REAL; seconds of AD_NODE_RELTIME */
        const char *text;
        /* children of list, unary, chain, cond, else, subscript, paren */
        const struct ad_node *kids;
        struct ad *nested;
        const struct ad_value *value;
        struct {
            const struct ad_name *name;
            const struct ad_node *kids;
        } named; /* name and children of references and calls */
    };
};

struct ad_expr {
    uint32_t owner_count;
    uint32_t bytes; /* size of the expression's memory block */
    uint16_t depth; /* depth of the tree of nodes */
    bool has_ads;   /* some node is AD_NODE_AD, so destroying must walk the tree */
    struct ad_node root;
};

static inline const struct ad_node *ad_node_kids(const struct ad_node *node)
{
    return node->kind == AD_NODE_REF || node->kind == AD_NODE_CALL ? node->named.kids : node->kids;
}

/* The number of nodes in ad_node_kids(): 0 for leaves, whose count means other things. */
static inline uint32_t ad_node_kid_count(const struct ad_node *node)
{
    return node->kind == AD_NODE_LIST || (node->kind >= AD_NODE_REF && node->kind <= AD_NODE_CALL)
               ? node->count
               : 0;
}

/* op must be a binary operator; returns 0 for the lowest precedence (||) */
int ad_op_precedence(enum ad_op op);

/* Copies a tree that was built in an arena into one block of memory: an expression with one
 * reference.  Nested ads move into the block, so the caller must not use the tree at root again.
 * Returns NULL when memory runs out or the tree is too large; the nested ads then still belong to
 * the tree at root. */
struct ad_expr *ad_expr_compact(const struct ad_node *root);

/* Makes a name in an arena, for trees under construction; NULL when the arena is full. */
struct ad_name *ad_name_in(struct arena *arena, const char *text, size_t length);

/* ---- ads ---- */

/* An ad is a body (values as bytes, shared, see ad_packed.h) with entries over it, or entries
 * alone.  A hidden attribute of the body was removed or is replaced by an entry. */
struct ad_body;

#define AD_NO_PLACE UINT32_MAX

struct ad_entry {
    struct ad_name *name;
    struct ad_expr *expr;
    uint32_t hash;
    uint32_t place; /* place of the body's attribute that this entry replaces, or AD_NO_PLACE */
};

struct ad_text { /* a computed string, kept for a caller of ad_get_string() */
    struct ad_text *next;
    char text[];
};

#define AD_ENTRIES_BITS 21

struct ad {
    struct ad_body *body; /* NULL: the ad has only entries */
    /* one bit for each attribute of the body, set if the attribute is hidden, that is removed or
     * replaced by an entry; NULL: none is hidden */
    uint64_t *hidden;
    struct ad_entry *entries;
    uint32_t *index; /* hash index: entry number + 1, 0 = free; NULL while count is small */
    const struct ad *chain;
    struct ad_text *texts;
    /* Bit fields: a schedd has an ad for each of a million jobs, and malloc() wastes least at 56
     * bytes. */
    /* number of entries, and entries allocated */
    uint64_t count : AD_ENTRIES_BITS, capacity : AD_ENTRIES_BITS;
    /* number of the body's attributes that are removed or replaced by an entry; a shape has at most
     * 65535 attributes */
    uint64_t hidden_count : 16;
    uint64_t index_bits : 5; /* log2 of the places in index */
    /* an attribute has, or had, a name such as MY that also means a side of a match */
    uint64_t has_special : 1;
};

_Static_assert(sizeof(struct ad) <= 56, "see the note");

/* most chained parents; a longer chain is a mistake of ours, or a ring */
#define AD_CHAINED_MAX 16

/* Returns whether the attribute at `place` of the body was removed or is replaced by an entry. */
static inline bool ad_is_hidden(const struct ad *ad, uint32_t place)
{
    return ad->hidden != NULL && (ad->hidden[place / 64] >> (place % 64) & 1) != 0;
}

/* Finds an entry of the ad by name (hash is that of ad_name_hash()); NULL: none. */
const struct ad_entry *ad_find_entry(const struct ad *ad, const char *text, size_t length,
                                     uint32_t hash);

/* The size of the ad's hash index in bytes. */
static inline size_t ad_index_size(const struct ad *ad)
{
    return ad->index != NULL ? sizeof(*ad->index) << ad->index_bits : 0;
}

/* The place where the value of an attribute is stored. */
struct ad_spot {
    const struct ad_expr *expr; /* the expression; NULL: the value is in body at `place` */
    const struct ad_body *body;
    uint32_t place;
};

const struct ad_expr *ad_spot_expr(const struct ad_spot *spot);
/* Returns the root of the expression of the value at spot.  If the value is a literal in a body,
 * the root is made in *literal, without allocation. */
const struct ad_node *ad_spot_node(const struct ad_spot *spot, struct ad_node *literal);

/* Evaluates expr as ad_eval() does without target and context, but with `steps` as the limit of
 * steps. */
void ad_eval_within(const struct ad_expr *expr, const struct ad *my, uint32_t steps,
                    struct ad_value *ret);

struct ad_item { /* one attribute of an ad */
    const char *name;
    uint32_t length;
    uint32_t hash;
    bool is_word; /* true: the name certainly prints without quotes; false: not known */
    struct ad_spot spot;
};

/* Sets *ret to the next of the ad's own attributes and returns true; false at the end.  The caller
 * sets *at to 0 before the first call. */
bool ad_walk(const struct ad *ad, size_t *at, struct ad_item *ret);
/* Sets *ret to the attribute at a position that ad_sorted() returned. */
void ad_item_at(const struct ad *ad, uint32_t position, struct ad_item *ret);

/* Sets *ret to the attribute of the ad's body at `place`, or to the entry that replaces it, and
 * returns true; false when the attribute was removed. */
bool ad_item_in_body(const struct ad *ad, uint32_t place, struct ad_item *ret);

/* Finds an attribute by name (hash is that of ad_name_hash()).  ad_find_spot() and ad_find() also
 * search the chained parents, ad_find_own() does not.  They return false or NULL when there is no
 * such attribute. */
bool ad_find_spot(const struct ad *ad, const char *text, size_t length, uint32_t hash,
                  struct ad_spot *ret);
bool ad_find_own(const struct ad *ad, const char *text, size_t length, uint32_t hash,
                 struct ad_spot *ret);
const struct ad_expr *ad_find(const struct ad *ad, const char *text, size_t length, uint32_t hash);

/* Whether ad or its parents may have an attribute whose name is a word of enum ad_special, such as
 * TARGET.  Nearly all ads have none, and then TARGET.x needs no lookup of TARGET. */
bool ad_may_have_special(const struct ad *ad);

/* Sets the attribute `name` to expr and takes ownership of expr.  untrusted: true when the ad comes
 * from outside (parsed or decoded), so that AD_ATTRS_MAX also holds.  Returns 0; -E2BIG when
 * AD_COLLISIONS_MAX or AD_ATTRS_MAX is exceeded; expr then stays the caller's. */
int ad_put(struct ad *ad, const char *name, size_t length, struct ad_expr *expr, bool untrusted);

/* The positions of the ad's own attributes, ad_count() of them, in printing order; release with
 * mem_free().  NULL for an empty ad. */
uint32_t *ad_sorted(const struct ad *ad);

/* Replaces all attributes of the ad by those of body.  The caller's ownership of body passes to the
 * ad; the chained parent stays. */
void ad_set_body(struct ad *ad, struct ad_body *body);

/* ---- printing ---- */

void ad_node_print(const struct ad_node *node, enum ad_syntax syntax, struct strbuf *out);
/* Appends the expression as ad_print_json() prints it, without private attributes of nested ads. */
void ad_node_print_json(const struct ad_node *node, struct strbuf *out);
void ad_print_json_string(const char *text, size_t length, struct strbuf *out);
/* Appends the expression as the ClassAd function unparse() prints it, with lists and ads over
 * several lines. */
void ad_node_print_lines(const struct ad_node *node, struct strbuf *out);
void ad_print_string(const char *text, size_t length, enum ad_syntax syntax, struct strbuf *out);
void ad_print_real(double real, enum ad_syntax syntax, struct strbuf *out);
/* Appends an attribute name, in single quotes when ad_name_is_word() is false for it; syntax says
 * how bytes in the quotes are escaped. */
void ad_print_name(const char *text, size_t length, enum ad_syntax syntax, struct strbuf *out);

#endif
