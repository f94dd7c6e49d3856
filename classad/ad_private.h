/* classad/ad_private.h - the trees, ads and names inside the library.  Not for other folders.
 *
 * A node is 24 bytes; the children of a node lie side by side in the expression's block, as do its
 * names and strings, so that an expression is one allocation and one walk through neighbouring
 * memory.  Ads written inside an expression are struct ad of their own, owned by the node.
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
    uint32_t owner_count; /* 0: lies inside an expression's block */
    uint32_t hash;        /* of the name in lower case */
    uint32_t length;
    char text[]; /* as first written, zero-terminated */
};

uint32_t ad_name_hash(const char *text, size_t length);
bool ad_name_equal(const char *a, const char *b, size_t length); /* ASCII case ignored */
/* The same; mostly both are written alike: then without a call. */
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

bool ad_name_is_reserved(const char *text,
                         size_t length); /* true false undefined error is isnt, and parent */
bool ad_name_is_word(const char *text, size_t length); /* prints without quotes */
bool ad_name_is_private(const char *text, size_t length);
extern const char *const ad_identity_names[]; /* by enum ad_identity */
/* A name's bit in a set of them; 0: it is none of them. */
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
    AD_NODE_UNDEFINED, /* the first eight have the order of enum ad_type */
    AD_NODE_ERROR,
    AD_NODE_BOOL,
    AD_NODE_INT,
    AD_NODE_REAL,
    AD_NODE_STRING,
    AD_NODE_ABSTIME,
    AD_NODE_RELTIME,
    AD_NODE_LIST,  /* children */
    AD_NODE_AD,    /* nested */
    AD_NODE_REF,   /* name; count 0: x, 1: child.x; op AD_REF_ABSOLUTE: .x */
    AD_NODE_UNARY, /* op, one child */
    AD_NODE_CHAIN, /* a op b op c ..., one precedence, from the left; each child but the first has
                      the op before it in link */
    AD_NODE_COND,  /* a ? b : c; three children */
    AD_NODE_ELSE,  /* a ?: b; two children */
    AD_NODE_SUBSCRIPT, /* a[b]; two children */
    AD_NODE_PAREN,     /* one child */
    AD_NODE_CALL,      /* name, children; op: index in the table of functions, or AD_CALL_UNKNOWN */
    AD_NODE_VALUE,     /* only in lists that evaluation makes, never in a block */
    AD_KIND_COUNT,
};

/* Words that mean an ad rather than an attribute, where no attribute has the name. */
enum ad_special {
    AD_SPECIAL_NONE,
    AD_SPECIAL_MY,     /* my, self */
    AD_SPECIAL_TARGET, /* target, other */
    AD_SPECIAL_PARENT,
    AD_SPECIAL_ROOT, /* root, toplevel */
    AD_SPECIAL_LEFT,
    AD_SPECIAL_RIGHT,
    AD_SPECIAL_TIME, /* CurrentTime: no ad, but time() */
};

enum ad_special ad_name_special(const char *text, size_t length);

#define AD_REF_ABSOLUTE 1
#define AD_CALL_UNKNOWN 255

/* Order within a precedence is free; the numbers are part of the binary form. */
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
    AD_OP_NOT, /* unary from here on */
    AD_OP_BIT_NOT,
    AD_OP_PLUS,
    AD_OP_MINUS,
    AD_OP_COUNT,
};

struct ad_node {
    uint8_t kind; /* enum ad_kind */
    uint8_t op;
    uint8_t link;    /* as a child of a chain: the operator before it */
    uint8_t special; /* of a reference in a block: enum ad_special */
    uint32_t count;  /* children; bytes of a string; zone of an absolute time as int32_t */
    union {
        bool boolean;
        int64_t integer; /* also seconds of an absolute time */
        double real;     /* also seconds of a relative time */
        const char *text;
        const struct ad_node *kids; /* of list, unary, chain, cond, else, subscript, paren */
        struct ad *nested;
        const struct ad_value *value;
        struct {
            const struct ad_name *name;
            const struct ad_node *kids;
        } named; /* ref and call */
    };
};

struct ad_expr {
    uint32_t owner_count;
    uint32_t bytes; /* of the whole block */
    uint16_t depth; /* nesting */
    bool has_ads;   /* some node is AD_NODE_AD: destroying must walk */
    struct ad_node root;
};

static inline const struct ad_node *ad_node_kids(const struct ad_node *node)
{
    return node->kind == AD_NODE_REF || node->kind == AD_NODE_CALL ? node->named.kids : node->kids;
}

/* How many nodes ad_node_kids() has: 0 for leaves (whose count means other things). */
static inline uint32_t ad_node_kid_count(const struct ad_node *node)
{
    return node->kind == AD_NODE_LIST || (node->kind >= AD_NODE_REF && node->kind <= AD_NODE_CALL)
               ? node->count
               : 0;
}

int ad_op_precedence(enum ad_op op); /* 0 lowest (||) ... ; binary operators only */

/* Copies a tree (built in an arena; names may be NULL-owned) into one block.  Nested ads move into
 * the block: the source must not be used again.  NULL: out of memory or too large; then the nested
 * ads still belong to the source. */
struct ad_expr *ad_expr_compact(const struct ad_node *root);
bool ad_node_same(const struct ad_node *a, const struct ad_node *b);

