/** Compares memory-mapped value files in both directions: who writes them, who reads them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../bench/macro/lib/free-port.ts'
import { MmvWriter, type MmvWriterOptions } from '../../src/mmv/index.ts'
import { hasReference, launch, plainEnv, run, startOurs, type TestCollector, top } from './lib/programs.ts'

const PMCD = '/usr/lib/pcp/bin/pmcd'
const DSO = '/var/lib/pcp/pmdas/mmv/pmda_mmv.so'
const PROGRAMS = '/var/lib/pcp/testsuite/src'
/**
 * Programs of PCP's suite that use its library, with arguments: each creates a file. Two sets, because some give metrics of different
 * types the same PMID; PCP's agent then shows values of one as the other's.
 */
const WRITERS: readonly (readonly (readonly string[])[])[] = [
  [
    ['mmv_genstats', 'gen1'],
    ['mmv2_genstats', 'gen2'],
    ['mmv3_genstats', 'gen3'],
    ['mmv_instances', 'cats'],
    ['mmv_instances', 'dogs'],
    ['mmv_instances', 'mice'],
    ['mmv2_instances', 'cats2'],
    ['mmv2_instances', 'film2'],
    ['mmv_simple', 'simple'],
    ['mmv3_labels', 'labels'],
    ['mmv3_nostats', 'nostats3'],
  ],
  [
    ['mmv3_simple', 'simple3'],
    ['mmv_help', 'help'],
  ],
]
const hasAll = hasReference && existsSync(DSO)
if (!hasAll) console.log('skipped: the reference’s mmv agent is not installed')

