/**
 * Compares what exporters send to stores with what the reference sends: the same server records both, over archives of PCP's own tests.
 * Intended differences are in docs/explanation/differences.md.
 */
import { existsSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Tool } from '../../src/tools/lib/tool.ts'
import { tool as pcp2elasticsearch } from '../../src/tools/pcp2elasticsearch/index.ts'
import { tool as pcp2graphite } from '../../src/tools/pcp2graphite/index.ts'
import { tool as pcp2influxdb } from '../../src/tools/pcp2influxdb/index.ts'
import { tool as pcp2zabbix } from '../../src/tools/pcp2zabbix/index.ts'
import { httpStore, type StoreServer, tcpStore, zabbixAnswer } from '../lib/store-server.ts'
import { testIo } from '../tools/run-tool.ts'
import { run } from './lib/programs.ts'
import { hasSuite, suiteFolder } from './lib/suite.ts'

const ENV = { TZ: 'UTC', PCP_DERIVED_CONFIG: '', HOME: '/nonexistent' }

/** Archives and metrics, all numbers. */
const ARCHIVES: readonly (readonly [name: string, metrics: readonly string[]])[] = [
  ['rep', ['kernel.all.load', 'mem.util.used', 'kernel.percpu.cpu.user']],
  ['20130706', ['disk.dev.read', 'kernel.all.load', 'mem.util.free', 'kernel.all.pswitch']],
  ['pcp-zeroconf', ['filesys.full', 'disk.dev.read', 'disk.dev.write']],
  ['value-test', ['kernel.all.uptime', 'sample.float.one']],
]

interface Sent {
  readonly received: readonly string[]
  readonly stdout: string
  readonly status: number | null
}

let compared = 0
afterAll(() => console.log(`exporters to stores beside the reference: ${compared} messages`))

/** Runs the reference and ours against a server each, with PORT in options replaced; `count` messages are awaited of each. */
async function both(
  tool: Tool,
  options: string,
  [archive, metrics]: (typeof ARCHIVES)[number],
  start: () => Promise<StoreServer>,
): Promise<{ readonly theirs: Sent; readonly ours: Sent }> {
  const sent = async (
    work: (args: readonly string[]) => Promise<Pick<Sent, 'stdout' | 'status'>>,
  ): Promise<Sent> => {
    await using server = await start()
    const words = options.replaceAll('PORT', String(server.port)).split(' ')
    const { stdout, status } = await work([
      '-a',
      `${suiteFolder('archives')}/${archive}`,
      ...words,
      ...metrics,
    ])
    await server.idle()
    compared += server.received.length
    return { received: [...server.received], stdout: stdout.replaceAll(String(server.port), 'PORT'), status }
  }
  const theirs = await sent((args) => run(`/usr/bin/${tool.name}`, args, { env: ENV }))
  const ours = await sent(async (args) => {
    const io = { ...testIo(tool.name, args, ENV), now: Date.now }
    const status = await tool.run({
      ...io,
      openArchive: (names, how) => openArchive(names, { ...how, nearest: false }),
    })
    expect(io.printed.stderr).toBe('')
    return { stdout: io.printed.stdout, status }
  })
  expect(ours.stdout, `${archive} ${options}`).toBe(theirs.stdout)
  expect(ours.status).toBe(theirs.status)
  return { theirs, ours }
}

const LIMIT = { timeout: 300_000 }
const isInstalled = ({ name }: Tool): boolean => {
  const is = hasSuite && existsSync(`/usr/bin/${name}`)
  if (!is) console.log(`skipped: the archives of the reference or /usr/bin/${name} are not installed`)
  return is
}

test.skipIf(!isInstalled(pcp2graphite))('pcp2graphite sends the same lines', LIMIT, async () => {
  for (const archive of ARCHIVES)
    for (const options of ['-E PORT -s 3', '-E PORT -r -H -P 1 -x site. -s 2']) {
      const { theirs, ours } = await both(pcp2graphite, `-g 127.0.0.1 ${options}`, archive, () => tcpStore())
      expect(ours.received, `${archive[0]} ${options}`).toEqual(theirs.received.filter((text) => text !== ''))
    }
})

