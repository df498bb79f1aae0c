/**
 * Recorders that are killed, paused, cut off and restarted at random, with clocks of different rates and replies that are lost: no host is
 * recorded by two of them at a time, and once the faults end each host has a recorder.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Membership } from '../../src/sharing/membership.ts'
import type { Versioned } from '../../src/sharing/register.ts'
import { isExhaustive, seed } from '../lib/seed.ts'

const TTL_MS = 1000
const RUNS = isExhaustive ? 5000 : 100
const HOSTS = Array.from({ length: 6 }, (_, i) => `host${i}`)
const NAMES = ['a', 'b', 'c', 'd']
const RATES = [1, 0.97, 1.02, 1.01]

/** A register, and replies that may be lost. */
class Store {
  current: Versioned = { version: 0, text: '' }

  replace(version: number, text: string): boolean {
    if (version !== this.current.version) return false
    this.current = { version: version + 1, text }
    return true
  }
}

/** One process: a membership, and the hosts it records. */
class Recorder {
  readonly #world: World
  readonly #index: number
  readonly process: string
  readonly membership: Membership
  isAlive = true
  isPaused = false
  isCut = false
  readonly #running = new Set<string>()
  /** Hosts whose recording is ending, and the assignment they are ended for. */
  #ending: { readonly hosts: readonly string[]; readonly assignment: string } | undefined
  #read: Versioned | undefined
  #reply: boolean | undefined

  constructor(world: World, index: number, life: number) {
    this.#world = world
    this.#index = index
    this.process = `${NAMES[index]}.${life}`
    this.membership = new Membership({
      name: NAMES[index]!,
      newId: () => world.newId(),
      ttlMs: TTL_MS,
      process: this.process,
      hasEnded: (process) => world.knowsDeaths && world.dead.has(process),
      place: 'store',
    })
  }

  get now(): number {
    return this.#world.ms * RATES[this.#index]! + this.#index * 12_345
  }

  get canAct(): boolean {
    return this.isAlive && !this.isPaused
  }

  /** A host counts as recorded if its next record would be written. */
  records(host: string): boolean {
    return this.isAlive && this.#running.has(host) && this.membership.owns(host, this.now)
  }

