/**
 * One recorder's part in sharing a list of hosts: pure decisions over the shared state and a monotonic clock.
 * docs/decisions/recorder-lease.md
 *
 *     read ──► plan ──► replace ──► committed     a renewal; `plan` also removes dead recorders and acknowledges epochs
 *                │
 *                └─► owns, mayBegin ◄── the farm ends the recordings of other hosts, then calls `released`
 *
 * Wall clocks play no part. A recorder's own lease counts from before it sent the renewal; others count from when they first saw it.
 */
import { type FleetState, formatState, type MemberState, MOST_MEMBERS, parseState } from './fleet-state.ts'
import type { Versioned } from './register.ts'
import { ownerOf } from './rendezvous.ts'

/** Settings of a recorder. */
export interface MembershipOptions {
  readonly name: string
  /** Returns a new id that no recorder had before. */
  readonly newId: () => string
  readonly ttlMs: number
  /** This process, as by `formatIdentity`; '' if unknown. */
  readonly process: string
  /** Returns whether a process has certainly ended. */
  readonly hasEnded: (process: string) => boolean
  /** Where the state is, for messages. */
  readonly place: string
}

/** What to do after a read. */
export interface Plan {
  /** The text to replace the state with; undefined if nothing is to be changed. */
  readonly text?: string
  /** Why this recorder cannot take part now. */
  readonly problem?: string
}

/** Others wait longer than the lease by this share of it, for clocks that run at different rates. */
const MARGIN = 0.1
/** Renewals in the time of a lease. */
const RENEWALS = 4

/** When a recorder's lease was last seen to change. */
interface Observation {
  readonly id: string
  readonly seq: number
  readonly at: number
}

interface Pending {
  readonly state: FleetState
  readonly version: number
  readonly at: number
  /** Its entry is renewed by this. */
  readonly id: string
}

/** Times are milliseconds of one monotonic clock that includes time asleep. */
export class Membership {
  readonly #options: MembershipOptions
  #state: FleetState = { epoch: 0, unsettled: '', members: [] }
  #seenVersion = 0
  /** Its id while it is a member. */
  #id: string | undefined
  #deadline = Number.NEGATIVE_INFINITY
  #renewedAt = Number.NEGATIVE_INFINITY
  #seq = 0
  /** `keyOf` the latest state for which the farm ended all other recordings. */
  #released: string | undefined
  /** Nothing is recorded since the last loss of the lease. */
  #isClear = true
  #pending: Pending | undefined
  readonly #observed = new Map<string, Observation>()
  #unsettled: { readonly token: string; readonly at: number } | undefined
  /** The state was lost or set back since this recorder was last a member. */
  #wasSetBack = false

  constructor(options: MembershipOptions) {
    this.#options = options
  }

  /** Whether this recorder has a lease at a time. */
  isMember(now: number): boolean {
    return this.#id !== undefined && now < this.#deadline
  }

  /** When the lease ends unless it is renewed. */
  get deadline(): number {
    return this.#deadline
  }

