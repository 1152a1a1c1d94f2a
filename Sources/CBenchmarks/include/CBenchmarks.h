// What the benchmarks need of C and C++: simdjson, hiredis and librdkafka as rivals, a count of allocations, and what goes to sockets.
#ifndef WAYPULSE_CBENCHMARKS_H
#define WAYPULSE_CBENCHMARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cbenchmarks_rival cbenchmarks_rival;

typedef struct {
    bool isPosition;
    /// Into the message, without the quotes.
    const char *activityId;
    size_t activityIdLength;
    const char *eventId;
    size_t eventIdLength;
    double timestamp, latitude, longitude, accuracy, speed, heading, altitude, etaTimestamp;
} cbenchmarks_event;

cbenchmarks_rival *cbenchmarks_rival_create(void);
void cbenchmarks_rival_destroy(cbenchmarks_rival *rival);

/// Reads a position or a status with simdjson's on-demand parser, in place: `capacity` bytes of memory may be read, which must be
/// 32 more than `length` at the least. False where it is no such event.
bool cbenchmarks_rival_decode(
    cbenchmarks_rival *rival, const uint8_t *bytes, size_t length, size_t capacity, cbenchmarks_event *event);

/// Calls of malloc and its kin by this thread so far.
uint64_t cbenchmarks_allocations(void);

/// TLS records that this process has written, and the bytes in them before they were encrypted.
uint64_t cbenchmarks_writes(void);
uint64_t cbenchmarks_written_bytes(void);

/// From now on, whenever a written record holds `mark` and a decimal number below `count` behind it, the time is kept. Called once, before
/// there are connections.
void cbenchmarks_watch_writes(const char *mark, size_t count);

/// When the record with this number had gone to the socket, nanoseconds of CLOCK_MONOTONIC; 0 where none has.
int64_t cbenchmarks_written_at(size_t number);

/// Has this thread's sleeps end when they should, rather than up to 50 µs later.
void cbenchmarks_sleep_exactly(void);

typedef struct cbenchmarks_redis cbenchmarks_redis;

/// A connection to the Redis on a port of loopback; NULL where there is none.
cbenchmarks_redis *cbenchmarks_redis_connect(uint16_t port);
void cbenchmarks_redis_close(cbenchmarks_redis *redis);

/// Sends the XADD of an event to a stream of a topic with the next `cbenchmarks_redis_settle`, which waits for the answers. `most` is how many
/// entries the stream keeps, about; 0 keeps all.
bool cbenchmarks_redis_append(
    cbenchmarks_redis *redis, const char *topic, uint32_t partition, uint32_t most, const void *event, size_t length);
bool cbenchmarks_redis_settle(cbenchmarks_redis *redis);

/// What anybody would write with hiredis: one XREAD of all streams of a topic at a time, from their beginnings to their ends. Counts the entries and
/// the bytes of their first values.
bool cbenchmarks_redis_read(
    cbenchmarks_redis *redis, const char *topic, uint32_t partitions, uint32_t count, uint64_t *entries, uint64_t *bytes);

typedef struct cbenchmarks_kafka cbenchmarks_kafka;

/// A producer for a topic; NULL where that cannot be made. Nothing is asked of a broker yet. `linger` is in milliseconds.
cbenchmarks_kafka *cbenchmarks_kafka_connect(const char *servers, const char *topic, uint32_t linger);
void cbenchmarks_kafka_close(cbenchmarks_kafka *kafka);

/// Copies an event into what waits to be sent, and waits itself where that is full. False where anything failed so far.
bool cbenchmarks_kafka_append(
    cbenchmarks_kafka *kafka, uint32_t partition, const void *key, size_t keyLength, const void *event, size_t length);
/// Hears what has been answered.
bool cbenchmarks_kafka_turn(cbenchmarks_kafka *kafka);
/// Waits until all is answered.
bool cbenchmarks_kafka_settle(cbenchmarks_kafka *kafka);

typedef struct {
    uint64_t records, bytes;
    /// Of the clock on the wall, and of all threads of the process.
    double seconds, cpuSeconds;
} cbenchmarks_reading;

/// What anybody would write with librdkafka: one record at a time from all partitions, each from its offset, with the settings that the library
/// comes with, until it has `count` of them. What that takes is counted from the making of the client on, since it fetches far ahead.
bool cbenchmarks_kafka_read(
    const char *servers, const char *topic, const int64_t *from, uint32_t partitions, uint64_t count, cbenchmarks_reading *reading);

/// The same loop in a hurry, with `fetch.wait.max.ms` of 10: how many milliseconds after its making each record came, by their number, those of
/// `most` and beyond in the last place.
bool cbenchmarks_kafka_listen(
    const char *servers, const char *topic, uint32_t partitions, uint64_t count, uint64_t *delays, uint32_t most);

/// Has malloc give back to the system what it holds and nobody uses.
void cbenchmarks_give_back_memory(void);

#ifdef __cplusplus
}
#endif

#endif
