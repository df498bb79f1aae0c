/**
 * A hundred clients fetch from two agents while another agent, or other clients, misbehave: values keep arriving. The
 * misbehaviour lasts until the test stops it, so a client that had to wait for it would get no reply. Prints latencies.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Job, type Measured, measure } from '../../bench/macro/lib/load.ts'
import { residentMb } from '../../bench/macro/lib/memory.ts'
import { RawClient } from '../../bench/macro/lib/raw-client.ts'
import { pmid } from '../../src/model/ids.ts'
import { encodeCreds } from '../../src/wire/creds.ts'
import { encodePmnsTraverse } from '../../src/wire/pmns.ts'
import { type CollectorProcess, startCollectorProcess, startPmcdProcess } from '../lib/collector-process.ts'
import { eventually } from '../lib/eventually.ts'
import { FAULTY_AGENT } from '../lib/faulty-agent.ts'
import { fetchHonestly } from '../lib/honest-client.ts'

/** A metric of the collector's own agent, and one of an agent behind a pipe. */
const GOOD = [pmid(2, 0, 7), pmid(253, 2, 4)]
const VICTIM = [pmid(250, 0, 1)]
const CLIENTS = 100
const MS = 700

let programs: string
let collector: CollectorProcess | undefined
const sockets: Socket[] = []

beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), 'pmcd-faults-'))
  writeFileSync(join(programs, 'agent.cjs'), FAULTY_AGENT)
})
afterAll(() => rmSync(programs, { recursive: true }))
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await collector?.stop()
  collector = undefined
})

/** Starts a collector whose agents' timeout exceeds the duration of a test. */
async function startWithVictim(fault: string): Promise<CollectorProcess> {
  const node = process.execPath
  collector = await startPmcdProcess(
    [
      'pmcd 2 dso pmcd_init /pmda_pmcd.so',
      `simple 253 pipe binary ${node} ${join(process.cwd(), 'bin', 'pmdasimple')} -d 253`,
      `victim 250 pipe binary ${node} ${join(programs, 'agent.cjs')} ${fault} ${pidPath()}`,
    ],
    ...['-t', '600', '-q', '60'],
  )
  await answering(collector)
  return collector
}

const pidPath = (): string => join(programs, 'pid')
const victimPid = (): number => Number(readFileSync(pidPath(), 'utf8'))

async function answering(running: CollectorProcess): Promise<void> {
  const end = performance.now() + 60_000
  for (;;) {
    try {
      const { statuses } = await fetchHonestly(running.port, ['pmcd.version'])
      if (statuses[0] === 1) return
      throw new Error(`pmcd.version has status ${statuses[0]}`)
    } catch (error) {
      if (running.hasEnded() || performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 50)) // not listening yet, and no event reports when it does
    }
  }
}

function told(what: string, without: Measured, during: Measured): void {
  const text = ({ rate, p50, p99, worst }: Measured): string =>
    `${rate.toFixed(0)}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, worst ${worst.toFixed(0)} ms`
  console.log(`${what}: without ${text(without)}; with ${text(during)}`)
  expect([during.errors, during.refusals]).toEqual([0, 0])
}

/** Faults after which the agent's clients wait for its timeout. */
const HANGING: ReadonlySet<string> = new Set(['stopped', 'half'])

const FAULTS: readonly (readonly [fault: string, strike: () => void])[] = [
  ['killed', () => process.kill(victimPid(), 'SIGKILL')],
  ['stopped', () => process.kill(victimPid(), 'SIGSTOP')],
  ...['slow', 'garbage', 'half', 'flood', 'long'].map(
    (fault) => [fault, () => void process.kill(victimPid(), 'SIGUSR2')] as const,
  ),
]

test.each(FAULTS)('an agent is %s: values of the others keep arriving', async (fault, strike) => {
  const { port, pid, hasEnded } = await startWithVictim(fault)
  const good: Job = { port, clients: CLIENTS, pmids: GOOD, ms: MS }
  const victims: Job = { port, clients: 10, pmids: VICTIM, ms: MS, everyMs: 50 }
  await measure({ ...good, ms: 300 }) // a collector that has just started is slower than with any fault
  const without = await measure(good)
  let isAnswered = false
  const asking = measure(victims).finally(() => {
    isAnswered = true
  })
  strike()
  const during = await measure(good)
  told(`agent ${fault}`, without, during)
  if (HANGING.has(fault)) {
    expect(isAnswered).toBe(false)
    process.kill(victimPid(), 'SIGKILL')
  }
  const asked = await asking
  expect([asked.errors, asked.refusals]).toEqual([0, 0])
  expect(hasEnded()).toBe(false)
  expect(residentMb(pid)).toBeLessThan(400)
})

