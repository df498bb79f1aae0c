/** Event trace and debug output of a running collector, switched by stores, and after faults of agents. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { statusOf } from '../../src/model/errors.ts'
import { pmid } from '../../src/model/ids.ts'
import { ANONYMOUS, type Ask } from '../../src/model/source.ts'
import { PM_TYPE_32 } from '../../src/model/types.ts'
import { makeSet } from '../../src/model/value-writer.ts'
import { HostSource } from '../../src/net/host-source.ts'
import { startCollector } from '../../src/pmcd/collector.ts'
import { agentFromConfig, builtinAgents } from '../../src/pmcd/open-agents.ts'
import type { Collector, CollectorOptions } from '../../src/pmcd/options.ts'
import { type Log, logOnFd } from '../../src/sys/log.ts'
import { type DiagnosticSettings, diagnose, pmnsOf } from '../pmcd/parts.ts'

const ASK: Ask = { requester: ANONYMOUS }
const VERSION = pmid(2, 0, 7)
const CONTROL = { debug: 0, dumptrace: 12, tracenobuf: 14 } as const

/** A minimal agent that completes the handshake and misbehaves on its first FETCH. */
const badAgent = (fault: string): string[] => [
  process.execPath,
  '-e',
  `const bytes = (hex) => Buffer.from(hex, 'hex')
   const say = (hex) => process.stdout.write(bytes(hex))
   say('000000140000700c000000010000000101020000') // CREDS: one credential, version 2
   process.stdin.on('data', (chunk) => { if (chunk.includes(bytes('00007003'))) { ${fault} } })
   process.stdin.on('end', () => process.exit(0))`,
]
const FAULTS = {
  exits: 'process.exit(3)',
  // a RESULT without metrics
  lies: "say('000000180000700100000000000000000000000000000000')",
  babbles: "say('ff'.repeat(64))",
  stalls: "say('0000')",
} as const

let dir: string
let collector: Collector | undefined
let source: HostSource | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'pmcd-diagnostics-'))
})
afterEach(async () => {
  await source?.close()
  await collector?.close()
  rmSync(dir, { recursive: true })
})

/** Starts a collector whose clients on the unix socket are user 0, and connects a client. */
async function start(
  settings: DiagnosticSettings,
  options: Partial<CollectorOptions> = {},
): Promise<{ lines: string[]; client: HostSource }> {
  const lines: string[] = []
  const log: Log = {
    ...logOnFd(2, { progname: 'pmcd', host: 'vm' }),
    notice: (level, text) => lines.push(`${level}: ${text}`),
    line: (text) => lines.push(...text.split('\n')),
  }
  const socketPath = join(dir, 's')
  collector = await startCollector({
    agents: builtinAgents(['pmcd']),
    ports: [],
    socketPath,
    hostname: 'vm',
    log,
    agentDir: dir,
    events: diagnose(settings, log.line),
    peerCredentials: { of: () => ({ uid: 0, gid: 0, pid: 1 }), problem: () => undefined },
    ...options,
  })
  source = await HostSource.connect(`unix://${socketPath}`)
  return { lines, client: source }
}

const storeIn = (client: HostSource, name: keyof typeof CONTROL, value: number): Promise<void> =>
  client.store([makeSet(pmid(2, 0, CONTROL[name]), PM_TYPE_32, [-1], [value])], ASK)

test('events are recorded, and written on request', async () => {
  const { lines, client } = await start({ traceMask: 3 })
  await client.fetch([VERSION], ASK)
  expect(lines.filter((line) => line.startsWith('->'))).toEqual([])
  await storeIn(client, 'dumptrace', 1)
  const events = lines
    .filter((line) => line.startsWith('->'))
    .map((line) => line.slice(11).replace(/fd=-?\d+/, 'fd'))
  expect(events[0]).toContain('trace: starting at')
  expect(events.slice(1).map((event) => event.replace(/pdubuf=0x.*/, 'pdubuf='))).toEqual([
    'Add PMDA: domain=2, DSO',
    expect.stringMatching(/^New client: \[0\] addr=.*\/s, fd, seq=0$/),
    'Xmit: ERROR PDU, fd, err=0: No error',
    'Recv: CREDS PDU, fd, pdubuf=',
    'Recv: PROFILE PDU, fd, pdubuf=',
    'Recv: HIGHRES_FETCH PDU, fd, pdubuf=',
    'Xmit: HIGHRES_RESULT PDU, fd, numpmid=1',
    'Recv: RESULT PDU, fd, pdubuf=',
  ])
  lines.length = 0
  await storeIn(client, 'tracenobuf', 1)
  await storeIn(client, 'tracenobuf', 0)
  expect(lines.map((line) => line.slice(11)).join('\n')).toMatch(/^Xmit: ERROR.*\nRecv: RESULT/)
})