describe.skipIf(!hasAll)('memory-mapped values', () => {
  let ours: TestCollector
  let theirs: TestCollector
  let directory: string
  const writers: MmvWriter[] = []

  beforeAll(async () => {
    ours = await startOurs('--no-record', '--agents', 'mmv,node')
    const shared = join(ours.dir, 'lib', 'tmp')
    directory = join(shared, 'mmv')
    mkdirSync(directory, { recursive: true })
    const dir = mkdtempSync(join(tmpdir(), 'pcp-mmv-'))
    writeFileSync(join(dir, 'pmcd.conf'), `mmv 70 dso mmv_init ${DSO}\n`)
    writeFileSync(join(dir, 'root'), 'root {\n\tmmv 70:*:*\n}\n')
    const port = await freePort()
    const files = ['-c', 'pmcd.conf', '-n', join(dir, 'root'), '-s', join(dir, 'socket'), '-l', 'pmcd.log']
    theirs = await launch(PMCD, ['-f', '-p', String(port), ...files], port, dir, { PCP_TMP_DIR: shared })
  })
  afterEach(() => {
    for (const writer of writers.splice(0)) writer.close()
  })
  afterAll(async () => {
    await ours.stop()
    await theirs.stop()
  })

  /** Returns the output of the reference's pminfo for everything below a name. */
  async function shown({ host }: TestCollector, name: string, options = '-dfmtTl'): Promise<string> {
    const { stdout, stderr } = await run('/usr/bin/pminfo', ['-h', host, options, name])
    return `${stdout}${stderr}`.replace(/"(?:domainname|hostname|machineid|groupid|userid)":[^,}]*,?/g, '')
  }

  /** Returns one block per metric, without the controls, whose help texts are our own. */
  const blocks = (text: string): readonly string[] =>
    text
      .split('\n\n')
      .filter((block) => !block.includes('mmv.control.'))
      .toSorted()

  function publish(name: string, options: MmvWriterOptions): MmvWriter {
    const writer = new MmvWriter(name, { directory, ...options })
    writers.push(writer)
    return writer
  }

  test.each([...WRITERS.entries()])(
    'both agents read the same values from files of the reference’s library (%i)',
    async (_i, set) => {
      let count = 0
      for (const [program, ...args] of set.filter(([name]) => existsSync(join(PROGRAMS, name!)))) {
        const env = { PCP_TMP_DIR: join(ours.dir, 'lib', 'tmp') }
        await run(join(PROGRAMS, program!), args, { env })
        count++
      }
      const [mine, reference] = [await shown(ours, 'mmv'), await shown(theirs, 'mmv')].map(blocks)
      console.log(`${count} programs of the reference's suite, ${reference!.length} blocks compared`)
      expect(reference!.length).toBeGreaterThan(count)
      expect(mine).toEqual(reference)
      rmSync(directory, { recursive: true })
      mkdirSync(directory)
    },
  )

  test.each([1, 2, 3] as const)('both agents read our files of version %i correctly', async (version) => {
    const writer = publish('app', {
      version,
      cluster: 77,
      ...(version === 3 ? { labels: { team: 'post' } } : {}),
    })
    const labels = version === 3 ? { labels: { colour: 'blue', depth: 2 } } : {}
    const hits = writer.counter('hits', { item: 3, help: 'Hits', text: 'All the hits', ...labels })
    const level = writer.gauge('level', { item: 4, type: '32', units: 'Kbyte' })
    writer.gauge('none', { item: 5, type: 'u64' })
    writer.gauge('many', { item: 9, type: 'float', sem: 'discrete', initial: 1.5, units: 'millisec' })
    const state = writer.text('state', { item: 6 })
    const queues = writer.instances({ serial: 2, help: 'Queues', text: 'All the queues', names: ['red'] })
    const depth = queues.gauge('depth', { item: 7, type: '64' })
    writer.histogram('wait', { bounds: [1, 10] }).record(5)
    writer.timer('busy', { item: 8 })
    queues.add('blue', { id: 12, ...labels })
    writer.publish()
    hits.add(2 ** 40)
    level.set(-3)
    state.set('grün')
    depth.of('blue').set(-(2 ** 40))
    writer.flush()
    const text = await shown(theirs, 'mmv.app')
    expect(blocks(await shown(ours, 'mmv.app'))).toEqual(blocks(text))
    expect(text).toContain(`mmv.app.hits PMID: 70.77.3 [Hits]`)
    expect(text).toContain('value 1099511627776')
    expect(text).toContain('inst [12 or "blue"] value -1099511627776')
    expect(text).toContain('value "grün"')
    expect(text).toContain('Semantics: discrete  Units: millisec')
    expect(text).toMatch(/mmv\.app\.none[\s\S]*?No value\(s\) available!/)
    if (version === 3) expect(text).toMatch(/inst \[12 or "blue"\] labels .*"colour":"blue","depth":2/)
    if (version === 3) expect(text).toMatch(/labels .*"team":"post"/)
  })

  test('both see instances appear and disappear, and the end', async () => {
    const writer = publish('app', {})
    const queues = writer.instances({ names: ['red'] })
    queues.counter('sent')
    writer.publish()
    for (const add of [true, false, true]) {
      if (add) queues.add('blue')
      else queues.remove('blue')
      writer.publish()
      for (const collector of [ours, theirs])
        expect((await shown(collector, 'mmv.app', '-f')).includes('"blue"')).toBe(add)
    }
    writer.close()
    for (const collector of [ours, theirs])
      expect(await shown(collector, 'mmv.app', '-f')).toContain('Unknown metric name')
  })

  test('both combine files that share a cluster', async () => {
    for (const [name, ids] of Object.entries({ one: [1, 2], two: [3] })) {
      const writer = publish(name, { cluster: 9, prefix: false })
      const domain = writer.instances({ serial: 4 })
      const tag = domain.gauge('tag', { item: 1, type: 'u32' })
      for (const id of ids) {
        domain.add(`i${id}`, { id })
        tag.of(`i${id}`).set(id * 10)
      }
      writer.publish()
    }
    const expected = [1, 2, 3].map((id) => `    inst [${id} or "i${id}"] value ${id * 10}`)
    for (const collector of [ours, theirs]) {
      const lines = (await shown(collector, 'mmv.tag', '-f'))
        .split('\n')
        .filter((line) => line.includes('inst'))
      expect(lines.toSorted()).toEqual(expected)
    }
  })

  test("a process's own metrics are in the reference’s collector too, until it is killed", async () => {
    const register = join(top, 'dist', 'esm', 'node-register.js')
    const child = spawn(
      process.execPath,
      ['--import', register, '-e', 'setInterval(() => {}, 1000); console.log("ready")'],
      {
        env: plainEnv({ PCP_NODE_DIRECTORY: directory, PCP_NODE_NAME: 'measured' }),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    await once(child.stdout, 'data')
    const [mine, reference] = [await shown(ours, 'node', '-d'), await shown(theirs, 'mmv.node', '-d')]
    const names = (text: string): readonly string[] => text.match(/^(?:mmv\.)?node\.\S+/gm) ?? []
    expect(names(reference).map((name) => name.slice(4))).toEqual(
      names(mine).filter((name) => !name.includes('.control.')),
    )
    expect(names(reference).length).toBeGreaterThan(40)
    expect(await shown(theirs, 'mmv.node.process.version', '-f')).toContain(
      `inst [${child.pid} or "${child.pid} measured"] value "${process.version}"`,
    )
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect(await shown(theirs, 'mmv.node', '-f')).toContain('Unknown metric name')
    expect(await shown(ours, 'node.process', '-f')).toContain('Unknown metric name')
  })
})
