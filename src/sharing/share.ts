/** Keeps a recorder's lease and follows who shares the list. docs/decisions/recorder-lease.md */
import { setLongTimeout } from '../base/after.ts'
import { onAbort } from '../base/on-abort.ts'
import { withSignal } from '../base/with-signal.ts'
import { PcpError } from '../model/errors.ts'
import type { Clock } from '../pmapi/clock.ts'
import type { Membership } from './membership.ts'
import type { Register } from './register.ts'

/** Parts of a share. */
export interface ShareParts {
  readonly membership: Membership
  readonly register: Register
  readonly ttlMs: number
  /** Monotonic, and includes time asleep. */
  readonly clock: Clock
  /** The lease, or the recorders that share the list, may have changed. */
  readonly changed: () => void
  /** Logs a line; the same problem only once. */
  readonly say: (problem: string) => void
}

/** Attempts in one turn when other recorders write at the same time. */
const MOST_TRIES = 20
/** Longest random pause in milliseconds between them. */
const PAUSE_MS = 20
const MOST_POLL_MS = 1000
/** Pause in milliseconds before a requested turn: not even an endless series of requests keeps the process busy. */
const LEAST_MS = 1
/** Polls in the time of a lease, if it is short. */
const POLLS = 10

/** A recorder's share of a list of hosts. */
export class Share {
  readonly #parts: ShareParts
  #told = ''
  #wake: () => void = () => {}
  #isAwake = false
  #cancelDeadline: () => void = () => {}

  constructor(parts: ShareParts) {
    this.#parts = parts
  }

  /** Whether a host may be recorded now: checked before each record. */
  owns(host: string): boolean {
    return this.#parts.membership.owns(host, this.#now())
  }

  /** Whether recordings of its hosts may begin. */
  mayBegin(): boolean {
    return this.#parts.membership.mayBegin(this.#now())
  }

  isMember(): boolean {
    return this.#parts.membership.isMember(this.#now())
  }

  get assignment(): string {
    return this.#parts.membership.assignment
  }

  /** All recordings are of hosts owned in this assignment. */
  released(assignment: string): void {
    this.#parts.membership.released(assignment)
    this.poke()
  }

  /** Nothing is recorded any more after the loss of the lease. */
  cleared(): void {
    this.#parts.membership.cleared(this.#now())
    this.poke()
  }

  /** Looks at the shared state soon. */
  poke(): void {
    this.#isAwake = true
    this.#wake()
  }

  /** Renews the lease until aborted; does not reject. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, ttlMs } = this.#parts
    const pollMs = Math.min(MOST_POLL_MS, ttlMs / POLLS)
    while (!signal.aborted) {
      this.#isAwake = false
      await this.#turn(signal)
      if (signal.aborted) break
      await withSignal({ signals: [signal] }, (waiting, stop) => {
        this.#wake = stop
        return clock.sleep(this.#isAwake ? LEAST_MS : pollMs, waiting).catch(() => undefined)
      })
      this.#wake = () => {}
    }
    this.#cancelDeadline()
  }

  /** Gives the lease back when nothing is recorded any more, so that others need not wait for its end; then disconnects. */
  async close(limitMs: number): Promise<void> {
    await withSignal({ signals: [], timeoutMs: limitMs }, (signal) => this.#leave(signal))
    await this.#parts.register.close()
  }

  async #leave(signal: AbortSignal): Promise<void> {
    const { register, membership, say } = this.#parts
    try {
      for (let i = 0; i < MOST_TRIES; i++) {
        const read = await this.#inTime(signal, (limit) => register.read(limit))
        const text = membership.leave(read)
        if (text === undefined) return
        if (await this.#inTime(signal, (limit) => register.replace(read.version, text, limit))) return
        await this.#pause(signal)
      }
    } catch (error) {
      say(`${PcpError.from(error).message}; others take over when the lease ends`)
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { register, membership, changed } = this.#parts
    let problem = ''
    try {
      for (let i = 0; i < MOST_TRIES; i++) {
        const read = await this.#inTime(signal, (limit) => register.read(limit))
        const plan = membership.plan(read, this.#now())
        problem = plan.problem ?? ''
        const { text } = plan
        if (text === undefined) break
        if (await this.#inTime(signal, (limit) => register.replace(read.version, text, limit))) {
          membership.committed()
          break
        }
        await this.#pause(signal)
      }
    } catch (error) {
      problem = PcpError.from(error).message
    }
    if (signal.aborted) return
    if (problem !== '' && problem !== this.#told) this.#parts.say(problem)
    this.#told = problem
    this.#armDeadline()
    changed()
  }

  /** A store that does not answer must not keep this recorder from trying again. */
  #inTime<T>(signal: AbortSignal, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const { register, ttlMs } = this.#parts
    const timeoutMs = ttlMs / 4
    return withSignal({ signals: [signal], timeoutMs }, async (limit) => {
      const late = new Promise<never>((_, reject) => {
        onAbort(limit, () =>
          reject(new PcpError('ETIMEDOUT', `${register.place}: no answer in ${timeoutMs / 1000} s`)),
        )
      })
      return await Promise.race([work(limit), late])
    })
  }

  #pause(signal: AbortSignal): Promise<void> {
    return this.#parts.clock.sleep(Math.random() * PAUSE_MS, signal).catch(() => undefined)
  }

  #armDeadline(): void {
    const { membership, changed } = this.#parts
    this.#cancelDeadline()
    const ms = membership.deadline - this.#now()
    if (ms > 0 && ms !== Number.POSITIVE_INFINITY) this.#cancelDeadline = setLongTimeout(ms + 1, changed)
  }

  #now(): number {
    return this.#parts.clock.now()
  }
}
