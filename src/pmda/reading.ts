/** A reading of the system shared by many metrics and, within one moment, by many requests. docs/agents.md */
import { type Outcome, PcpError } from '../model/errors.ts'

/** What metrics and instance domains may rest on: a `Reading`, a `BackgroundReading`, or what works like them. */
export interface Refreshable {
  /** Reads afresh, unless this moment has been read already. */
  refresh(moment: object | undefined): void
  /** Why there is nothing to tell; the metrics that rest on it have this error. */
  readonly error: PcpError | undefined
}

/** One object for all readings: making an error costs 10 µs, and an agent may have sixty readings. */
const NOT_READ = new PcpError('PM_ERR_AGAIN')

/**
 * Reads something once a moment: a file, a kernel table, another program's statistics. `refresh` runs `read` unless this
 * moment has been read already; `value` is what was read, or throws why it could not be. A failed reading never shows
 * the previous values.
 */
export class Reading<T> implements Refreshable {
  readonly #read: (moment: object | undefined) => T
  #moment: object | undefined
  #outcome: Outcome<T> = NOT_READ
  /** What was thrown last, and as a PcpError: a file that is absent throws the same each time. */
  #thrown: unknown
  #failure: PcpError = NOT_READ

  /** `read` is given the moment, for the readings it rests on. */
  constructor(read: (moment: object | undefined) => T) {
    this.#read = read
  }

  /** Reads afresh, unless `moment` is given and was the moment of the last refresh. */
  refresh(moment: object | undefined): void {
    if (moment !== undefined && moment === this.#moment) return
    this.#moment = moment
    try {
      this.#outcome = this.#read(moment)
    } catch (error) {
      if (error !== this.#thrown) {
        this.#thrown = error
        this.#failure = PcpError.from(error)
      }
      this.#outcome = this.#failure
    }
  }

  /** What the last refresh read. Throws the PcpError of a failed one. */
  get value(): T {
    if (this.#outcome instanceof PcpError) throw this.#outcome
    return this.#outcome
  }

  /** Why the last refresh failed, or undefined. */
  get error(): PcpError | undefined {
    return this.#outcome instanceof PcpError ? this.#outcome : undefined
  }
}
