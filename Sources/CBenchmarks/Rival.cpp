// On-demand is inlined into its caller, so it and its caller are compiled for the instructions that simdjson would choose at run time
// on an x86-64 server of the last ten years; elsewhere for what the compiler takes for granted.
#if defined(__x86_64__)
#define SIMDJSON_BUILTIN_IMPLEMENTATION haswell
#pragma clang attribute push(__attribute__((target("avx2,bmi,pclmul,lzcnt"))), apply_to = function)
#endif
#include <simdjson.h>

#include <new>

#include "CBenchmarks.h"

namespace ondemand = simdjson::ondemand;

namespace {

bool read(ondemand::value value, double &number) { return !value.get_double().get(number); }

bool read(ondemand::value value, const char *&text, size_t &length) {
    std::string_view view;
    if (value.get_string().get(view)) return false;
    text = view.data();
    length = view.size();
    return true;
}

bool readContentState(ondemand::value value, cbenchmarks_event &event) {
    ondemand::object object;
    if (value.get_object().get(object)) return false;
    for (auto field : object) {
        std::string_view key;
        if (field.unescaped_key().get(key)) return false;
        const char *text;
        size_t length;
        bool isRead = key == "etaTimestamp" ? read(field.value(), event.etaTimestamp) : read(field.value(), text, length);
        if (!isRead) return false;
    }
    return true;
}

bool readField(std::string_view key, ondemand::value value, cbenchmarks_event &event) {
    if (key == "type") {
        std::string_view type;
        if (value.get_string().get(type)) return false;
        event.isPosition = type == "position";
        return event.isPosition || type == "status";
    }
    if (key == "eventId") return read(value, event.eventId, event.eventIdLength);
    if (key == "activityId") return read(value, event.activityId, event.activityIdLength);
    if (key == "timestamp") return read(value, event.timestamp);
    if (key == "latitude") return read(value, event.latitude);
    if (key == "longitude") return read(value, event.longitude);
    if (key == "accuracy") return read(value, event.accuracy);
    if (key == "speed") return read(value, event.speed);
    if (key == "heading") return read(value, event.heading);
    if (key == "altitude") return read(value, event.altitude);
    if (key == "contentState") return readContentState(value, event);
    const char *text;
    size_t length;
    return key == "status" && read(value, text, length);
}

}  // namespace

struct cbenchmarks_rival {
    // Written out, since the attribute above reaches no function that is not.
    cbenchmarks_rival() {}
    ~cbenchmarks_rival() {}
    ondemand::parser parser;
};

cbenchmarks_rival *cbenchmarks_rival_create(void) { return new (std::nothrow) cbenchmarks_rival; }

void cbenchmarks_rival_destroy(cbenchmarks_rival *rival) { delete rival; }

bool cbenchmarks_rival_decode(
    cbenchmarks_rival *rival, const uint8_t *bytes, size_t length, size_t capacity, cbenchmarks_event *event) {
    ondemand::document document;
    simdjson::padded_string_view text(reinterpret_cast<const char *>(bytes), length, capacity);
    if (rival->parser.iterate(text).get(document)) return false;
    ondemand::object object;
    if (document.get_object().get(object)) return false;
    for (auto field : object) {
        std::string_view key;
        if (field.unescaped_key().get(key)) return false;
        if (!readField(key, field.value(), *event)) return false;
    }
    return true;
}

#if defined(__x86_64__)
#pragma clang attribute pop
#endif
