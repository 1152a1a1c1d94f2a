// simdjson's first stage behind a C interface: it checks UTF-8 and strings at vector speed and says where each token begins.
// The grammar above it is walked in Swift, since events need what simdjson's own second stage does not give: the text of each
// number, duplicate keys found, numbers beyond double told apart from broken ones.
#ifndef WAYPULSE_CSIMDJSON_H
#define WAYPULSE_CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "PlainText.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csimdjson_indexer csimdjson_indexer;

typedef enum {
    csimdjson_indexed = 0,
    csimdjson_empty,
    csimdjson_invalid_utf8,
    csimdjson_unclosed_string,
    csimdjson_control_character,
    csimdjson_no_memory,
    csimdjson_failed
} csimdjson_status;

/// NULL where memory is short. An indexer is used by one thread at a time.
csimdjson_indexer *csimdjson_create(void);
void csimdjson_destroy(csimdjson_indexer *indexer);

/// Finds where the tokens of `bytes` begin: each of { } [ ] : , and the first byte of each string and scalar.
/// `positions` stays valid until the next call for the same indexer. No padding behind `bytes` is needed.
csimdjson_status csimdjson_index(
    csimdjson_indexer *indexer, const uint8_t *bytes, size_t length, const uint32_t **positions, size_t *count);

/// Whether simdjson's complete DOM parser takes the text: the oracle that the own grammar is tested against.
bool csimdjson_accepts(const uint8_t *bytes, size_t length, size_t depth);

#ifdef __cplusplus
}
#endif

#endif