/** Decodes framed pickles with Python. */
async function unpickled({ received }: Sent): Promise<unknown[]> {
  const program = `import json,pickle,struct,sys
data, out = bytes.fromhex(sys.argv[1]), []
while data:
    end = 4 + struct.unpack('>I', data[:4])[0]
    out += pickle.loads(data[4:end])
    data = data[end:]
print(json.dumps(out))`
  const hex = Buffer.from(received.join(''), 'latin1').toString('hex')
  return JSON.parse((await run('/usr/bin/python3', ['-c', program, hex], { env: ENV })).stdout) as unknown[]
}

test.skipIf(!isInstalled(pcp2graphite))('its pickles hold the same points', LIMIT, async () => {
  for (const archive of ARCHIVES)
    for (const protocol of [0, 1, 2, 4]) {
      const options = `-H -g 127.0.0.1 -p PORT -X ${protocol} -s 2`
      const { theirs, ours } = await both(pcp2graphite, options, archive, () => tcpStore())
      expect(await unpickled(ours), `${archive[0]} ${options}`).toEqual(await unpickled(theirs))
    }
})

/** Rounds times to microseconds: the reference converts them through floating point, ours are exact. */
function inMicroseconds(text: string): string {
  return text.replaceAll(/ (\d{11,19})$/gm, (_, ns: string) => ` ${(BigInt(ns) + 500n) / 1000n}`)
}

test.skipIf(!isInstalled(pcp2influxdb))('pcp2influxdb sends the same lines', LIMIT, async () => {
  for (const archive of ARCHIVES)
    for (const options of ['-s 3', '-r -H -P 1 -x mine -U me -E secret -X a=b,c=d -s 2']) {
      const server = `-g http://127.0.0.1:PORT ${options}`
      const { theirs, ours } = await both(pcp2influxdb, server, archive, () => httpStore())
      const withValues = theirs.received.filter((text) => !text.endsWith('\n'))
      expect(ours.received.map(inMicroseconds), `${archive[0]} ${options}`).toEqual(
        withValues.map(inMicroseconds),
      )
    }
})

/** Returns the documents with values, and where they were sent. */
function documentsOf({ received }: Sent): unknown[] {
  return received.flatMap((text) => {
    const at = text.indexOf('\n')
    const [method, path] = text.slice(0, at).replace('//', '/').split(' ')
    if (method !== 'POST') return []
    const document = JSON.parse(text.slice(at + 1)) as Record<string, unknown>
    return Object.keys(document).length === 2 ? [] : [[path, document]]
  })
}

test.skipIf(!isInstalled(pcp2elasticsearch))(
  'pcp2elasticsearch sends the same documents',
  LIMIT,
  async () => {
    for (const archive of ARCHIVES)
      for (const options of ['-s 3', '-r -H -P 1 -x mine -X me -p other -s 2']) {
        const server = `-g http://127.0.0.1:PORT/ ${options}`
        const start = (): Promise<StoreServer> => httpStore(() => ({ status: 200, body: '{}' }))
        const { theirs, ours } = await both(pcp2elasticsearch, server, archive, start)
        expect(documentsOf(ours), `${archive[0]} ${options}`).toEqual(documentsOf(theirs))
      }
  },
)

/** Returns the values of requests; the reference also sends empty discoveries. */
function itemsOf({ received }: Sent): unknown[] {
  return received.flatMap((text) => {
    const { data } = JSON.parse(Buffer.from(text.slice(13), 'latin1').toString()) as {
      readonly data: readonly { readonly key: string; readonly value: string }[]
    }
    return data.flatMap((item): unknown[] => {
      if (!item.key.includes('discovery[')) return [item]
      const found = JSON.parse(item.value) as { readonly data: readonly unknown[] }
      return found.data.length === 0 ? [] : [{ ...item, value: found }]
    })
  })
}

test.skipIf(!isInstalled(pcp2zabbix))('pcp2zabbix sends the same values', LIMIT, async () => {
  // The reference sends the present time for 0, with which the last archive begins.
  for (const archive of ARCHIVES.slice(0, -1))
    for (const options of ['-s 3', '-r -H -P 1 -x mine. -X me -s 2', '-H -l -s 2']) {
      const server = `-g 127.0.0.1 -p PORT ${options}`
      const start = (): Promise<StoreServer> => tcpStore(zabbixAnswer('processed: 1; failed: 0; total: 1'))
      const { theirs, ours } = await both(pcp2zabbix, server, archive, start)
      expect(itemsOf(ours), `${archive[0]} ${options}`).toEqual(itemsOf(theirs))
    }
})
