/** A reading of the system shared by many metrics and by all requests of a batch. docs/reference/agent-toolkit.md */
import { type Outcome, PcpError } from '../model/errors.ts'

/** What metrics and instance domains depend on: a `Reading`, a `BackgroundReading`, or an equivalent. */
export interface Refreshable {
  /** Reads again unless it was read in this batch. */
  refresh(batch: object | undefined): void
  /** Why there is no value; dependent metrics have this error. */
  readonly error: PcpError | undefined
}

/** One shared object: creating an error takes 10 µs, and an agent may have sixty readings. */
const NOT_READ = new PcpError('PM_ERR_AGAIN')

/**
 * Reads a file, a kernel table or a program's statistics once per batch. `refresh` calls `read` unless this batch has been
 * read; `value` returns the result or throws its error. A failed reading never returns the previous values.
 */
export class Reading<T> implements Refreshable {
  readonly #read: (batch: object | undefined) => T
  #batch: object | undefined
  #outcome: Outcome<T> = NOT_READ
  /** The last exception, kept beside its PcpError because a missing file throws the same one each time. */
  #thrown: unknown
  #failure: PcpError = NOT_READ

  /** `read` is given the batch, for the readings it depends on. */
  constructor(read: (batch: object | undefined) => T) {
    this.#read = read
  }

  /** Reads again unless `batch` is defined and equal to that of the last refresh. */
  refresh(batch: object | undefined): void {
    if (batch !== undefined && batch === this.#batch) return
    this.#batch = batch
    try {
      this.#outcome = this.#read(batch)
    } catch (error) {
      if (error !== this.#thrown) {
        this.#thrown = error
        this.#failure = PcpError.from(error)
      }
      this.#outcome = this.#failure
    }
  }

  /** Result of the last refresh. Throws its PcpError if it failed. */
  get value(): T {
    if (this.#outcome instanceof PcpError) throw this.#outcome
    return this.#outcome
  }

  /** Why the last refresh failed, or undefined. */
  get error(): PcpError | undefined {
    return this.#outcome instanceof PcpError ? this.#outcome : undefined
  }
}