test('debug output is switched on and off while the collector runs', async () => {
  const { lines, client } = await start({ debug: new Set(['context', 'auth', 'access', 'attr', 'profile']) })
  await client.fetch([VERSION], ASK)
  // The client of this test runs in the same process.
  const isOfCollector = (line: string): boolean =>
    /^(access|context|auth|attr|profile): /.test(line) && !line.startsWith('context: connected to')
  expect(lines.filter(isOfCollector)).toEqual([
    expect.stringMatching(/^access: .*\/s fd=\d+: denied 0, 0 rules count it$/),
    expect.stringMatching(/^context: client 0 comes from .*\/s, slot 0, fd=\d+$/),
    'auth: client 0 is {"uid":0,"gid":0,"pid":1}',
    'attr: client 0, 14="1" to "pmcd"',
    'attr: client 0, 12="0" to "pmcd"',
    'attr: client 0, 11="0" to "pmcd"',
    'profile: client 0: context 0 gets a profile of 28 bytes',
  ])
  lines.length = 0
  await storeIn(client, 'debug', 1 + 2 + 4 + 64)
  await client.fetch([VERSION], ASK)
  expect(lines).toContainEqual(
    expect.stringMatching(/^\[\d+\]pmGetPDU: HIGHRES_FETCH fd=\d+ len=32 from=\d+, client 0, numpmid=1$/),
  )
  expect(lines).toContainEqual(expect.stringMatching(/^pdubuf: 000: +20 +7014 /))
  expect(lines).toContainEqual(expect.stringMatching(/^fetch: client 0: 1 metrics at \d+\.\d{9}: 2\.0\.7=1$/))
  await storeIn(client, 'debug', 0)
  lines.length = 0
  await client.fetch([VERSION], ASK)
  expect(lines).toEqual([])
})

test.each([
  ['exits', 'PM_ERR_IPC', 'Premature EOF: expecting RESULT PDU', 'exit(3)'],
  ['lies', 'PM_ERR_IPC', 'Recv: RESULT PDU', ''],
  ['babbles', 'PM_ERR_IPC', 'Recv error: expecting RESULT PDU', ''],
  ['stalls', 'PM_ERR_TIMEOUT', 'Recv timeout: expecting RESULT PDU', ''],
] as const)(
  'an agent that %s loses only its own metrics, is traced, and is restarted',
  async (fault, code, event, end) => {
    const argv = badAgent(FAULTS[fault])
    const agent = agentFromConfig({
      kind: 'pipe',
      name: fault,
      domain: 99,
      line: 1,
      argv,
      startsNotReady: false,
    })
    const { lines, client } = await start(
      { traceMask: 3, debug: new Set(['appl0', 'appl1']) },
      {
        agents: [...builtinAgents(['pmcd']), agent],
        pmns: pmnsOf({ [`${fault}.one`]: pmid(99, 0, 0), 'pmcd.version': VERSION }),
        // A reply that must arrive gets plenty of time, for busy machines.
        timeoutSec: fault === 'stalls' ? 1 : 60,
        credsTimeoutSec: 60,
      },
    )
    const fetch = async (): Promise<unknown[]> => {
      const { sets } = await client.fetch([pmid(99, 0, 0), VERSION], ASK)
      return sets.map(({ status }) => status)
    }
    expect(await fetch()).toEqual([statusOf(code), 1])
    const lineOf = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const found = lines.find((line) => pattern.test(line))
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    expect(await lineOf(/^->.*Drop PMDA: domain=99, infd=\d+, outfd=\d+$/)).toBeDefined()
    expect(lines.find((line) => line.includes(event))).toBeDefined()
    expect(await lineOf(/^Cleanup /)).toMatch(/agent \(dom 99\): protocol failure for fd=\d+/)
    expect(lines.find((line) => line.startsWith('Cleanup'))).toContain(end)
    await lineOf(/^appl0: agent ".*" is lost, status/)
    await lineOf(/^appl1: restart in 0 ms$/)
    const starts = (): number =>
      lines.filter((line) => line === `appl0: agent "${fault}" started, connected`).length
    while (starts() < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    expect((await fetch())[1]).toBe(1)
  },
)
