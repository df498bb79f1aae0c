/** File descriptors that a daemon reserves for its own work, however many clients connect. docs/decisions/descriptors.md */
import { readAttribute } from './proc.ts'

/** Reserved share of all file descriptors, and its bounds. */
const SHARE = 1 / 8
const LEAST = 32
const MOST = 256
/** At most one log line in this time. */
const QUIET_MS = 60_000

/** Returns the limit on open files of this process; Infinity if unlimited or unknown. */
export function descriptorLimit(): number {
  const soft = /Max open files\s+(\d+)/.exec(readAttribute('/', '/proc/self/limits') ?? '')?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

/**
 * Decides by number whether a file descriptor may stay open. The kernel assigns the lowest free number, so a high one means that
 * all below it are taken. Thus nothing has to be counted, and files, pipes and sockets of any kind are included.
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

  /** Returns whether a connection or a cached file may keep this file descriptor. */
  mayKeep(fd: number): boolean {
    return fd < this.#limit - this.#kept
  }

  /** Returns whether a refused connection may keep this file descriptor until its peer has read the reason. */
  mayLinger(fd: number): boolean {
    return fd < this.#limit - this.#kept / 2
  }

  /** Returns a log line about a refused connection; undefined if there was one within the last minute. */
  refusalMessage(): string | undefined {
    const now = this.#now()
    if (now - this.#toldAt < QUIET_MS) return undefined
    this.#toldAt = now
    return (
      `Connection refused: ${this.#kept} of the ${this.#limit} files that this process may open are reserved for its own work. ` +
      'If these clients are expected, raise the limit (ulimit -n, or LimitNOFILE in systemd)'
    )
  }
}

let own: DescriptorReserve | undefined

/** Returns the reserve of this process. Call it early: reading the limit takes a file descriptor. */
export function processDescriptorReserve(): DescriptorReserve {
  own ??= new DescriptorReserve()
  return own
}
