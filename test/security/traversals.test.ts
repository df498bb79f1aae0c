/**
 * Attack: 40 clients request all names 500 times each and read nothing. Class: small requests that cause much work, for
 * which all others wait. Prevented by src/pmcd/work-queue.ts, and by not answering clients that do not read.
 */
import { afterEach, expect, test } from 'vitest'
import { Flood, traversals } from '../../bench/macro/lib/floods.ts'
import { ANONYMOUS } from '../../src/model/source.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { type CollectorProcess, startCollectorProcess } from '../lib/collector-process.ts'

const CLIENTS = 40
const ASK = { requester: ANONYMOUS }

let collector: CollectorProcess | undefined
const flood = new Flood()

afterEach(async () => {
  flood.close()
  await collector?.stop()
  collector = undefined
})

test('few requests for all names are answered between two requests of an honest client', async () => {
  collector = await startCollectorProcess('pmcd,linux,sample')
  const honest = await HostSource.connect(`127.0.0.1:${collector.port}`)
  const [answered] = (await honest.lookupNames(['pmcd.pdu_out.pmns_names'], ASK)) as number[]
  const count = async (): Promise<number> => (await honest.fetch([answered!], ASK)).sets[0]!.word[0]!
  const first = await count()
  await Promise.all(Array.from({ length: CLIENTS }, () => flood.open(collector!.port, traversals(500))))
  const between: number[] = []
  const waits: number[] = []
  for (let last = await count(); between.length < 200 && last - first < CLIENTS * 500; ) {
    const began = performance.now()
    const now = await count()
    waits.push(performance.now() - began)
    if (now > last) between.push(now - last)
    last = now
  }
  await honest.close()
  between.sort((a, b) => a - b)
  waits.sort((a, b) => a - b)
  console.log(
    `${between.length} requests while ${between.reduce((a, b) => a + b, 0)} traversals were answered; ` +
      `p50 ${waits[waits.length >> 1]!.toFixed(1)} ms, p99 ${waits[Math.floor(waits.length * 0.99)]!.toFixed(1)} ms`,
  )
  expect(between.length).toBeGreaterThan(20)
  expect(between[between.length >> 1]).toBeLessThan(CLIENTS / 4)
})
