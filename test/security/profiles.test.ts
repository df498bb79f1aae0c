/**
 * Attack: clients that make the collector store and queue as much as the protocol allows, until its heap is exhausted.
 * Class: memory that a client makes a daemon hold, counted in items or not at all. Prevented by
 * src/base/byte-budget.ts.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { domains, Flood, profiles } from '../../bench/macro/lib/floods.ts'
import { residentMb } from '../../bench/macro/lib/memory.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'
import { eventually } from '../lib/eventually.ts'

const ASK = { requester: ANONYMOUS }
/** A heap that the flood would fill several times, and the clients' share of it. */
const HEAP_MB = 96
const BUDGET_MB = HEAP_MB / 4

let collector: CollectorProcess | undefined
let flood: Flood

afterEach(async () => {
  flood.close()
  await collector?.stop()
  collector = undefined
})

/** Returns the number of connected clients. */
async function clientsOf(honest: HostSource): Promise<number> {
  const [id] = await honest.lookupNames(['pmcd.numclients'], ASK)
  const { sets } = await honest.fetch([id as number], ASK)
  return sets[0]!.word[0]!
}

const FLOODS: readonly (readonly [what: string, clients: number, bytes: Uint8Array])[] = [
  ['64 contexts of 8,000 instances', 60, profiles(64, 8000)],
  ['12 contexts of 4,000 instance domains', 30, domains(12, 4000)],
]

test.each(FLOODS)(
  'clients with %s: the largest are dropped, and others are answered',
  async (_what, clients, bytes) => {
    flood = new Flood()
    const options = `${process.env['NODE_OPTIONS'] ?? ''} --max-old-space-size=${HEAP_MB}`
    collector = await startCollectorProcess('pmcd,linux,sample', undefined, {
      env: { NODE_OPTIONS: options },
    })
    const honest = await HostSource.connect(`127.0.0.1:${collector.port}`)
    const ids = (await honest.lookupNames(['pmcd.version', 'kernel.all.load'], ASK)) as number[]
    const before = residentMb(collector.pid)
    for (let i = 0; i < clients; i++) {
      await flood.open(collector.port, bytes)
      if (i % 10 === 0)
        expect((await honest.fetch(ids, ASK)).sets.map(({ status }) => status)).toEqual([1, 3])
    }
    const log = join(collector.dir, 'log', 'pmcd', 'pmcd.log')
    await eventually(async () => {
      expect(await clientsOf(honest)).toBeLessThan((clients * 2) / 3)
      expect(readFileSync(log, 'utf8')).toMatch(
        /Client \d+ of \S+ is dropped: it holds \S+ \w+, the most; the total of/,
      )
    })
    expect((await honest.fetch(ids, ASK)).sets.map(({ status }) => status)).toEqual([1, 3])
    expect(collector.hasEnded()).toBe(false)
    const grown = residentMb(collector.pid) - before
    console.log(`${await clientsOf(honest)} of ${clients} are left; ${grown.toFixed(0)} MB more`)
    // Data in flight in the kernel and garbage are not counted.
    expect(grown).toBeLessThan(BUDGET_MB + HEAP_MB)
    await honest.close()
  },
)

const DROPPED = /Client \d+ of 127.0.0.1 is dropped: it holds 4.\d MiB; the limit is 4.0 MiB/

test('a client above the limit of one client is dropped, and no other', async () => {
  flood = new Flood()
  collector = await startCollectorProcess('pmcd,sample', undefined, { env: { PCP_TS_CLIENT_MEMORY: '8' } })
  const honest = await HostSource.connect(`127.0.0.1:${collector.port}`)
  const before = await clientsOf(honest)
  const log = join(collector.dir, 'log', 'pmcd', 'pmcd.log')
  await flood.open(collector.port, profiles(64, 16_000))
  await eventually(() => expect(readFileSync(log, 'utf8')).toMatch(DROPPED))
  expect(await clientsOf(honest)).toBe(before)
  expect(await honest.lookupNames(['pmcd.version'], ASK)).toHaveLength(1)
  await honest.close()
})
