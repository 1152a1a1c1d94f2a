import Testing

@testable import KafkaClient

@Suite struct StatisticsTests {
    @Test func whatIsWantedIsFoundAmongTheRest() {
        let json = """
            { "name": "x#1", "replyq": 0, "msg_cnt":7, "simple_cnt":0, "age": -1, "ratio": 1.5e3, "list":[1,[],{"a":null}],
              "brokers":{
                "a:9092/1": { "name":"a:9092/1", "nodeid":1, "state":"UP", "rxidle":5, "rtt": { "min":1, "avg":812, "cnt":3 }},
                "b:9092/2": { "nodeid":2, "state":"DOWN", "rtt": { "avg":0 } },
                "a:9092/bootstrap": { "nodeid":-1, "state":"UP", "rtt": { "avg":0 } },
                "GroupCoordinator": { "nodeid":1, "state":"UP", "rxidle":2500999 } },
              "topics":{ "rides":{ "topic":"rides", "batchsize": {"avg":1}, "partitions":{
                "0": { "partition":0, "leader":1, "fetchq_cnt":3, "fetchq_size":612, "hi_offset":90, "lo_offset":10, "stored_offset":80, "committed_offset":-1001 },
                "1": { "partition":1, "leader":2 }, "2": { "partition":2, "leader":-1 },
                "-1": { "partition":-1, "fetchq_cnt":0 } } } },
              "cgrp": { "state": "up", "join_state": "steady", "rebalance_cnt": 4 }, "tx":0 }
            """
        let statistics = KafkaStatistics(json: json)
        var rides = KafkaStatistics.Partition(partition: KafkaTopicPartition("rides", 0))
        (rides.queuedRecords, rides.queuedBytes) = (3, 612)
        (rides.lowOffset, rides.highOffset, rides.storedOffset) = (10, 90, 80)
        rides.leader = 1
        rides.isLeaderUp = true
        #expect(statistics?.partitions.first == rides)
        #expect(statistics?.partitions.map(\.isLeaderUp) == [true, false, nil])
        #expect(statistics?.brokers == 2)
        #expect(statistics?.brokersUp == 1)
        #expect(statistics?.coordinatorSilenceMilliseconds == 2_500)
        #expect(statistics?.roundTripMicroseconds == 812)
        #expect(statistics?.waitingRecords == 7)
        #expect(statistics?.rebalances == 4)
    }

    @Test(arguments: [
        "", "{", "[1]", "{\"a\"", "{\"a\":", "{\"a\":\"b", "{\"brokers\":{\"x\":{\"state\":\"UP\"", "{\"a\":1 \"b\":2}",
    ])
    func whatIsCutOffIsNoStatistics(_ json: String) {
        #expect(KafkaStatistics(json: json) == nil)
    }
}
