#include "CSimdjson.h"

#include <memory>
#include <new>
#include <simdjson.h>

struct csimdjson_indexer {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> stage;
};

namespace {

// The second stage is not run, so its stack of depths may be of the smallest size.
constexpr size_t smallestDepth = 1;
constexpr size_t smallestCapacity = 4096;

}  // namespace

csimdjson_indexer *csimdjson_create(void) {
    std::unique_ptr<csimdjson_indexer> indexer(new (std::nothrow) csimdjson_indexer);
    if (!indexer) return nullptr;
    auto error = simdjson::get_active_implementation()->create_dom_parser_implementation(
        smallestCapacity, smallestDepth, indexer->stage);
    if (error) return nullptr;
    return indexer.release();
}

void csimdjson_destroy(csimdjson_indexer *indexer) { delete indexer; }

csimdjson_status csimdjson_index(
    csimdjson_indexer *indexer, const uint8_t *bytes, size_t length, const uint32_t **positions, size_t *count) {
    if (length == 0) return csimdjson_empty;
    if (length > indexer->stage->capacity() && indexer->stage->set_capacity(length)) return csimdjson_no_memory;
    auto error = indexer->stage->stage1(bytes, length, simdjson::stage1_mode::regular);
    switch (error) {
        case simdjson::SUCCESS: break;
        case simdjson::EMPTY: return csimdjson_empty;
        case simdjson::UTF8_ERROR: return csimdjson_invalid_utf8;
        case simdjson::UNCLOSED_STRING: return csimdjson_unclosed_string;
        case simdjson::UNESCAPED_CHARS: return csimdjson_control_character;
        case simdjson::MEMALLOC: return csimdjson_no_memory;
        default: return csimdjson_failed;
    }
    *positions = indexer->stage->structural_indexes.get();
    *count = indexer->stage->n_structural_indexes;
    return csimdjson_indexed;
}

bool csimdjson_accepts(const uint8_t *bytes, size_t length, size_t depth) {
    simdjson::dom::parser parser;
    if (parser.allocate(length + 1, depth)) return false;
    return parser.parse(bytes, length, true).error() == simdjson::SUCCESS;
}
