/** Descriptors that a daemon keeps free for its own work, whoever connects. docs/decisions/descriptors.md */
import { readAttribute } from './proc.ts'

/** The part of all descriptors that is kept, and its bounds. */
const SHARE = 1 / 8
const LEAST = 32
const MOST = 256
/** The log has at most one line in so many milliseconds. */
const QUIET_MS = 60_000

/** Returns how many files this process may have open; Infinity where that is unlimited or unknown. */
export function descriptorLimit(): number {
  const soft = /Max open files\s+(\d+)/.exec(readAttribute('/', '/proc/self/limits') ?? '')?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

/**
 * Decides by its number whether a descriptor may stay open. The kernel gives the lowest free number, so a high one means that
 * all below it are taken: nothing has to be counted, and files, pipes and sockets of any kind are included.
 */
export class DescriptorReserve {
  readonly #limit: number
  readonly #kept: number
  readonly #now: () => number
  #toldAt = Number.NEGATIVE_INFINITY

  /** `now` is a monotonic clock in milliseconds. */
  constructor(limit: number = descriptorLimit(), now: () => number = () => performance.now()) {
    this.#limit = limit
    this.#kept = Math.min(MOST, Math.max(LEAST, Math.floor(limit * SHARE)))
    this.#now = now
  }

  /** Returns whether a connection or a cached file may keep this descriptor. */
  mayKeep(fd: number): boolean {
    return fd < this.#limit - this.#kept
  }

  /** Returns whether a connection may keep this descriptor until its peer has read why it is refused. */
  mayLinger(fd: number): boolean {
    return fd < this.#limit - this.#kept / 2
  }

  /** Returns the line to log about a refused connection; undefined when there was one within the last minute. */
  complaint(): string | undefined {
    const now = this.#now()
    if (now - this.#toldAt < QUIET_MS) return undefined
    this.#toldAt = now
    return (
      `Connections are refused: ${this.#kept} of the ${this.#limit} files that this process may have open are kept for its own work. ` +
      'Raise the limit (ulimit -n, LimitNOFILE of systemd) if these clients are welcome'
    )
  }
}

let own: DescriptorReserve | undefined

/** Returns the reserve of this process. Call it early: finding out the limit takes a descriptor. */
export function ownDescriptors(): DescriptorReserve {
  own ??= new DescriptorReserve()
  return own
}
