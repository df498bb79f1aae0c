/**
 * A source as the farm sees it: the last answer outlives failures for a while, a host may be missing for a moment, and the number of hosts
 * is limited. docs/reference/pmlogger.md
 */
import type { PcpError } from '../model/errors.ts'
import { type DiscoveredHost, hostKey } from './host.ts'
import type { HostSink, HostSource } from './source.ts'

/** Limits of a followed source; times in milliseconds. */
export interface FollowLimits {
  /** How long the last answer is used while the source fails. */
  readonly keepMs: number
  /** How long a host may be missing before it counts as gone. */
  readonly graceMs: number
  /** Most hosts. */
  readonly most: number
}

/** What a followed source reports. */
export interface FollowEvents {
  readonly changed: () => void
  readonly say: (level: 'info' | 'warning', text: string) => void
  /** Monotonic milliseconds. */
  readonly now: () => number
}

export class FollowedSource implements HostSink {
  readonly #source: HostSource
  readonly #limits: FollowLimits
  readonly #events: FollowEvents
  readonly #hosts = new Map<string, { readonly host: DiscoveredHost; readonly seenAt: number }>()
  #answeredAt = Number.NEGATIVE_INFINITY
  #problem = ''
  #hasAnswered = false
  #isOver = false

  constructor(source: HostSource, limits: FollowLimits, events: FollowEvents) {
    this.#source = source
    this.#limits = limits
    this.#events = events
  }

  /** The hosts that count as being there, by `hostKey`. */
  get hosts(): ReadonlyMap<string, DiscoveredHost> {
    return new Map([...this.#hosts].map(([key, { host }]) => [key, host]))
  }

  /** Whether the source has answered at least once. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#source.watch(this, signal)
  }

  update(found: readonly DiscoveredHost[]): void {
    const { now, say, changed } = this.#events
    const { graceMs, most } = this.#limits
    const at = now()
    if (this.#problem !== '') say('info', 'answers again')
    this.#problem = ''
    this.#answeredAt = at
    const wanted = new Map<string, DiscoveredHost>()
    for (const host of found) {
      const key = hostKey(host.spec)
      if (!wanted.has(key)) wanted.set(key, host)
    }
    const before = [...this.#hosts.entries()]
    // Hosts that are known come first, so that a source with too many does not replace one by another.
    const known = before.filter(([key, { seenAt }]) => wanted.has(key) || at - seenAt < graceMs)
    this.#hosts.clear()
    for (const [key, old] of known) {
      const host = wanted.get(key)
      this.#hosts.set(key, host === undefined ? old : { host, seenAt: at })
    }
    const added = [...wanted.keys()].filter((key) => !this.#hosts.has(key)).sort()
    const free = most - this.#hosts.size
    for (const key of added.slice(0, Math.max(0, free)))
      this.#hosts.set(key, { host: wanted.get(key)!, seenAt: at })
    const isOver = added.length > free
    if (isOver && !this.#isOver)
      say('warning', `${wanted.size} hosts, but at most ${most} are recorded: use most=N`)
    this.#isOver = isOver
    const isFirst = !this.#hasAnswered
    this.#hasAnswered = true
    if (isFirst || !isSame(before, this.#hosts)) changed()
  }

  failed(error: PcpError): void {
    const { now, say, changed } = this.#events
    const age = now() - this.#answeredAt
    if (this.#problem !== error.message)
      say(
        'warning',
        `${error.message}${this.#hosts.size > 0 ? `; its ${this.#hosts.size} last hosts stay` : ''}`,
      )
    this.#problem = error.message
    if (this.#hosts.size === 0 || age < this.#limits.keepMs) return
    say('warning', 'no answer for too long: recording of its hosts ends. See keep=TIME')
    this.#hosts.clear()
    changed()
  }
}

function isSame(
  before: readonly (readonly [string, { readonly host: DiscoveredHost }])[],
  after: ReadonlyMap<string, { readonly host: DiscoveredHost }>,
): boolean {
  return (
    before.length === after.size &&
    before.every(([key, { host }]) => JSON.stringify(host) === JSON.stringify(after.get(key)?.host))
  )
}
