extension Member {
    /// The answer to a request. One that came too late to matter changes nothing.
    public func answer(_ identifier: UInt64, _ answer: StoreAnswer, at moment: Moment) {
        guard let question = asked.removeValue(forKey: identifier) else { return }
        if case .failed(let failure) = answer {
            counts.storeFailures += 1
            notices.append(.storeFailed(failure, partition: question.request.partition))
        }
        switch question.request {
        case .beat:
            isBeating = false
            if case .alive(let members, let isNew) = answer, !keepsSpread(isNew: isNew, moment) {
                heard(members, moment)
            }
        case .leave:
            isStopped = true
        case .claim(let number):
            answerClaim(partitions[Int(number)], question, answer, moment)
        case .renew(let number, let epoch, let acknowledged):
            guard let partition = owned(number, epoch) else { return }
            switch answer {
            case .renewed: renewed(partition, askedAtMilliseconds: question.askedAtMilliseconds)
            case .behind:
                renewed(partition, askedAtMilliseconds: question.askedAtMilliseconds)
                writeAgain(partition, acknowledged: acknowledged)
            case .lost: lose(partition, at: .renew)
            case .forgotten:
                partition.renewalAskedAtMilliseconds = nil
                reclaim(partition, moment)
            default:
                partition.renewalAskedAtMilliseconds = nil
                partition.nextRenewalMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
            }
        case .release(let number, let epoch, let acknowledged):
            let partition = partitions[Int(number)]
            guard partition.phase == .releasing, partition.epoch == epoch else { return }
            switch answer {
            case .released:
                counts.partitionsReleased += 1
                notices.append(.released(partition: number, positions: partition.sources.map(\.settled)))
                letGo(partition)
            case .behind:
                partition.isReleaseUnderWay = false
                partition.phase = .saving(untilMilliseconds: moment.realMilliseconds + settings.leaseMilliseconds)
                writeAgain(partition, acknowledged: acknowledged)
            case .lost: lose(partition, at: .release)
            // Nothing of it was to be kept: there is nothing to let go of.
            case .forgotten where partition.acknowledgedSerial == 0: letGo(partition)
            case .forgotten: reclaim(partition, moment)
            default:
                partition.isReleaseUnderWay = false
                partition.retryAtMilliseconds = moment.realMilliseconds + settings.retryMilliseconds
            }
        case .load(let number, let epoch, _), .loadDue(let number, let epoch, _, _, _):
            guard let partition = owned(number, epoch) else { return }
            switch answer {
            case .loaded(let checkpoints): loaded(checkpoints, by: question, partition, moment)
            case .lost: lose(partition, at: .load)
            case .forgotten:
                notLoaded(question, partition, moment)
                reclaim(partition, moment)
            default: notLoaded(question, partition, moment)
            }
        case .save(let number, let epoch, let batch):
            guard let partition = owned(number, epoch), partition.serial == batch.serial else { return }
            switch answer {
            case .saved: saved(partition, moment)
            case .lost: lose(partition, at: .save)
            case .forgotten:
                notSaved(partition, moment)
                reclaim(partition, moment)
            case .behind:
                notSaved(partition, moment)
                writeAgain(partition, acknowledged: batch.acknowledged)
            default: notSaved(partition, moment)
            }
        }
    }

    private func answerClaim(
        _ partition: OwnedPartition, _ question: Question, _ answer: StoreAnswer, _ moment: Moment
    ) {
        if partition.isReclaiming { return answerReclaim(partition, question, answer, moment) }
        guard partition.phase == .claiming else { return }
        switch answer {
        case .claimed(let claim):
            claimed(partition, claim, askedAtMilliseconds: question.askedAtMilliseconds, moment)
        case .held: held(partition, moment)
        default: notClaimed(partition, isHeld: false, moment)
        }
    }

    private func owned(_ number: Int32, _ epoch: Epoch) -> OwnedPartition? {
        let partition = partitions[Int(number)]
        return partition.isOwned && partition.epoch == epoch ? partition : nil
    }

    private func lose(_ partition: OwnedPartition, at stage: FencedStage) {
        notices.append(.lost(partition: partition.number, stage: stage))
        lose(partition)
    }
}
