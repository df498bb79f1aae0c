/** A reading of a file that takes the kernel milliseconds: another thread reads it meanwhile. */
import type { Scanner } from '../../base/scan.ts'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { Refreshable } from '../../pmda/reading.ts'
import type { ProcFile } from '../../sys/proc.ts'

/**
 * A `Reading` of one file. Metrics that depend on it have `prefetch: (ask) => reading.begin(ask.batch)`; without that, as in
 * requests for instances, the request waits.
 */
export class ThreadedReading<T> implements Refreshable {
  readonly #file: ProcFile
  readonly #parse: (scan: Scanner) => T
  #batch: object | undefined
  #outcome: Outcome<T> = new PcpError('PM_ERR_AGAIN', 'Not read yet')
  /** The pending read, and its batch. */
  #running: Promise<void> | undefined
  #runningBatch: object | undefined

  /** `parse` must not keep the file's contents. */
  constructor(file: ProcFile, parse: (scan: Scanner) => T) {
    this.#file = file
    this.#parse = parse
  }

  /**
   * Starts to read for a batch, unless that was done. The promise never rejects: after an error `refresh` reads again and
   * reports it. Undefined if there is nothing to wait for.
   */
  begin(batch: object | undefined): Promise<void> | undefined {
    if (batch === undefined || batch === this.#batch) return undefined
    if (this.#running !== undefined && this.#runningBatch === batch) return this.#running
    // the pending read may have started before this batch
    const running = this.#readFor(batch, this.#running)
    this.#running = running
    this.#runningBatch = batch
    return running
  }

  /** Reads now, unless this batch was read. */
  refresh(batch: object | undefined): void {
    if (batch !== undefined && batch === this.#batch) return
    this.#batch = batch
    try {
      this.#outcome = this.#parse(this.#file.scan())
    } catch (error) {
      this.#outcome = PcpError.from(error)
    }
  }

  /** Result of the last read. Throws its PcpError if it failed. */
  get value(): T {
    if (this.#outcome instanceof PcpError) throw this.#outcome
    return this.#outcome
  }

  /** Why the last read failed, or undefined. */
  get error(): PcpError | undefined {
    return this.#outcome instanceof PcpError ? this.#outcome : undefined
  }

  async #readFor(batch: object, before: Promise<void> | undefined): Promise<void> {
    await before
    try {
      this.#outcome = this.#parse(await this.#file.scanAsync())
      this.#batch = batch
    } catch {
      // refresh reads again and reports the error
    }
    if (this.#runningBatch !== batch) return
    this.#running = undefined
    this.#runningBatch = undefined
  }
}
