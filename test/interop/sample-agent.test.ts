/** Compares our sample agent with the reference's: the same dbpmda sessions, and the same commands under its collector. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCatalogue } from '../lib/agent-catalogue.ts'
import { buildAgent, dbpmda } from './lib/agent-program.ts'
import { hasReference, run, startReference, type TestCollector } from './lib/programs.ts'

const THEIRS = '/var/lib/pcp/pmdas/sample/pmdasample'
const hasBoth = hasReference && existsSync(THEIRS)
if (!hasBoth) console.log('skipped: the reference’s sample agent is not installed')

let dir: string
let command: string
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'sample-interop-'))
  command = await buildAgent('sample', dir)
})
afterAll(() => rmSync(dir, { recursive: true }))

/** By PMID, because dbpmda does not know names that only the agent knows. */
const ITEMS: readonly string[] = [...new Set(readCatalogue('sample').map(({ pmid }) => pmid))].filter((id) =>
  id.startsWith('29.'),
)
/** sample.bad.unknown: in the reference the whole fetch fails, in ours only this metric. */
const UNKNOWN = '29.0.54'
/** Process, times and memory of the agent, and of the system. */
const VARYING = ['29.0.1', '29.0.2', '29.0.3', '29.0.39', '29.0.91', '29.0.111', '29.0.112', '29.0.158']
/** sample.event.highres_records: the reference always reports 0 lost records, ours the actual number. */
const HIGHRES = '29.0.139'
const GHOSTS = ['29.0.1009', '29.0.1010', '29.0.1011']
const COMPARED = ITEMS.filter((id) => ![UNKNOWN, HIGHRES, ...VARYING, ...GHOSTS].includes(id))
const INDOMS: readonly string[] = Array.from({ length: 12 }, (_, i) => `29.${i + 1}`)
const DECORATED = ['getdesc on', 'getiname on']

/** Masks text that varies between runs, and change notifications, which only our agent sends. */
function normalized(text: string): string {
  return text
    .replaceAll(THEIRS, 'PMDA')
    .replaceAll(command, 'PMDA')
    .replace(/dump from 0x\w+ timestamp: \d+\.0{9} \S+/g, 'dump')
    .replace(/valfmt: 2/g, 'valfmt: 1')
    .replace(/(timestamps?) [\d.:]+/g, '$1 TIME')
}

/** Compares a session and prints its size. */
function compare(title: string, session: readonly string[]): void {
  const theirs = normalized(dbpmda(`pipe ${THEIRS} -d 29`, session, dir))
  const ours = normalized(dbpmda(`pipe ${command} -d 29`, session, dir))
  console.log(`sample: ${title}: ${session.length} commands, ${theirs.split('\n').length} lines compared`)
  expect(ours.split('\n')).toEqual(theirs.split('\n'))
}

function repeated(times: number, ...commands: readonly string[]): string[] {
  return Array.from({ length: times }, () => commands).flat()
}

