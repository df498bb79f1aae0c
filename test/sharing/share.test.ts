/** A share over a register: renewals, a store that is away or silent, and the end. */
import { expect, test } from 'vitest'
import type { Clock } from '../../src/pmapi/clock.ts'
import { parseState } from '../../src/sharing/fleet-state.ts'
import { Membership } from '../../src/sharing/membership.ts'
import type { Register, Versioned } from '../../src/sharing/register.ts'
import { Share } from '../../src/sharing/share.ts'

const TTL_MS = 1000

class MemoryRegister implements Register {
  readonly place = 'memory'
  current: Versioned = { version: 0, text: '' }
  problem: Error | undefined
  reads = 0

  async read(): Promise<Versioned> {
    this.reads++
    if (this.problem !== undefined) throw this.problem
    return this.current
  }

  async replace(version: number, text: string): Promise<boolean> {
    if (this.problem !== undefined) throw this.problem
    if (version !== this.current.version) return false
    this.current = { version: version + 1, text }
    return true
  }

  async close(): Promise<void> {}

  get names(): readonly string[] {
    return parseState(this.current.text, 'memory').members.map(({ name }) => name)
  }
}

/** A clock that advances with each wait. */
function steppingClock(): Clock & { ms: number } {
  const clock = {
    ms: 0,
    now: () => clock.ms,
    sleep: async (ms: number) => {
      clock.ms += ms
      await new Promise((done) => setImmediate(done))
    },
  }
  return clock
}

function open(register: Register, name: string, clock: Clock, onChange: (share: Share) => void = () => {}) {
  const said: string[] = []
  let ids = 0
  const membership = new Membership({
    name,
    newId: () => `${name}${ids++}`,
    ttlMs: TTL_MS,
    process: '',
    hasEnded: () => false,
    place: 'memory',
  })
  const share: Share = new Share({
    ...{ membership, register, ttlMs: TTL_MS, clock },
    changed: () => onChange(share),
    say: (problem) => void said.push(problem),
  })
  return { share, said }
}

async function runUntil(share: Share, isTrue: () => boolean): Promise<void> {
  const end = new AbortController()
  const running = share.run(end.signal)
  while (!isTrue()) await new Promise((done) => setImmediate(done))
  end.abort()
  await running
}

test('the first recorder waits for leases that may be lost, others for its release', async () => {
  const register = new MemoryRegister()
  const clock = steppingClock()
  const one = open(register, 'one', clock)
  await runUntil(one.share, () => one.share.isMember())
  expect(one.share.mayBegin()).toBe(false)
  await runUntil(one.share, () => one.share.mayBegin())
  expect(clock.ms).toBeGreaterThanOrEqual(TTL_MS * 1.1)
  const two = open(register, 'two', clock)
  await runUntil(two.share, () => two.share.isMember())
  expect([register.names, two.share.mayBegin()]).toEqual([['one', 'two'], false])
  await runUntil(one.share, () => one.share.assignment === two.share.assignment)
  expect(two.share.mayBegin()).toBe(false)
  one.share.released(one.share.assignment)
  const before = register.current.version
  await runUntil(one.share, () => register.current.version > before)
  await runUntil(two.share, () => two.share.mayBegin())
  expect(one.share.owns('host') !== two.share.owns('host')).toBe(true)
  await one.share.close(1000)
  expect(register.names).toEqual(['two'])
})

test('a lease ends when the store is away, whatever the reason, and begins again', async () => {
  const register = new MemoryRegister()
  const clock = steppingClock()
  const { share, said } = open(register, 'one', clock, (each) => {
    if (!each.isMember()) each.cleared()
  })
  await runUntil(share, () => share.mayBegin())
  register.problem = new Error('memory: away')
  await runUntil(share, () => !share.isMember())
  expect(share.owns('host')).toBe(false)
  expect(said).toEqual(['memory: away'])
  register.problem = undefined
  await runUntil(share, () => share.mayBegin())
  await share.close(1000)
  expect(register.names).toEqual([])
})

test('a name that another recorder has is refused until its lease ends', async () => {
  const register = new MemoryRegister()
  const clock = steppingClock()
  const one = open(register, 'one', clock)
  await runUntil(one.share, () => one.share.isMember())
  const other = open(register, 'one', clock)
  await runUntil(other.share, () => other.said.length > 0)
  expect(other.said[0]).toContain('memory: another recorder has the name "one": use --share-as')
})

test('a store that never answers is given up in time, and does not delay the end', async () => {
  const silent: Register = {
    place: 'silent',
    read: () => new Promise(() => {}),
    replace: () => new Promise(() => {}),
    close: async () => {},
  }
  const { share, said } = open(silent, 'one', steppingClock())
  await runUntil(share, () => said.length > 0)
  expect(said).toEqual(['silent: no answer in 0.25 s'])
  await share.close(10)
  expect(said).toHaveLength(2)
})
