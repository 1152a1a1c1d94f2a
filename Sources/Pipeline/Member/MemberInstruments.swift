import Flow
import Instruments

/// What a member of a group counts beside its lane.
final class MemberInstruments {
    enum StageLabel: String, MetricLabel {
        case dispatch, load, save, renew, release
        static var labelName: String { "stage" }
    }

    private let partitionsOwned: Gauge<NoLabel>
    private let claimed: Counter<NoLabel>
    private let released: Counter<NoLabel>
    private let lost: Counter<NoLabel>
    private let drainsCutShort: Counter<NoLabel>
    private let checkpoints: Counter<NoLabel>
    private let saves: Counter<NoLabel>
    private let loaded: Counter<NoLabel>
    private let forced: Counter<NoLabel>
    private let storeFailures: Counter<NoLabel>
    private let setbacks: Counter<NoLabel>
    private let unmirrored: Counter<NoLabel>
    private let evictions: Counter<NoLabel>
    let fenced: Counter<StageLabel>
    let unusableCheckpoints: Counter<NoLabel>
    let gaps: Counter<NoLabel>
    let trimmedEntries: Counter<NoLabel>
    let rewinds: Counter<NoLabel>
    private let lagEntries: Gauge<NoLabel>
    private let lagMilliseconds: Gauge<NoLabel>
    private let unsettled: Gauge<NoLabel>
    private var published = MemberCounts()
    private var publishedFenced = 0
    private var publishedEvictions = 0
    private var publishedUnmirrored = 0

    init(registry: Registry) {
        partitionsOwned = registry.gauge("waypulse_partitions_owned", help: "Partitions that this process owns.")
        claimed = registry.counter("waypulse_partitions_claimed_total", help: "Partitions taken over.")
        released = registry.counter("waypulse_partitions_released_total", help: "Partitions handed over.")
        lost = registry.counter(
            "waypulse_partitions_lost_total", help: "Partitions whose lease lapsed or that another process took.")
        drainsCutShort = registry.counter(
            "waypulse_drains_cut_short_total", help: "Hand-overs that did not wait any longer for pushes under way.")
        checkpoints = registry.counter("waypulse_checkpoints_total", help: "Checkpoints that the store has confirmed.")
        saves = registry.counter(
            "waypulse_saves_total", help: "Round trips that saved checkpoints and positions, confirmed.")
        loaded = registry.counter("waypulse_activities_loaded_total", help: "Activities restored from a checkpoint.")
        forced = registry.counter(
            "waypulse_checkpoints_forced_total",
            help: "Times that what waited too long was saved, so that the position could pass it.")
        storeFailures = registry.counter("waypulse_store_failures_total", help: "Requests that the store did not do.")
        setbacks = registry.counter(
            "waypulse_store_setbacks_total",
            help: "Times that the store had forgotten what it had called saved, counted once a partition.")
        unmirrored = registry.counter(
            "waypulse_unmirrored_saves_total",
            help: "Saves after which the consumer group of a stream could not be moved to the saved position.")
        evictions = registry.counter(
            "waypulse_evictions_total", help: "Settled activities that left memory until their next event.")
        fenced = registry.counter(
            "waypulse_fenced_total", by: StageLabel.self,
            help: "Work that was refused since its partition had another owner or none.")
        unusableCheckpoints = registry.counter(
            "waypulse_unusable_checkpoints_total", help: "Checkpoints that could not be read.")
        gaps = registry.counter(
            "waypulse_source_gaps_total", help: "Times that entries were trimmed before they were read.")
        trimmedEntries = registry.counter(
            "waypulse_source_trimmed_entries_total", help: "Entries that were trimmed before they were read.")
        rewinds = registry.counter(
            "waypulse_source_rewinds_total", help: "Times that a stream had lost its newest entries.")
        lagEntries = registry.gauge(
            "waypulse_source_lag_entries", help: "Entries of owned partitions that were not read yet.")
        lagMilliseconds = registry.gauge(
            "waypulse_source_lag_seconds", unit: .milliseconds, isMaximum: true,
            help: "Age of the oldest entry of owned partitions that was not read yet.")
        unsettled = registry.gauge(
            "waypulse_unsettled_records", help: "Records read that the stored positions have not passed.")
    }

    /// - Parameters, since the process began: pushes that workers refused, and saves that could not move a consumer group.
    func publish(
        _ member: Member, fencedPushes: Int, unmirroredSaves: Int, lag: (records: Int64, milliseconds: Int64)
    ) {
        unmirrored.add(Int64(unmirroredSaves - publishedUnmirrored))
        publishedUnmirrored = unmirroredSaves
        let counts = member.counts
        let owned = member.ownedPartitions
        partitionsOwned.set(Int64(owned.count))
        claimed.add(Int64(counts.partitionsClaimed - published.partitionsClaimed))
        released.add(Int64(counts.partitionsReleased - published.partitionsReleased))
        lost.add(Int64(counts.partitionsLost - published.partitionsLost))
        drainsCutShort.add(Int64(counts.drainsCutShort - published.drainsCutShort))
        checkpoints.add(Int64(counts.checkpointsSaved - published.checkpointsSaved))
        saves.add(Int64(counts.savesAcknowledged - published.savesAcknowledged))
        loaded.add(Int64(counts.activitiesLoaded - published.activitiesLoaded))
        forced.add(Int64(counts.checkpointsForced - published.checkpointsForced))
        setbacks.add(Int64(counts.storeSetbacks - published.storeSetbacks))
        storeFailures.add(Int64(counts.storeFailures - published.storeFailures))
        published = counts
        if fencedPushes > publishedFenced {
            fenced.add(Int64(fencedPushes - publishedFenced), .dispatch)
            publishedFenced = fencedPushes
        }
        let evicted = member.evictions
        if evicted > publishedEvictions { evictions.add(Int64(evicted - publishedEvictions)) }
        publishedEvictions = evicted
        lagEntries.set(lag.records)
        lagMilliseconds.set(lag.milliseconds)
        var open: Int64 = 0
        for partition in owned {
            for source in 0..<member.settings.sources {
                open += member.unsettledRecords(partition: partition, source: source)
            }
        }
        unsettled.set(open)
    }
}
