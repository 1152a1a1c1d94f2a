// Sixteen bytes at a time, which Swift's own vectors do not give: they have no mask of the bytes that matched.
#ifndef WAYPULSE_PLAIN_TEXT_H
#define WAYPULSE_PLAIN_TEXT_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/// The first byte from `start` on that is not plain inside a JSON string: a quote, a backslash, a control character, or anything beyond
/// ASCII; `end` where there is none. Reads nothing from `end` on.
static inline const uint8_t *csimdjson_end_of_plain(const uint8_t *start, const uint8_t *end) {
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
    while (end - start >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)start);
        // Compared with signs, so that what lies beyond ASCII is below the space too.
        const __m128i marks = _mm_or_si128(
            _mm_cmplt_epi8(bytes, space), _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        const int mask = _mm_movemask_epi8(marks);
        if (mask != 0) return start + __builtin_ctz((unsigned)mask);
        start += 16;
    }
#endif
    while (start < end && *start >= 0x20 && *start < 0x80 && *start != '"' && *start != '\\') start++;
    return start;
}

#endif
