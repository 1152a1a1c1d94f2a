#include "CBenchmarks.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cbenchmarks_kafka {
    rd_kafka_t *client;
    rd_kafka_topic_t *topic;
    uint64_t failed;
};

static bool set(rd_kafka_conf_t *settings, const char *name, const char *value) {
    char problem[256];
    return rd_kafka_conf_set(settings, name, value, problem, sizeof problem) == RD_KAFKA_CONF_OK;
}

static void answered(rd_kafka_t *client, const rd_kafka_message_t *message, void *context) {
    (void)client;
    if (message->err) ((cbenchmarks_kafka *)context)->failed += 1;
}

cbenchmarks_kafka *cbenchmarks_kafka_connect(const char *servers, const char *topic, uint32_t linger) {
    cbenchmarks_kafka *kafka = calloc(1, sizeof *kafka);
    rd_kafka_conf_t *settings = rd_kafka_conf_new();
    char problem[256], milliseconds[16];
    snprintf(milliseconds, sizeof milliseconds, "%u", linger);
    rd_kafka_conf_set_opaque(settings, kafka);
    rd_kafka_conf_set_dr_msg_cb(settings, answered);
    bool isSet = set(settings, "bootstrap.servers", servers) && set(settings, "linger.ms", milliseconds)
        && set(settings, "queue.buffering.max.messages", "500000") && set(settings, "log_level", "3");
    kafka->client = isSet ? rd_kafka_new(RD_KAFKA_PRODUCER, settings, problem, sizeof problem) : NULL;
    kafka->topic = kafka->client ? rd_kafka_topic_new(kafka->client, topic, NULL) : NULL;
    if (!kafka->topic) {
        if (kafka->client) rd_kafka_destroy(kafka->client);
        free(kafka);
        return NULL;
    }
    return kafka;
}

void cbenchmarks_kafka_close(cbenchmarks_kafka *kafka) {
    rd_kafka_topic_destroy(kafka->topic);
    rd_kafka_destroy(kafka->client);
    free(kafka);
}

bool cbenchmarks_kafka_append(
    cbenchmarks_kafka *kafka, uint32_t partition, const void *key, size_t keyLength, const void *event, size_t length) {
    while (rd_kafka_produce(
               kafka->topic, (int32_t)partition, RD_KAFKA_MSG_F_COPY, (void *)event, length, key, keyLength, NULL)
        != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
        rd_kafka_poll(kafka->client, 10);
    }
    return kafka->failed == 0;
}

bool cbenchmarks_kafka_turn(cbenchmarks_kafka *kafka) {
    rd_kafka_poll(kafka->client, 0);
    return kafka->failed == 0;
}

bool cbenchmarks_kafka_settle(cbenchmarks_kafka *kafka) {
    return rd_kafka_flush(kafka->client, 60000) == RD_KAFKA_RESP_ERR_NO_ERROR && kafka->failed == 0;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// A client that has all partitions assigned, each from its offset in `from`, or from the beginning where that is NULL.
static rd_kafka_t *assigned(const char *servers, const char *topic, const int64_t *from, uint32_t partitions, const char *wait) {
    rd_kafka_conf_t *settings = rd_kafka_conf_new();
    char problem[256];
    if (!set(settings, "bootstrap.servers", servers) || !set(settings, "group.id", "reader-of-the-benchmark")
        || !set(settings, "enable.auto.commit", "false") || !set(settings, "log_level", "3")
        || (wait && !set(settings, "fetch.wait.max.ms", wait)))
        return NULL;
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, settings, problem, sizeof problem);
    if (!client) return NULL;
    rd_kafka_poll_set_consumer(client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)partitions);
    for (uint32_t number = 0; number < partitions; number++)
        rd_kafka_topic_partition_list_add(list, topic, (int32_t)number)->offset = from ? from[number] : RD_KAFKA_OFFSET_BEGINNING;
    const bool isAssigned = rd_kafka_assign(client, list) == RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_topic_partition_list_destroy(list);
    if (isAssigned) return client;
    rd_kafka_destroy(client);
    return NULL;
}

bool cbenchmarks_kafka_listen(
    const char *servers, const char *topic, uint32_t partitions, uint64_t count, uint64_t *delays, uint32_t most) {
    rd_kafka_t *client = assigned(servers, topic, NULL, partitions, "10");
    if (!client) return false;
    uint64_t records = 0;
    while (records < count) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 20000);
        if (!message) break;
        if (!message->err) {
            rd_kafka_timestamp_type_t kind;
            const double delay = seconds(CLOCK_REALTIME) * 1e3 - (double)rd_kafka_message_timestamp(message, &kind);
            delays[delay < 0 ? 0 : delay < most - 1 ? (uint32_t)delay : most - 1] += 1;
            records += 1;
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    return records == count;
}

bool cbenchmarks_kafka_read(
    const char *servers, const char *topic, const int64_t *from, uint32_t partitions, uint64_t count, cbenchmarks_reading *reading) {
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    rd_kafka_t *client = assigned(servers, topic, from, partitions, NULL);
    if (!client) return false;
    uint64_t records = 0;
    while (records < count) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 20000);
        if (!message) break;
        if (!message->err) {
            records += 1;
            reading->bytes += message->len;
        }
        rd_kafka_message_destroy(message);
    }
    reading->records = records;
    reading->seconds = seconds(CLOCK_MONOTONIC) - wall;
    reading->cpuSeconds = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    rd_kafka_consumer_close(client);
    rd_kafka_destroy(client);
    return records == count;
}