/* A name in an arena, for trees under construction; NULL when the arena is full. */
struct ad_name *ad_name_in(struct arena *arena, const char *text, size_t length);

/* ---- ads ---- */

/* An ad is a body (values as bytes, shared: ad_packed.h) with entries over it, or entries alone.
 * An attribute of the body that is hidden was removed, or an entry stands in its place. */
struct ad_body;

#define AD_NO_PLACE UINT32_MAX

struct ad_entry {
    struct ad_name *name;
    struct ad_expr *expr;
    uint32_t hash;
    uint32_t place; /* the attribute of the body that it stands for, or AD_NO_PLACE */
};

struct ad_text { /* a computed string kept for a caller of ad_get_string() */
    struct ad_text *next;
    char text[];
};

#define AD_ENTRIES_BITS 21

struct ad {
    struct ad_body *body; /* NULL: entries alone */
    uint64_t *hidden;     /* a bit for each attribute of the body; NULL: none */
    struct ad_entry *entries;
    uint32_t *index; /* places hold entry + 1, 0 free; NULL while count is small */
    const struct ad *chain;
    struct ad_text *texts;
    /* Packed: a schedd has an ad for each of a million jobs, and 56 bytes are what fits malloc. */
    uint64_t count : AD_ENTRIES_BITS, capacity : AD_ENTRIES_BITS; /* of entries */
    uint64_t hidden_count : 16;                                   /* a shape has no more */
    uint64_t index_bits : 5;                                      /* of a number of a place */
    uint64_t has_special : 1; /* an attribute is, or was, named like a side of a match: MY ... */
};

_Static_assert(sizeof(struct ad) <= 56, "see the note");

/* Bytes of its index. */
static inline size_t ad_index_size(const struct ad *ad)
{
    return ad->index != NULL ? sizeof(*ad->index) << ad->index_bits : 0;
}

/* Where the value of an attribute lies. */
struct ad_spot {
    const struct ad_expr *expr; /* NULL: in the body */
    const struct ad_body *body;
    uint32_t place;
};

const struct ad_expr *ad_spot_expr(const struct ad_spot *spot);
/* The root of the expression; a literal in a body is made in *literal and allocates nothing. */
const struct ad_node *ad_spot_node(const struct ad_spot *spot, struct ad_node *literal);

/* As ad_eval() without a target and a context, with fewer steps than that may take. */
void ad_eval_within(const struct ad_expr *expr, const struct ad *my, uint32_t steps,
                    struct ad_value *ret);

/* The value of a literal, as evaluation gives it. */
void ad_literal_value(const struct ad_node *literal, struct ad_value *ret);

struct ad_item { /* one attribute of an ad */
    const char *name;
    uint32_t length;
    uint32_t hash;
    bool is_word; /* known to print without quotes */
    struct ad_spot spot;
};

/* Walks like ad_next(). */
bool ad_walk(const struct ad *ad, size_t *at, struct ad_item *ret);
/* The attribute at a position that ad_sorted() gave. */
void ad_item_at(const struct ad *ad, uint32_t position, struct ad_item *ret);

/* The attribute in a place of the body, or the entry that stands there; false: it was removed. */
bool ad_item_in_body(const struct ad *ad, uint32_t place, struct ad_item *ret);

/* Of ad itself or its chained parents; name as text with its hash. */
bool ad_find_spot(const struct ad *ad, const char *text, size_t length, uint32_t hash,
                  struct ad_spot *ret);
bool ad_find_own(const struct ad *ad, const char *text, size_t length, uint32_t hash,
                 struct ad_spot *ret);
const struct ad_expr *ad_find(const struct ad *ad, const char *text, size_t length, uint32_t hash);

/* May ad or its parents have an attribute whose name is one of enum ad_special?  (Nearly none has:
 * TARGET.x costs no lookup.) */
bool ad_may_have_special(const struct ad *ad);

/* Sets name (length given) to expr, which is taken.  -E2BIG when AD_COLLISIONS_MAX is crossed or,
 * untrusted, AD_ATTRS_MAX; expr then still is the caller's. */
int ad_put(struct ad *ad, const char *name, size_t length, struct ad_expr *expr, bool untrusted);

/* Of the ad's own attributes, ad_count() of them, the positions in the order in which they print;
 * mem_free().  NULL for an empty ad. */
uint32_t *ad_sorted(const struct ad *ad);

/* Takes body (an owner) in place of all that ad has; the chaining stays. */
void ad_set_body(struct ad *ad, struct ad_body *body);

/* ---- printing ---- */

void ad_node_print(const struct ad_node *node, enum ad_syntax syntax, struct strbuf *out);
/* As ad_print_json() does, without private attributes. */
void ad_node_print_json(const struct ad_node *node, struct strbuf *out);
void ad_print_json_string(const char *text, size_t length, struct strbuf *out);
/* As unparse() does: lists and ads over several lines. */
void ad_node_print_lines(const struct ad_node *node, struct strbuf *out);
void ad_print_string(const char *text, size_t length, enum ad_syntax syntax, struct strbuf *out);
void ad_print_real(double real, enum ad_syntax syntax, struct strbuf *out);
/* In quotes where the name is not a plain word. */
void ad_print_name(const char *text, size_t length, enum ad_syntax syntax, struct strbuf *out);

#endif
