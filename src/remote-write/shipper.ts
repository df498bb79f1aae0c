/**
 * Sends what queues have, in shards side by side. A queue belongs to one shard, which reads it only after everything before was
 * acknowledged: so each series is sent in order, and the stored positions are never ahead of the receiver.
 */
import { EventLoopTurn } from '../sys/event-loop.ts'
import type { ArchiveQueue, QueuePosition } from './archive-queue.ts'
import type { ArchiveTree } from './archive-tree.ts'
import { Batch, type BatchLimits } from './batch.ts'
import type { Positions } from './positions.ts'
import type { Sender } from './sender.ts'

/** How to send. */
export interface ShipperOptions {
  readonly tree: ArchiveTree
  readonly positions: Positions
  readonly sender: Pick<Sender, 'send'>
  readonly limits: BatchLimits
  /** Batches on their way at the same time. */
  readonly shards: number
  /** Milliseconds until archives are read again that had no more records; undefined: end there. */
  readonly pollMs: number | undefined
  /** Milliseconds between searches for new archives. */
  readonly scanMs: number
  /** Most series in memory; the queues that were used least recently forget theirs. */
  readonly mostSeries: number
  /** Waits; rejects when the signal is aborted. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Position of a queue that was never read. */
const START: QueuePosition = { base: '', position: undefined, time: undefined }

/** See above. */
export class Shipper {
  readonly #options: ShipperOptions
  /** Queues with series in memory, least recently used first, with their number. */
  readonly #used = new Map<ArchiveQueue, number>()
  /** Queues with records in batches that were not acknowledged. */
  readonly #busy = new Set<ArchiveQueue>()
  #series = 0
  #scannedAt = Number.NEGATIVE_INFINITY

  constructor(options: ShipperOptions) {
    this.#options = options
  }

  /** Resolves when everything was sent, unless it polls. Rejects with the signal's reason, or an error of the tree or the positions. */
  async run(signal: AbortSignal): Promise<void> {
    const { tree, shards } = this.#options
    await tree.scan()
    this.#scannedAt = performance.now()
    await Promise.all(Array.from({ length: shards }, (_, shard) => this.#work(shard, signal)))
  }

  async #work(shard: number, signal: AbortSignal): Promise<void> {
    const { positions, pollMs, wait } = this.#options
    const turn = new EventLoopTurn()
    let next = 0
    for (;;) {
      signal.throwIfAborted()
      if (shard === 0) await this.#rescan()
      const queues = this.#queuesOf(shard)
      const batch = new Batch(this.#options.limits)
      const read = new Map<ArchiveQueue, QueuePosition>()
      let isIdle = true
      let isRepeat = false
      for (let i = 0; i < queues.length && !batch.isFull && !isRepeat; i++) {
        const queue = queues[next % queues.length]!
        // A receiver writes all of a request or nothing, so possibly written records are not mixed with others.
        isRepeat = queue.isRepeating
        if (isRepeat && batch.samples > 0) break
        next++
        read.set(queue, queue.position ?? START)
        this.#busy.add(queue)
        if (queue.fill(batch) === 'more') isIdle = false
        if (turn.shouldYield()) await turn.yield()
      }
      if (batch.samples > 0) await this.#send(batch, read, isRepeat, signal)
      for (const queue of read.keys()) {
        const { position } = queue
        if (position !== undefined) positions.set(queue.key, position)
        this.#busy.delete(queue)
        this.#count(queue)
      }
      if (!isIdle || batch.samples > 0) continue
      positions.flush()
      if (pollMs === undefined) return
      await wait(pollMs, signal)
    }
  }

  async #send(
    batch: Batch,
    read: ReadonlyMap<ArchiveQueue, QueuePosition>,
    isRepeat: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { positions, sender } = this.#options
    for (const [queue, before] of read) {
      const { base = '', position } = queue.position ?? START
      const sentTo = position && { base, volume: position.volume, offset: position.offset }
      positions.set(queue.key, { ...before, sentTo })
    }
    positions.flush()
    for (const entries of batch.requests()) await sender.send(entries, signal, isRepeat)
  }

  #queuesOf(shard: number): readonly ArchiveQueue[] {
    const { tree, shards } = this.#options
    return [...tree.queues.values()].filter((_, i) => i % shards === shard)
  }

  async #rescan(): Promise<void> {
    const { tree, pollMs, scanMs } = this.#options
    if (pollMs === undefined) return
    const isDue = performance.now() - this.#scannedAt >= scanMs
    if (!isDue && ![...tree.queues.values()].some(({ needsScan }) => needsScan)) return
    await tree.scan()
    this.#scannedAt = performance.now()
  }

  /** Counts the series of a queue that was read, and suspends others while there are too many. */
  #count(queue: ArchiveQueue): void {
    this.#series += queue.size - (this.#used.get(queue) ?? 0)
    this.#used.delete(queue)
    this.#used.set(queue, queue.size)
    for (const [oldest, size] of this.#used) {
      if (this.#series <= this.#options.mostSeries || oldest === queue) return
      if (this.#busy.has(oldest)) continue
      oldest.suspend()
      this.#series -= size
      this.#used.delete(oldest)
    }
  }
}
