import Flow
import Pacing

extension StoreRequest {
    /// For a store that keeps positions alone.
    var withoutCheckpoints: StoreRequest {
        guard case .save(let partition, let epoch, let batch) = self else { return self }
        return .save(
            partition: partition, epoch,
            CheckpointBatch(
                bytes: [], entries: [], positions: batch.positions, serial: batch.serial,
                acknowledged: batch.acknowledged))
    }
}