describe.skipIf(!hasBoth)('the sample agent gives dbpmda the same replies', () => {
  test('for descriptors, instances and labels', () => {
    compare('metadata', [
      ...ITEMS.map((id) => `desc ${id}`),
      ...INDOMS.map((id) => `instance ${id}`),
      ...INDOMS.map((id) => `label indom ${id}`),
      ...INDOMS.map((id) => `label instances ${id}`),
      ...ITEMS.map((id) => `label item ${id}`),
      ...['label domain', 'label context', 'label cluster 29.0', 'label cluster 29.7'],
      ...['desc 29.0.900', 'desc 29.5.1', 'instance 29.99', 'instance 29.1 "pink"', 'instance 29.1 9'],
      ...['instance 29.5 "77"', 'instance 29.4 "fat"', 'instance 29.12 "0001"', 'instance 29.2 300'],
    ])
  })

  test('for values, fetch by fetch', () => {
    compare('values', [...DECORATED, ...repeated(10, ...COMPARED.map((id) => `fetch ${id}`))])
  })

  test('for values, all at once', () => {
    // The reference's event metrics share one block, which shows the last one.
    const ids = COMPARED.filter((id) => id !== '29.0.136' && id !== '29.0.137')
    compare('all values', [...DECORATED, ...repeated(10, `fetch ${ids.join(' ')}`)])
  })

  test('for short-lived instances', () => {
    compare('mirage and processes', [
      ...DECORATED,
      'store 29.0.155 "0"',
      ...repeated(60, 'fetch 29.0.37', 'instance 29.3', 'label instances 29.3', 'fetch 29.0.156 29.0.157'),
      'store 29.0.159 "1"',
      ...repeated(20, 'instance 29.12', 'fetch 29.0.156', 'fetch 29.0.121', 'instance 29.9'),
    ])
  })

  test('for profiles', () => {
    compare('profiles', [
      ...DECORATED,
      ...[
        'profile 29.2 none',
        'profile 29.2 add 200',
        'profile 29.2 add 900',
        'fetch 29.0.6 29.0.51 29.0.50',
      ],
      ...['profile 29.2 delete 900', 'fetch 29.0.6 29.0.153 29.0.121'],
      ...['profile 29.4 none', 'fetch 29.0.49', 'profile 29.4 add 2', 'fetch 29.0.49'],
      ...['profile 29.4 all', 'fetch 29.0.49', 'profile 29.1 delete 1', 'fetch 29.0.5 29.0.92'],
    ])
  })

  test('for stores', () => {
    const values: readonly (readonly [item: number, values: readonly string[]])[] = [
      [0, ['8', '0']],
      [5, ['3', '1000', '-5']],
      [6, ['7', '-1', '123']],
      [7, ['-7', '10']],
      [8, ['-3', '8']],
      [14, ['7', '13']],
      [19, ['1.5', '1e30']],
      [24, ['9223372036854775807', '-13']],
      [29, ['1e300', '-0.25']],
      [32, ['a b c']],
      [36, ['3', '2']],
      [37, ['12']],
      [38, ['7000000']],
      [40, ['1']],
      [41, ['1']],
      [42, ['1']],
      [61, ['3', '0', '-3', '-12345', '5']],
      [72, ['4', '0']],
      [73, ['0']],
      [74, ['-12386', '3', '0']],
      [87, ['1', '2', '3', '4', '5', '6', '0']],
      [88, ['121634818', '4294967295']],
      [89, ['1', '77']],
      [90, ['0']],
      [97, ['-1', '13']],
      [102, ['18446744073709551615', '13']],
      [120, ['9']],
      [126, ['3', '7', '-2']],
      [141, ['5']],
      [148, ['1.5']],
      [155, ['-1']],
      [165, ['1', '-1', '3']],
      [166, ['-20']],
      [167, ['120', '50']],
      [168, ['-1', '50', '7']],
    ]
    const look = [6, 14, 36, 37, 40, 62, 64, 75, 86, 103, 121, 136, 141, 144, 148, 164].map(
      (item) => `29.0.${item}`,
    )
    compare('stores', [
      ...DECORATED,
      ...values.flatMap(([item, each]) =>
        each.flatMap((value) => [
          `store 29.0.${item} "${value}"`,
          `fetch 29.0.${item}`,
          `label item 29.0.${item}`,
          ...look.map((id) => `fetch ${id}`),
          'desc 29.0.75',
          'desc 29.0.86',
        ]),
      ),
      ...COMPARED.filter((id) => !values.some(([item]) => id === `29.0.${item}`))
        // The reference's agent writes beyond an array if the number of many instances is stored.
        .filter(
          (id) =>
            !['29.0.56', '29.0.79', '29.0.136', '29.0.137', '29.0.159', '29.0.140', '29.0.1008'].includes(id),
        )
        .map((id) => `store ${id} "3"`),
    ])
  })

  test('for dynamic names', () => {
    const look = [
      ...['traverse sample.ghosts', 'children sample.ghosts', 'name 29.0.1011', 'instance 29.11'],
      ...['desc 29.0.1009', 'desc 29.0.1010', 'pmid sample.ghosts.state', 'fetch 29.0.1008'],
      ...['fetch 29.0.1011', 'fetch 29.0.1010 29.0.1009', 'label instances 29.11'],
    ]
    compare('names', [
      ...DECORATED,
      ...['traverse sample.secret', 'children sample.secret', 'children sample.secret.foo.bar'],
      ...['pmid sample.secret.foo.bar.max.redirect', 'name 2.4.1', 'name 29.0.1005', 'name 29.0.900'],
      ...['pmid sample.secret.nobody', 'traverse sample.secret.foo.bar.grunt', 'traverse sample.secret.bar'],
      ...['3', '0', '99', '-2', '8', '-1'].flatMap((visible) => [`store 29.0.1008 "${visible}"`, ...look]),
    ])
  })

  test('for counted requests and replies', () => {
    const counts = 'fetch 29.0.40 29.0.41 29.0.42 29.0.43 29.0.44 29.0.45 29.0.122 29.0.123 29.0.124 29.0.125'
    const requests = [
      'instance 29.1',
      'instance 29.99',
      'children sample.secret',
      'label domain',
      'desc 29.9.9',
    ]
    const more = [
      'attr "username" "fred"',
      'profile 29.1 none',
      'fetch 29.0.10',
      'store 29.0.36 "2"',
      'name 29.0.1001',
    ]
    compare('counts', [
      'getdesc on',
      counts,
      ...[...requests, ...more].flatMap((request) => [request, counts]),
    ])
  })

  test('when it is not ready', () => {
    compare('readiness', [
      ...['getdesc on', 'store 29.0.56 "1"', 'fetch 29.0.10', 'wait 2'],
      'fetch 29.0.10', // dbpmda takes the notification that the agent is ready for the reply
    ])
  })
})

