#include "CBenchmarks.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cbenchmarks_redis {
    redisContext *context;
    size_t unanswered;
};

cbenchmarks_redis *cbenchmarks_redis_connect(uint16_t port) {
    redisContext *context = redisConnect("127.0.0.1", port);
    if (!context || context->err) {
        if (context) redisFree(context);
        return NULL;
    }
    cbenchmarks_redis *redis = calloc(1, sizeof *redis);
    redis->context = context;
    return redis;
}

void cbenchmarks_redis_close(cbenchmarks_redis *redis) {
    redisFree(redis->context);
    free(redis);
}

bool cbenchmarks_redis_append(
    cbenchmarks_redis *redis, const char *topic, uint32_t partition, uint32_t most, const void *event, size_t length) {
    char head[512];
    char stream[256];
    int name = snprintf(stream, sizeof stream, "%s:{%u}", topic, partition);
    int count;
    if (most > 0) {
        char limit[16];
        int digits = snprintf(limit, sizeof limit, "%u", most);
        count = snprintf(
            head, sizeof head,
            "*8\r\n$4\r\nXADD\r\n$%d\r\n%s\r\n$6\r\nMAXLEN\r\n$1\r\n~\r\n$%d\r\n%s\r\n$1\r\n*\r\n$5\r\nevent\r\n$%zu\r\n", name,
            stream, digits, limit, length);
    } else {
        count = snprintf(
            head, sizeof head, "*5\r\n$4\r\nXADD\r\n$%d\r\n%s\r\n$1\r\n*\r\n$5\r\nevent\r\n$%zu\r\n", name, stream, length);
    }
    redisContext *context = redis->context;
    if (redisAppendFormattedCommand(context, head, (size_t)count) != REDIS_OK) return false;
    if (redisAppendFormattedCommand(context, event, length) != REDIS_OK) return false;
    if (redisAppendFormattedCommand(context, "\r\n", 2) != REDIS_OK) return false;
    redis->unanswered += 1;
    return true;
}

bool cbenchmarks_redis_settle(cbenchmarks_redis *redis) {
    for (; redis->unanswered > 0; redis->unanswered -= 1) {
        redisReply *reply = NULL;
        if (redisGetReply(redis->context, (void **)&reply) != REDIS_OK) return false;
        bool isRefused = reply->type == REDIS_REPLY_ERROR;
        freeReplyObject(reply);
        if (isRefused) return false;
    }
    return true;
}

bool cbenchmarks_redis_read(
    cbenchmarks_redis *redis, const char *topic, uint32_t partitions, uint32_t count, uint64_t *entries, uint64_t *bytes) {
    const size_t words = 4 + 2 * (size_t)partitions;
    const char **command = calloc(words, sizeof *command);
    size_t *lengths = calloc(words, sizeof *lengths);
    char (*streams)[256] = calloc(partitions, sizeof *streams);
    char (*after)[64] = calloc(partitions, sizeof *after);
    char limit[16];
    snprintf(limit, sizeof limit, "%u", count);
    command[0] = "XREAD", command[1] = "COUNT", command[2] = limit, command[3] = "STREAMS";
    for (uint32_t partition = 0; partition < partitions; partition++) {
        snprintf(streams[partition], sizeof streams[partition], "%s:{%u}", topic, partition);
        snprintf(after[partition], sizeof after[partition], "0-0");
        command[4 + partition] = streams[partition];
        command[4 + partitions + partition] = after[partition];
    }
    bool isRead = false;
    for (;;) {
        for (size_t word = 0; word < words; word++) lengths[word] = strlen(command[word]);
        redisReply *reply = redisCommandArgv(redis->context, (int)words, command, lengths);
        if (!reply || reply->type == REDIS_REPLY_ERROR) {
            if (reply) freeReplyObject(reply);
            break;
        }
        if (reply->type != REDIS_REPLY_ARRAY) {
            freeReplyObject(reply);
            isRead = true;
            break;
        }
        for (size_t stream = 0; stream < reply->elements; stream++) {
            const redisReply *name = reply->element[stream]->element[0], *read = reply->element[stream]->element[1];
            uint32_t partition = 0;
            while (partition < partitions && strcmp(streams[partition], name->str) != 0) partition++;
            for (size_t entry = 0; entry < read->elements; entry++) {
                const redisReply *fields = read->element[entry]->element[1];
                *bytes += fields->element[1]->len;
            }
            *entries += read->elements;
            if (partition < partitions && read->elements > 0) {
                const redisReply *last = read->element[read->elements - 1]->element[0];
                snprintf(after[partition], sizeof after[partition], "%s", last->str);
            }
        }
        freeReplyObject(reply);
    }
    free(command), free(lengths), free(streams), free(after);
    return isRead;
}