/** Opens connections that write `bytes` and then neither read nor write. */
async function hang(port: number, count: number, bytes: Uint8Array): Promise<void> {
  for (let left = count; left > 0; left--) {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => {}) // disconnecting them is expected
    sockets.push(socket)
    await new Promise<void>((resolve) => {
      socket.once('connect', resolve)
      socket.once('close', () => resolve())
    })
    socket.pause()
    socket.write(bytes)
  }
}

const words = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  values.forEach((value, i) => {
    bytes.writeInt32BE(value, 4 * i)
  })
  return bytes
}
const greeting = Buffer.from(encodeCreds(0))
const questions = Buffer.concat(Array.from({ length: 500 }, () => encodePmnsTraverse('')))

const CROWDS: readonly (readonly [what: string, count: number, bytes: Uint8Array])[] = [
  ['connect and send nothing', 1000, new Uint8Array(0)],
  ['send half a PDU', 300, Buffer.concat([greeting, words(28, 0x7003, 0).subarray(0, 10)])],
  ['send requests and never read', 20, Buffer.concat([greeting, questions])],
  ['announce PDUs of 2 GB', 300, Buffer.concat([greeting, words(0x7fff_f000, 0x7003, 0, 0, 0, 0)])],
  ['announce PDUs of no length', 300, Buffer.concat([greeting, words(0, 0x7003, 0)])],
  ['send garbage', 300, Buffer.alloc(4096, 0x5a)],
]

test.each(CROWDS)('clients that %s do not delay others', async (what, count, bytes) => {
  const { port, pid, hasEnded } = await startWithVictim('none')
  const good: Job = { port, clients: CLIENTS, pmids: GOOD, ms: MS }
  await measure({ ...good, ms: 300 }) // a collector that has just started is slower than with any fault
  const without = await measure(good)
  const [, during] = await Promise.all([hang(port, count, bytes), measure(good)])
  told(`${count} clients ${what}`, without, during)
  const { ms, statuses } = await fetchHonestly(port, ['pmcd.version'])
  console.log(
    `then an honest client is answered in ${ms.toFixed(0)} ms; resident ${residentMb(pid).toFixed(0)} MB`,
  )
  expect(hasEnded()).toBe(false)
  expect(statuses).toEqual([1])
  expect(residentMb(pid)).toBeLessThan(400)
})

test.skipIf(process.platform === 'win32')(
  'with more clients than file descriptors, connected ones stay, and others connect when some leave',
  async () => {
    collector = await startCollectorProcess('pmcd,simple', 150)
    const { port } = collector
    const staying: RawClient[] = []
    for (let i = 0; i < 20; i++) staying.push(await RawClient.open(port))
    await hang(port, 300, greeting)
    const HIGHRES_RESULT = 0x7015
    const log = join(collector.dir, 'log', 'pmcd', 'pmcd.log')
    for (const [place, client] of staying.entries()) {
      for (let i = 0; i < 10; i++) {
        const reply = await client.fetchOnce(GOOD).catch((error: unknown) => {
          throw new Error(`client ${place}, fetch ${i}; the log: ${readFileSync(log, 'utf8')}`, {
            cause: error,
          })
        })
        expect(reply.readInt32BE(4)).toBe(HIGHRES_RESULT)
      }
      client.close()
    }
    // Periodic work continues as well: pmproxy updates the metrics about itself.
    const own = join(collector.dir, 'lib', 'tmp', 'pmproxy', 'server')
    const before = readFileSync(own)
    await eventually(async () => {
      expect(collector!.hasEnded()).toBe(false)
      expect(readFileSync(own).equals(before)).toBe(false)
    })
    for (const socket of sockets.splice(0)) socket.destroy()
    await answering(collector)
  },
)