  /** One step of a renewal: read, write, reply. */
  renew(losesReply: boolean): void {
    if (!this.canAct) return
    if (this.#reply !== undefined) {
      if (this.#reply) this.membership.committed()
      this.#reply = undefined
    } else if (this.#read !== undefined) {
      const read = this.#read
      this.#read = undefined
      const { text } = this.membership.plan(read, this.now)
      if (text === undefined || this.isCut) return
      const isReplaced = this.#world.store.replace(read.version, text)
      if (!losesReply) this.#reply = isReplaced
    } else if (!this.isCut) this.#read = this.#world.store.current
  }

  /** One step of the farm: begins to end recordings, or has ended them and begins others. */
  follow(): void {
    if (!this.canAct) return
    const { membership, now } = this
    if (this.#ending !== undefined) {
      const { hosts, assignment } = this.#ending
      this.#ending = undefined
      for (const host of hosts) this.#running.delete(host)
      if (membership.isMember(now)) membership.released(assignment)
      else if (this.#running.size === 0) membership.cleared(now)
      return
    }
    const hosts = [...this.#running].filter((host) => !membership.owns(host, now))
    this.#ending = { hosts, assignment: membership.assignment }
    if (membership.mayBegin(now))
      for (const host of HOSTS) if (membership.owns(host, now)) this.#running.add(host)
  }

  leave(): void {
    if (!this.canAct || this.isCut) return
    this.#running.clear()
    const { current } = this.#world.store
    const text = this.membership.leave(current)
    if (text !== undefined) this.#world.store.replace(current.version, text)
    this.isAlive = false
  }
}

class World {
  ms = 0
  readonly store = new Store()
  readonly dead = new Set<string>()
  readonly knowsDeaths: boolean
  #ids = 0
  #lives = 0
  readonly recorders: (Recorder | undefined)[] = NAMES.map(() => undefined)

  constructor(knowsDeaths: boolean) {
    this.knowsDeaths = knowsDeaths
  }

  newId(): string {
    return `id${this.#ids++}`
  }

  start(index: number): void {
    if (this.recorders[index]?.isAlive !== true)
      this.recorders[index] = new Recorder(this, index, this.#lives++)
  }

  kill(index: number): void {
    const recorder = this.recorders[index]
    if (recorder === undefined) return
    recorder.isAlive = false
    this.dead.add(recorder.process)
  }

  owners(host: string): readonly string[] {
    return NAMES.filter((_, i) => this.recorders[i]?.records(host) === true)
  }

  check(): void {
    for (const host of HOSTS) {
      const owners = this.owners(host)
      if (owners.length > 1) throw new Error(`${host} is recorded by ${owners.join(' and ')}`)
    }
  }

  /** Ends all faults and lets time pass. */
  heal(): void {
    if (!this.recorders.some((recorder) => recorder?.isAlive === true)) this.start(0)
    for (let i = 0; i < 120; i++) {
      for (const recorder of this.recorders) {
        if (recorder === undefined) continue
        recorder.isPaused = false
        recorder.isCut = false
        // A turn may begin between two steps of a renewal.
        for (let step = 0; step < 6; step++) recorder.renew(false)
        recorder.follow()
        this.check()
      }
      this.ms += TTL_MS / 10
    }
  }
}

type Step = readonly [act: keyof typeof ACTS, recorder: number, ms: number]

/** Acts by name, so that a failure is a list to read. */
const ACTS = {
  renew: (_, recorder) => recorder?.renew(false),
  loseReply: (_, recorder) => recorder?.renew(true),
  follow: (_, recorder) => recorder?.follow(),
  turn: (_, recorder) => {
    for (let i = 0; i < 3; i++) recorder?.renew(false)
    recorder?.follow()
    recorder?.follow()
  },
  wait: (world, _, __, ms) => {
    world.ms += ms
  },
  waitLong: (world, _, __, ms) => {
    world.ms += ms * 6
  },
  pause: (_, recorder) => {
    if (recorder !== undefined) recorder.isPaused = !recorder.isPaused
  },
  cut: (_, recorder) => {
    if (recorder !== undefined) recorder.isCut = !recorder.isCut
  },
  start: (world, _, index) => world.start(index),
  kill: (world, _, index) => world.kill(index),
  leave: (_, recorder) => recorder?.leave(),
  /** The store loses the state. */
  lose: (world) => {
    world.store.current = { version: 0, text: '' }
  },
} satisfies Record<string, (world: World, recorder: Recorder | undefined, index: number, ms: number) => void>

const WEIGHTS: Readonly<Record<keyof typeof ACTS, number>> = {
  ...{ renew: 30, turn: 25, follow: 20, wait: 15, waitLong: 3, start: 6 },
  ...{ loseReply: 3, pause: 3, cut: 3, kill: 2, leave: 2, lose: 1 },
}

const steps: fc.Arbitrary<Step> = fc.tuple(
  fc.oneof(
    ...Object.entries(WEIGHTS).map(([act, weight]) => ({
      weight,
      arbitrary: fc.constant(act as keyof typeof ACTS),
    })),
  ),
  fc.nat(NAMES.length - 1),
  fc.integer({ min: 1, max: 333 }),
)

test('no two recorders record a host at the same time, and each host gets a recorder', () => {
  let begun = 0
  fc.assert(
    fc.property(fc.boolean(), fc.array(steps, { maxLength: 400, size: 'max' }), (knowsDeaths, run) => {
      const world = new World(knowsDeaths)
      for (const name of NAMES.keys()) world.start(name)
      for (const [act, index, ms] of run) {
        ACTS[act](world, world.recorders[index], index, ms)
        world.check()
        begun += HOSTS.filter((host) => world.owners(host).length === 1).length
      }
      world.heal()
      for (const host of HOSTS) expect(world.owners(host)).toHaveLength(1)
    }),
    { seed, numRuns: RUNS, endOnFailure: true },
  )
  // The property would be empty if the faults kept everyone from recording.
  expect(begun).toBeGreaterThan(1000)
})
