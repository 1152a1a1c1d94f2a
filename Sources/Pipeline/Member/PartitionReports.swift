import Flow
import Instruments
import Storage
import Streams

/// Tells how each partition stands: machines by metrics, the group's other members and people by the status board.
final class PartitionReports {
    private let table: GaugeTable
    private let board: StatusBoard
    private let source: any MemberSource
    private var nextWriteMilliseconds = Int64.min

    private static let writeMilliseconds: Int64 = 1_000

    init(registry: Registry, board: StatusBoard, source: any MemberSource) {
        table = registry.table(labelNames: ["topic", "partition"], columns: Self.columns)
        (self.board, self.source) = (board, source)
    }

    private static var columns: [GaugeTable.Column] {
        [
            GaugeTable.Column("waypulse_partition_read_offset", help: "Offset behind the last record read (Kafka)."),
            GaugeTable.Column(
                "waypulse_partition_settled_offset",
                help: "Offset behind the stored position: where the next owner goes on (Kafka)."),
            GaugeTable.Column(
                "waypulse_partition_committed_offset", help: "Offset that the consumer group has committed (Kafka)."),
            GaugeTable.Column("waypulse_partition_end_offset", help: "Offset of the next record to come (Kafka)."),
            GaugeTable.Column("waypulse_partition_lag_records", help: "Records that were not read yet."),
            GaugeTable.Column(
                "waypulse_partition_lag_seconds", unit: .milliseconds,
                help: "Age of the oldest record that was not read yet; 0 where all were."),
            GaugeTable.Column(
                "waypulse_partition_unsettled_records", help: "Records read that the stored position has not passed."),
            GaugeTable.Column(
                "waypulse_partition_oldest_unsettled_seconds", unit: .milliseconds,
                help:
                    "How long ago the oldest record was read that keeps the position from moving on; 0 where none does."
            ),
        ]
    }

    /// - Parameter feeds: by partition.
    func publish(_ member: Member, _ feeds: [(any PartitionFeed)?], at moment: Moment) {
        let (now, wall) = (moment.realMilliseconds, moment.pacing.wallMilliseconds)
        let isWriteDue = now >= nextWriteMilliseconds
        if isWriteDue { nextWriteMilliseconds = now + Self.writeMilliseconds }
        var rows: [GaugeTable.Row] = []
        for partition in member.ownedPartitions {
            let lags = feeds[Int(partition)]?.lags(nowMilliseconds: now, wallMilliseconds: wall)
            let statuses = (0..<member.settings.sources).map { place in
                status(member, partition, place, lags?[place], moment)
            }
            if isWriteDue { board.write(statuses, of: partition, atMilliseconds: wall) }
            for (place, status) in statuses.enumerated() { rows.append(row(member, partition, place, status)) }
        }
        table.set(rows)
    }

    private func status(
        _ member: Member, _ partition: Int32, _ place: Int, _ lag: SourceLag?, _ moment: Moment
    ) -> PartitionStatus {
        var status = PartitionStatus()
        status.readOffset = member.progress(partition: partition, source: place).read?.offset
        status.endOffset = lag?.endOffset
        status.lagRecords = lag?.records
        status.lagMilliseconds = lag?.milliseconds ?? 0
        status.unsettledRecords = member.unsettledRecords(partition: partition, source: place)
        status.oldestUnsettledMilliseconds = member.oldestUnsettledMilliseconds(
            partition: partition, source: place, at: moment)
        return status
    }

    private func row(_ member: Member, _ partition: Int32, _ place: Int, _ status: PartitionStatus) -> GaugeTable.Row {
        // An entry's id is no number that one could subtract.
        let isNumbered = if case .topics = source.names { true } else { false }
        let settled = member.progress(partition: partition, source: place).settled?.offset
        return GaugeTable.Row(
            labels: [source.names.topics[place], "\(partition)"],
            values: [
                isNumbered ? status.readOffset.map { $0 + 1 } : nil, isNumbered ? settled.map { $0 + 1 } : nil,
                source.committed(partition, source: place), status.endOffset, status.lagRecords, status.lagMilliseconds,
                status.unsettledRecords, status.oldestUnsettledMilliseconds,
            ])
    }
}
