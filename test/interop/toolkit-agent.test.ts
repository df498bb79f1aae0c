/** Features of the agent toolkit besides tables, under the reference's collector and seen by its clients. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { pmid } from '../../src/model/ids.ts'
import { encodeHelp } from '../../src/pmda/help-file.ts'
import { buildAgent } from './lib/agent-program.ts'
import { hasReference, launch, run, type TestCollector } from './lib/programs.ts'

const PMNS = `root { toolkit }
toolkit { size 471:0:0 count 471:0:1 unsupported 471:0:2 events 471:1:0 highres 471:1:1 number 471:1:2 text 471:1:3 dyn 471:*:* }
`
let dir = ''
let command = ''

beforeAll(async () => {
  if (!hasReference) return
  dir = mkdtempSync(join(tmpdir(), 'toolkit-agent-'))
  command = await buildAgent('toolkit', dir, './test/interop/lib/toolkit-agent.ts')
  writeFileSync(join(dir, 'root'), PMNS)
  const help = encodeHelp([
    { kind: 'metric', id: pmid(471, 0, 0), name: '471.0.0', oneline: 'From a help file', help: '' },
  ])
  writeFileSync(join(dir, 'help.dir'), help.dir)
  writeFileSync(join(dir, 'help.pag'), help.pag)
})
afterAll(() => {
  if (hasReference) rmSync(dir, { recursive: true })
})

async function start(instances: string): Promise<TestCollector> {
  const home = mkdtempSync(join(dir, 'pmcd-'))
  const port = await freePort()
  const options = `-l ${join(dir, 'agent.log')} -D libpmda -h ${join(dir, 'help')} -c ${join(dir, 'cache')}`
  writeFileSync(join(home, 'pmcd.conf'), `toolkit 471 pipe binary ${command} ${options} -n ${instances}\n`)
  const files = [
    '-c',
    'pmcd.conf',
    '-s',
    join(home, 's'),
    '-l',
    join(home, 'pmcd.log'),
    '-n',
    join(dir, 'root'),
  ]
  return launch('/usr/lib/pcp/bin/pmcd', ['-f', '-p', String(port), ...files], port, home)
}

describe.runIf(hasReference)('the toolkit behind the reference', () => {
  let collector: TestCollector
  const client = async (name: string, ...args: string[]): Promise<string> => {
    const { stdout, stderr } = await run(name, ['-h', collector.host, ...args])
    return `${stdout}${stderr}`
  }

  beforeAll(async () => {
    collector = await start('red,green,blue')
  })
  afterAll(async () => {
    await collector?.stop()
  })

  test('events: each client gets those since its last fetch', async () => {
    const text = await client('pmevent', '-s', '3', '-t', '0.05', 'toolkit.events')
    expect(text).toContain('toolkit.events: 0 event records')
    expect(text).toMatch(
      /toolkit\.events: 1 event records\n {2}.* --- event record \[0\] flags 0x1 \(point\) ---/,
    )
    const numbers = Array.from(text.matchAll(/toolkit\.number (\d+)/g), ([, number]) => Number(number))
    expect(numbers).toHaveLength(2)
    expect(numbers[1]).toBe(numbers[0]! + 1)
    expect(text).toContain(`toolkit.text "event ${numbers[0]}"`)
  })

  test('high-resolution events as well', async () => {
    const text = await client('pmevent', '-s', '2', '-t', '0.05', 'toolkit.highres')
    expect(text).toMatch(/\.123456000? --- event record \[0\]/)
    expect(text).toMatch(/toolkit\.text "event \d+"/)
  })

  test('dynamic metrics', async () => {
    expect(await client('pminfo', '-f', 'toolkit.dyn')).toBe('\ntoolkit.dyn.m0\n    value 100\n')
    expect(await client('pmstore', 'toolkit.count', '3')).toContain('new value=3')
    expect(await client('pmprobe', '-v', 'toolkit.dyn')).toBe(
      'toolkit.dyn.m0 1 100\ntoolkit.dyn.m1 1 101\ntoolkit.dyn.m2 1 102\n',
    )
    expect(await client('pminfo', '-t', 'toolkit.dyn.m2')).toBe('toolkit.dyn.m2 [Dynamic metric 2]\n')
    await client('pmstore', 'toolkit.count', '1')
    expect(await client('pminfo', '-f', 'toolkit.dyn.m2')).toContain('Unknown metric name')
  })

  test('labels of every level, and notes', async () => {
    const text = await client('pminfo', '-l', 'toolkit.size', 'toolkit.number')
    for (const label of ['"role":"testing"', '"what":"size"', '"kind":"member"', '"note":true'])
      expect(text).toContain(label)
    expect(text).toMatch(/inst \[1 or "green"\] labels \{.*"number":1.*\}/)
    expect(text).toMatch(/toolkit\.number\n {4}labels \{.*"what":"events"\}/)
  })

  test('help files, unsupported metrics, and -D', async () => {
    expect(await client('pminfo', '-t', 'toolkit.size', 'toolkit.count')).toBe(
      'toolkit.size [From a help file]\ntoolkit.count [How many dynamic metrics there are; can be stored]\n',
    )
    expect(await client('pminfo', '-f', 'toolkit.unsupported')).toContain(
      'Metric not supported by this version of monitored application',
    )
    expect(readFileSync(join(dir, 'agent.log'), 'utf8')).toMatch(/^libpmda: toolkit: fetch for client \d+$/m)
  })

  test('instances keep their numbers after a restart of the agent', async () => {
    expect(await client('pmprobe', '-I', 'toolkit.size')).toBe('toolkit.size 3 "red" "green" "blue"\n')
    await collector.stop()
    expect(existsSync(join(dir, 'cache/471.3'))).toBe(true)
    collector = await start('blue,white,red')
    expect(await client('pminfo', '-f', 'toolkit.size')).toBe(
      '\ntoolkit.size\n    inst [0 or "red"] value 3\n    inst [2 or "blue"] value 4\n    inst [3 or "white"] value 5\n',
    )
  })
})
