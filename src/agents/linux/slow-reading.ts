/** A reading of a file the kernel takes milliseconds for: another thread waits, and the agent does the rest meanwhile. */
import type { Scanner } from '../../base/scan.ts'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { Refreshable } from '../../pmda/reading.ts'
import type { ProcFile } from '../../sys/proc.ts'

/**
 * A `Reading` of one file. Metrics that rest on it have `ahead: (ask) => reading.begin(ask.moment)`; whoever asks without
 * that, for instances, waits as for any reading.
 */
export class SlowReading<T> implements Refreshable {
  readonly #file: ProcFile
  readonly #parse: (scan: Scanner) => T
  #moment: object | undefined
  #outcome: Outcome<T> = new PcpError('PM_ERR_AGAIN', 'Not read yet')
  /** What is being read, and for which moment. */
  #running: Promise<void> | undefined
  #runningFor: object | undefined

  /** `parse` is given the file's content, which it must not keep. */
  constructor(file: ProcFile, parse: (scan: Scanner) => T) {
    this.#file = file
    this.#parse = parse
  }

  /**
   * Begins to read for a moment, unless that has been done. The promise never fails: what went wrong is tried once more,
   * and told, by `refresh`. Undefined when there is nothing to wait for.
   */
  begin(moment: object | undefined): Promise<void> | undefined {
    if (moment === undefined || moment === this.#moment) return undefined
    if (this.#running !== undefined && this.#runningFor === moment) return this.#running
    // what is being read may be older than this moment
    const running = this.#readFor(moment, this.#running)
    this.#running = running
    this.#runningFor = moment
    return running
  }

  /** Reads now, unless this moment has been read already. */
  refresh(moment: object | undefined): void {
    if (moment !== undefined && moment === this.#moment) return
    this.#moment = moment
    try {
      this.#outcome = this.#parse(this.#file.scan())
    } catch (error) {
      this.#outcome = PcpError.from(error)
    }
  }

  /** What was read last. Throws the PcpError of a failed reading. */
  get value(): T {
    if (this.#outcome instanceof PcpError) throw this.#outcome
    return this.#outcome
  }

  /** Why the last reading failed, or undefined. */
  get error(): PcpError | undefined {
    return this.#outcome instanceof PcpError ? this.#outcome : undefined
  }

  async #readFor(moment: object, before: Promise<void> | undefined): Promise<void> {
    await before
    try {
      this.#outcome = this.#parse(await this.#file.scanLater())
      this.#moment = moment
    } catch {
      // refresh reads again, and says why it cannot
    }
    if (this.#runningFor !== moment) return
    this.#running = undefined
    this.#runningFor = undefined
  }
}