describe.skipIf(!hasBoth)('the sample agent under the reference’s collector', () => {
  const collectors: TestCollector[] = []
  beforeAll(async () => {
    for (const program of [THEIRS, command])
      collectors.push(await startReference(['pmcd', `sample 29 pipe binary ${program} -d 29`]))
  })
  afterAll(async () => {
    for (const collector of collectors) await collector.stop()
  })

  /** Runs a command at both collectors, the reference's first. */
  async function both(program: string, args: readonly string[]): Promise<[string, string]> {
    const printed: string[] = []
    for (const { host } of collectors) {
      const { status, stdout, stderr } = await run(program, ['-h', host, ...args], { cwd: dir })
      const text = `${stdout}${stderr}status ${status}`.replaceAll(host, 'HOST')
      printed.push(text.replace(/timestamps? [\d.:]+/g, 'TIME').replace(/^(host|start|end): .*\n/gm, ''))
    }
    return [printed[0]!, printed[1]!]
  }

  const GROUPS = [
    'bin',
    'bogus_bin',
    'bucket',
    'mirage',
    'colour',
    'lights',
    'long',
    'ulong',
    'float',
    'double',
    'string',
  ]
  const names = GROUPS.map((name) => `sample.${name}`)

  test.each([
    ['pminfo', ['sample']],
    ['pminfo', ['-dm', 'sample']],
    ['pminfo', ['-l', 'sample.rapid', 'sample.colour', 'sample.bin', 'sample.long.write_me']],
    ['pminfo', ['-fI', ...names]],
    ['pminfo', ['-f', 'sample.secret', 'sample.bad', 'sample.needprofile', 'sample.many']],
    ['pminfo', ['-fx', 'sample.event.records']],
    ['pminfo', ['-fx', 'sample.event.records']],
    ['pminfo', ['-fx', 'sample.event.records', 'sample.event.reset']],
    ['pminfo', ['-fx', 'sample.event.records', 'sample.event.reset']],
    ['pminfo', ['-fx', 'sample.event.no_indom_records']],
    ['pminfo', ['-fx', 'sample.event.highres_records']],
    ['pmprobe', ['-v', 'sample.hordes', 'sample.secret', 'sample.wrap']],
    ['pmprobe', ['-I', 'sample.scramble', 'sample.proc.ordinal', 'sample.dodgey']],
    ['pmstore', ['sample.ghosts.visible', '3']],
    ['pminfo', ['-f', 'sample.ghosts']],
    ['pmprobe', ['-i', 'sample.ghosts']],
    ['pmstore', ['sample.ghosts.visible', '-1']],
    ['pminfo', ['-f', 'sample.ghosts']],
    ['pmstore', ['sample.write_me', '7']],
    ['pmstore', ['-i', 'bin-100,bin-500', 'sample.bin', '50']],
    ['pmstore', ['-i', 'bin-150', 'sample.bin', '50']],
    ['pmstore', ['sample.long.one', '2']],
    ['pmstore', ['sample.aggregate.write_me', 'x']],
    ['pminfo', ['-f', 'sample.write_me', 'sample.bin', 'sample.long.bin', 'sample.string.bin']],
    ['pmstore', ['sample.error_code', '-12386']],
    ['pminfo', ['-df', 'sample.error_check']],
    ['pmstore', ['sample.error_code', '0']],
    ['pmval', ['-s', '3', '-t', '0.1', '-r', 'sample.wrap.ulong']],
    ['pmval', ['-s', '3', '-t', '0.1', '-i', 'bin-100,bin-900', 'sample.bin']],
    ['pmval', ['-s', '2', '-t', '0.1', 'sample.needprofile']],
    ['pminfo', ['-f', 'sample.percontext.control', 'sample.recv_pdu']],
  ] as const)('%s %s', async (program, args) => {
    const [theirs, ours] = await both(program, args)
    expect(theirs).not.toContain('Usage')
    expect(ours).toBe(theirs)
  })

  test('is not ready for the requested time, then answers again', async () => {
    // Long enough for the commands to observe it even if they start slowly.
    await both('pmstore', ['sample.not_ready', '5'])
    const [theirs, ours] = await both('pminfo', ['-f', 'sample.long.one'])
    expect(ours).toBe(theirs)
    expect(ours).toContain('Try again')
    const status = await both('pminfo', ['-f', 'pmcd.agent.status'])
    expect(status[1]).toBe(status[0])
    expect(status[1]).toMatch(/"sample"\] value 1/)
    await answering(collectors[1]!.host)
    expect((await both('pminfo', ['-f', 'sample.long.one']))[1]).toContain('value 1')
  })

  async function answering(host: string): Promise<void> {
    for (let attempt = 0; attempt < 1000; attempt++) {
      const { stdout } = await run('pminfo', ['-h', host, '-f', 'pmcd.agent.status'])
      if (/"sample"\] value 0/.test(stdout)) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error('The agent was not ready after a minute')
  }

  test('exits when requested, and is restarted', async () => {
    const { host } = collectors[1]!
    const pid = async (): Promise<string | undefined> =>
      /value (\d+)/.exec((await run('pminfo', ['-h', host, '-f', 'sample.daemon_pid'])).stdout)?.[1]
    const before = await pid()
    expect(before).toBeDefined()
    await run('pmstore', ['-h', host, 'sample.control', '-1'])
    expect(await pid()).not.toBe(before)
  })
})