  /** Identifies the list of recorders, on which it depends who records what. */
  get assignment(): string {
    return keyOf(this.#state)
  }

  /** Names of the recorders that share the list. */
  get names(): readonly string[] {
    return this.#state.members.map(({ name }) => name)
  }

  /** Whether a host belongs to this recorder: a recording of it may continue. */
  owns(host: string, now: number): boolean {
    return this.isMember(now) && ownerOf(host, this.names) === this.#options.name
  }

  /** Whether recordings may begin: every recorder has ended the recordings of hosts that it lost. */
  mayBegin(now: number): boolean {
    const { epoch, unsettled, members } = this.#state
    return this.isMember(now) && unsettled === '' && members.every(({ ack }) => ack >= epoch)
  }

  /** Every recording of this recorder is of a host that it owned in this assignment. */
  released(assignment: string): void {
    if (this.#id !== undefined && assignment === this.assignment) this.#released = assignment
  }

  /** Nothing is recorded any more after the loss of the lease. */
  cleared(now: number): void {
    if (this.isMember(now)) return
    this.#drop()
    this.#isClear = true
  }

  /** Decides what to write after a read. `now` is before the write. */
  plan(read: Versioned, now: number): Plan {
    this.#pending = undefined
    const isNew = read.version === 0
    const state: FleetState = isNew
      ? { epoch: 0, unsettled: '', members: [] }
      : parseState(read.text, this.#options.place)
    const entry = state.members.find(({ id }) => id === this.#id)
    if (read.version < this.#seenVersion || (entry !== undefined && entry.seq < this.#seq)) {
      this.#wasSetBack = true
      this.#observed.clear()
      this.#drop()
    }
    this.#seenVersion = read.version
    if (entry === undefined || !this.isMember(now)) this.#drop()
    this.#state = state
    const { members, hasRemoved } = this.#withoutDead(state.members, now)
    const own = members.find(({ id }) => id === this.#id)
    const unsettled =
      isNew || (own === undefined && this.#wasSetBack) ? this.#options.newId() : this.#settle(state, now)
    if (own === undefined) return this.#join(read.version, { ...state, unsettled, members }, now)
    const epoch = state.epoch + (hasRemoved ? 1 : 0)
    // A removal only adds hosts to the remaining recorders.
    const ack = this.#released === keyOf(state) ? epoch : own.ack
    const isDue = now - this.#renewedAt >= this.#options.ttlMs / RENEWALS
    if (!isDue && !hasRemoved && ack === own.ack && unsettled === state.unsettled) return {}
    const renewed = { ...own, seq: own.seq + 1, ack }
    const next = members.map((member) => (member === own ? renewed : member))
    return this.#propose(read.version, { epoch, unsettled, members: next }, now, own.id)
  }

  /** The planned text was written. */
  committed(): void {
    const pending = this.#pending
    if (pending === undefined) return
    this.#pending = undefined
    const { state, version, at, id } = pending
    const isJoining = id !== this.#id
    if (isJoining) {
      this.#wasSetBack = false
      this.#isClear = false
    }
    if (isJoining || this.#released === this.assignment) this.#released = keyOf(state)
    this.#id = id
    this.#state = state
    this.#seenVersion = version + 1
    this.#deadline = at + this.#options.ttlMs
    this.#renewedAt = at
    this.#seq = state.members.find((member) => member.id === id)!.seq
  }

  /** Returns the text without this recorder, to be written when it has ended all its recordings. */
  leave(read: Versioned): string | undefined {
    if (read.version === 0) return undefined
    const state = parseState(read.text, this.#options.place)
    const members = state.members.filter(({ id }) => id !== this.#id)
    if (members.length === state.members.length) return undefined
    return formatState({ ...state, epoch: state.epoch + 1, members })
  }

  #join(version: number, state: FleetState, now: number): Plan {
    const { name, newId, ttlMs, process, place } = this.#options
    if (!this.#isClear) return { problem: `${place}: the lease was lost; recordings are ending` }
    // An entry of this process whose write seemed to fail.
    const others = state.members.filter((member) => member.process !== process || process === '')
    if (others.some((member) => member.name === name))
      return {
        problem: `${place}: another recorder has the name "${name}": use --share-as, or wait until its lease ends`,
      }
    if (others.length >= MOST_MEMBERS)
      return { problem: `${place}: there are ${MOST_MEMBERS} recorders already` }
    const id = newId()
    const epoch = state.epoch + 1
    const member: MemberState = { name, id, seq: 1, ack: epoch, ttlMs, process }
    return this.#propose(version, { ...state, epoch, members: [...others, member] }, now, id)
  }

  #propose(version: number, state: FleetState, at: number, id: string): Plan {
    this.#pending = { state, version, at, id }
    return { text: formatState(state) }
  }

  /** Removes recorders whose lease has ended for certain. */
  #withoutDead(
    members: readonly MemberState[],
    now: number,
  ): { members: readonly MemberState[]; hasRemoved: boolean } {
    const left = members.filter((member) => {
      const { id, seq, ttlMs, process } = member
      if (id === this.#id) return true
      const before = this.#observed.get(id)
      if (before === undefined || before.seq !== seq) this.#observed.set(id, { id, seq, at: now })
      else if (now - before.at >= ttlMs * (1 + MARGIN)) return false
      return process === '' || !this.#options.hasEnded(process)
    })
    const ids = new Set(members.map(({ id }) => id))
    for (const id of this.#observed.keys()) if (!ids.has(id)) this.#observed.delete(id)
    return { members: left, hasRemoved: left.length < members.length }
  }

  /** Returns the mark of a lost state, or '' when every lease from before has ended. */
  #settle({ unsettled, members }: FleetState, now: number): string {
    if (unsettled === '') return ''
    if (this.#unsettled?.token !== unsettled) this.#unsettled = { token: unsettled, at: now }
    const longest = Math.max(this.#options.ttlMs, ...members.map(({ ttlMs }) => ttlMs))
    return now - this.#unsettled.at >= longest * (1 + MARGIN) ? '' : unsettled
  }

  #drop(): void {
    this.#id = undefined
    this.#deadline = Number.NEGATIVE_INFINITY
    this.#renewedAt = Number.NEGATIVE_INFINITY
    this.#released = undefined
    this.#seq = 0
  }
}

function keyOf({ epoch, members }: FleetState): string {
  return [epoch, ...members.map(({ id }) => id)].join(' ')
}
