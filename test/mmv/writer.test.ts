import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { agent as definition } from '../../src/agents/mmv/index.ts'
import { MmvWriter, type MmvWriterOptions } from '../../src/mmv/index.ts'
import { parseHeader, parseMmv } from '../../src/mmv/layout.ts'
import { isError } from '../../src/model/errors.ts'
import { unitsStr } from '../../src/model/units.ts'
import { valuesOf } from '../../src/model/value-set.ts'
import { type AgentSource, openAgent } from '../../src/pmda/open-agent.ts'
import { loadNative } from '../../src/sys/native/calls.ts'
import { ASK } from '../lib/agent-catalogue.ts'

/** A running process other than this one. */
const PARENT = process.ppid
const none = (): undefined => undefined

let root: string
let agent: AgentSource
let writers: MmvWriter[]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'mmv-writer-'))
  writers = []
  agent = openAgent(definition, { root, env: { PCP_TMP_DIR: '/' } })
})
afterEach(async () => {
  for (const writer of writers) writer.close()
  await agent.close()
  rmSync(root, { recursive: true })
})

const directory = (): string => join(root, 'mmv')

function open(name: string, options: MmvWriterOptions = {}): MmvWriter {
  const writer = new MmvWriter(name, { directory: directory(), ...options })
  writers.push(writer)
  return writer
}

/** The values read by the agent. */
async function valuesNamed(name: string): Promise<unknown> {
  const [id] = await agent.lookupNames([name], ASK)
  if (id === undefined || isError(id)) return id?.code
  const [desc] = await agent.descs([id], ASK)
  if (desc === undefined || isError(desc)) return desc?.code
  const { sets } = await agent.fetch([id], ASK)
  const values = valuesOf(sets[0]!, desc.type)
  if (desc.indom === 0xffffffff) return values[0]?.value
  const { ids, names } = await agent.instances(desc.indom, undefined, ASK)
  return Object.fromEntries(values.map(({ inst, value }) => [names[ids.indexOf(inst)], value]))
}

describe.each([
  ['mapped', loadNative],
  ['copied', none],
] as const)('values in memory that is %s', (_way, load) => {
  it('count exactly beyond 2^53', async () => {
    const writer = open('far', { load })
    const counter = writer.counter('count')
    const gauge = writer.gauge('depth', { type: '64' })
    writer.publish()
    counter.set(2n ** 60n)
    for (let i = 0; i < 3; i++) counter.inc()
    gauge.set(-Number.MAX_SAFE_INTEGER)
    gauge.add(-3)
    writer.flush()
    expect(await valuesNamed('mmv.far.count')).toBe(2n ** 60n + 3n)
    expect(await valuesNamed('mmv.far.depth')).toBe(-(2n ** 53n) - 2n)
    gauge.set(5)
    gauge.add(2)
    writer.flush()
    expect(await valuesNamed('mmv.far.depth')).toBe(7)
  })

  it('are read by the agent as they change', async () => {
    const writer = open('app', { load })
    const hits = writer.counter('hits')
    const level = writer.gauge('level')
    const state = writer.text('state')
    writer.publish()
    expect(await valuesNamed('mmv.app.hits')).toBe(0)
    expect(await valuesNamed('mmv.app.level')).toBeUndefined()
    hits.inc()
    hits.add(4)
    level.set(-1.5)
    state.set('grün')
    writer.flush()
    expect(await valuesNamed('mmv.app.hits')).toBe(5)
    expect(await valuesNamed('mmv.app.level')).toBe(-1.5)
    expect(await valuesNamed('mmv.app.state')).toBe('grün')
  })

  it('are taken along when instances and metrics are added', async () => {
    const writer = open('app', { load })
    const queues = writer.instances({ names: ['red'] })
    const depth = queues.gauge('depth', { type: '32' })
    depth.of('red').set(3)
    writer.publish()
    depth.of('blue').set(-4)
    const late = writer.counter('late')
    late.inc()
    writer.publish()
    expect(await valuesNamed('mmv.app.depth')).toEqual({ red: 3, blue: -4 })
    expect(await valuesNamed('mmv.app.late')).toBe(1)
    queues.remove('red')
    writer.publish()
    depth.of('blue').inc()
    writer.flush()
    expect(await valuesNamed('mmv.app.depth')).toEqual({ blue: -3 })
  })

  it('appear by themselves within flushMs, and go with close', async () => {
    const writer = open('app', { load, flushMs: 1 })
    const hits = writer.counter('hits')
    writer.publish()
    hits.inc()
    writer.gauge('later', { initial: 2 })
    await expect.poll(() => valuesNamed('mmv.app.later'), { interval: 5 }).toBe(2)
    expect(await valuesNamed('mmv.app.hits')).toBe(1)
    writer.close()
    expect(await valuesNamed('mmv.app.hits')).toBe('PM_ERR_NAME')
    expect(readdirSync(directory())).toEqual([])
    hits.inc() // to no effect
  })
})

test.each([
  ['32', -5, -5],
  ['u32', 4_000_000_000, 4_000_000_000],
  ['64', -(2 ** 40), -(2 ** 40)],
  ['64', -(2n ** 60n), -(2n ** 60n)],
  ['u64', 2 ** 52 + 1, 2 ** 52 + 1],
  ['u64', 2n ** 63n + 1n, 2n ** 63n + 1n],
  ['float', 1.5, 1.5],
  ['double', -0.1, -0.1],
  ['double', 2n ** 60n, 2 ** 60],
  ['u32', 3.7, 3],
  ['u64', 3.7, 3],
  ['64', Number.NaN, undefined],
  ['32', Number.POSITIVE_INFINITY, undefined],
  ['float', Number.NaN, undefined],
] as const)('a gauge of type %s that is set to %s', async (type, value, seen) => {
  const writer = open('app')
  const gauge = writer.gauge('level', { type })
  writer.publish()
  gauge.set(value)
  expect(await valuesNamed('mmv.app.level')).toBe(seen)
  writer.counter('other') // a new version of the file has the same value
  writer.publish()
  expect(await valuesNamed('mmv.app.level')).toBe(seen)
})

test('64-bit counters never show half of a number', () => {
  const writer = open('app')
  const hits = writer.counter('hits')
  hits.set(2 ** 32 - 1)
  writer.publish()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (value) => {
      hits.set(value)
      const file = readFileSync(writer.path)
      const { metrics } = parseMmv(file)
      expect(file.readBigUInt64LE(metrics[0]!.values.get(-1)!)).toBe(BigInt(value))
    }),
  )
})

test('a cleared gauge has no value until it is set again, also after all bits set', async () => {
  const writer = open('app')
  const gauge = writer.gauge('level', { type: '32', initial: 1 })
  writer.publish()
  gauge.clear()
  expect(gauge.value).toBeUndefined()
  expect(await valuesNamed('mmv.app.level')).toBeUndefined()
  gauge.set(-1)
  expect(await valuesNamed('mmv.app.level')).toBe(-1)
  gauge.clear()
  gauge.inc()
  expect(await valuesNamed('mmv.app.level')).toBe(1)
})

test('texts are cut at a character, and a shorter one leaves nothing of a longer', async () => {
  const writer = open('app')
  const text = writer.text('state', { initial: 'begun' })
  writer.publish()
  expect(await valuesNamed('mmv.app.state')).toBe('begun')
  text.set(`${'x'.repeat(254)}ü`)
  expect(await valuesNamed('mmv.app.state')).toBe('x'.repeat(254))
  text.set('ü')
  expect(await valuesNamed('mmv.app.state')).toBe('ü')
  text.set('')
  expect(await valuesNamed('mmv.app.state')).toBeUndefined()
})

test('a timer grows while a section is open, and counts overlapping sections once', async () => {
  const writer = open('app')
  const busy = writer.timer('busy')
  writer.publish()
  const [first, second] = [busy.start(), busy.start()]
  const start = performance.now()
  while (performance.now() - start < 3);
  first()
  first() // only once
  expect(await valuesNamed('mmv.app.busy')).toBeGreaterThan(2000)
  second()
  const total = busy.elapsedUs
  expect(await valuesNamed('mmv.app.busy')).toBe(Math.round(total))
  await expect(busy.time(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(() =>
    busy.time(() => {
      throw new Error('never')
    }),
  ).toThrow('never')
  const ended = busy.elapsedUs
  const then = performance.now()
  while (performance.now() === then);
  expect(busy.elapsedUs).toBe(ended)
})

test('a histogram counts by range, with instances too', async () => {
  const writer = open('app')
  const plain = writer.histogram('size', { bounds: [1, 10], units: 'Kbyte' })
  const queues = writer.instances()
  const waits = queues.histogram('wait', { bounds: [5] })
  for (const value of [0.5, 1, 1.5, 10, 11, Number.NaN]) plain.record(value)
  waits.of('red').record(6)
  writer.publish()
  expect(await valuesNamed('mmv.app.size.bucket')).toEqual({ 'upto-1': 2, 'upto-10': 2, 'above-10': 1 })
  expect(await valuesNamed('mmv.app.size.count')).toBe(5)
  expect(await valuesNamed('mmv.app.size.sum')).toBe(24)
  waits.of('blue').record(5)
  writer.publish()
  expect(await valuesNamed('mmv.app.wait.bucket')).toEqual({
    'red::upto-5': 0,
    'red::above-5': 1,
    'blue::upto-5': 1,
    'blue::above-5': 0,
  })
  queues.remove('red')
  writer.publish()
  expect(await valuesNamed('mmv.app.wait.count')).toEqual({ blue: 1 })
  expect(Object.keys((await valuesNamed('mmv.app.wait.bucket')) as object)).toEqual([
    'blue::upto-5',
    'blue::above-5',
  ])
})

describe('the file', () => {
  it('has the lowest version that can hold it, or the requested one', () => {
    const long = 'a'.repeat(64)
    const versionOf = (options: MmvWriterOptions, declare: (writer: MmvWriter) => void): number => {
      const writer = open('app', options)
      declare(writer)
      writer.publish()
      const { version } = parseHeader(readFileSync(writer.path))
      writer.close()
      return version
    }
    expect(versionOf({}, (writer) => writer.counter('a'.repeat(63)))).toBe(1)
    expect(versionOf({}, (writer) => writer.counter(long))).toBe(2)
    expect(versionOf({}, (writer) => writer.instances({ names: [long] }))).toBe(2)
    expect(versionOf({ labels: { a: 1 }, cluster: 3 }, (writer) => writer.counter('x'))).toBe(3)
    expect(versionOf({ version: 2 }, (writer) => writer.counter('x'))).toBe(2)
    expect(() => versionOf({ version: 1 }, (writer) => writer.counter(long))).toThrow(/64 bytes: at most 63/)
    expect(() => versionOf({ version: 2, labels: { a: 1 }, cluster: 1 }, () => {})).toThrow(/version 3/)
  })

  it.each([1, 2, 3] as const)('of version %i contains all declarations', (version) => {
    const writer = open('app', { version, cluster: 7 })
    const queues = writer.instances({ serial: 9, names: ['red'], help: 'Queues', text: 'All of them' })
    queues.add('blue', { id: 12 })
    queues.gauge('depth', { item: 5, type: 'u32', units: 'count', sem: 'discrete', help: 'Depth' })
    writer.counter('bytes', { units: 'Kbyte' })
    writer.publish()
    const { header, indoms, metrics } = parseMmv(readFileSync(writer.path))
    expect(header).toMatchObject({ version, cluster: 7, pid: process.pid, flags: 6, isStable: true })
    expect(indoms).toEqual([
      { serial: 9, ids: [0, 12], names: ['red', 'blue'], texts: { oneline: 'Queues', help: 'All of them' } },
    ])
    expect(
      metrics.map(({ name, item, type, sem, units, indom, texts }) => [
        name,
        item,
        type,
        sem,
        unitsStr(units),
        indom,
        texts,
      ]),
    ).toEqual([
      ['depth', 5, 1, 4, 'count', 9, { oneline: 'Depth' }],
      ['bytes', 0, 3, 1, 'Kbyte', undefined, {}],
    ])
  })

  it('has the permissions it is given, whatever the umask', () => {
    for (const mode of [0o666, 0o640]) {
      const writer = open('app', { mode })
      writer.publish()
      expect(statSync(writer.path).mode & 0o777).toBe(mode) // no usual umask allows 0o666
      writer.close()
    }
  })

  it('has a later generation each time, and the old one is no longer valid', () => {
    const writer = open('app')
    const before = Math.floor(Date.now() / 1000)
    writer.publish()
    const generations = [0, 1, 2].map((i) => {
      writer.counter(`c${i}`)
      writer.publish()
      return parseHeader(readFileSync(writer.path)).generation
    })
    expect(generations.toSorted((a, b) => Number(a - b))).toEqual(generations)
    expect(new Set(generations).size).toBe(3)
    const sec = Number(generations[0]! >> 32n)
    expect(sec).toBeGreaterThanOrEqual(before)
    expect(sec).toBeLessThanOrEqual(Date.now() / 1000)
  })

  it('stays when it is to be kept, and may be taken over then', async () => {
    const writer = open('app', { keep: true })
    writer.counter('hits').inc()
    writer.publish()
    writer.close()
    expect(await valuesNamed('mmv.app.hits')).toBe(1)
  })
})

describe('a name that is taken', () => {
  /** As if written by another process. */
  function pretend(path: string, pid: number): void {
    const bytes = readFileSync(path)
    bytes.writeInt32LE(pid, 32)
    writeFileSync(`${path}.other`, bytes)
    rmSync(path)
    writeFileSync(path, bytes)
    rmSync(`${path}.other`)
  }

  it('by a process that lives is refused, and its file is left alone', () => {
    const first = open('app')
    first.publish()
    expect(() => open('app').publish()).toThrow(
      expect.objectContaining({ code: 'EEXIST', message: expect.stringContaining(`process ${process.pid}`) }),
    )
    pretend(first.path, PARENT)
    first.counter('more')
    expect(() => first.publish()).toThrow(/is written by process/)
    first.close()
    expect(parseHeader(readFileSync(first.path)).pid).toBe(PARENT)
    expect(readdirSync(directory())).toEqual(['app'])
  })

  it('by a process that ended is taken over, also when its number is another process now', () => {
    const first = open('app')
    first.publish()
    pretend(first.path, 2 ** 22 + 7)
    open('app').publish()
    const bytes = readFileSync(first.path)
    const longAgo = BigInt(1000) << 32n
    for (const at of [8, 16]) bytes.writeBigUInt64LE(longAgo, at)
    rmSync(first.path)
    writeFileSync(first.path, bytes)
    open('app').publish()
    expect(parseHeader(readFileSync(first.path)).generation).toBeGreaterThan(longAgo)
  })

  it('by something else is left alone', () => {
    const writer = open('app')
    writer.publish()
    writer.close()
    writeFileSync(writer.path, 'notes')
    expect(() => open('app').publish()).toThrow(/app: Not a file of memory-mapped values/)
    expect(readFileSync(writer.path, 'utf8')).toBe('notes')
  })
})

test('a failed write is retried, and values continue to be counted', async () => {
  const problems: string[] = []
  const writer = open('app', { flushMs: 1, onError: ({ message }) => problems.push(message) })
  const hits = writer.counter('hits')
  writer.publish()
  const late = writer.instances({ names: [`x${'y'.repeat(300)}`] })
  late.gauge('long')
  await expect.poll(() => problems.length, { interval: 2 }).toBeGreaterThan(1)
  expect(problems[0]).toContain('301 bytes: at most 255 are allowed')
  hits.inc()
  expect(await valuesNamed('mmv.app.hits')).toBe(1)
})

test('temporary files of a killed process are removed', () => {
  const writer = open('app')
  writer.publish()
  const left = join(directory(), `.app.${2 ** 22 + 7}.0.new`)
  writeFileSync(left, '')
  writer.counter('more')
  writer.publish()
  expect(readdirSync(directory())).toEqual(['app'])
})

test.each<[string, (writer: MmvWriter) => unknown, RegExp]>([
  ['a name', (writer) => writer.counter('1x'), /"1x" is not a valid metric name/],
  ['the same name', (writer) => [writer.counter('a'), writer.gauge('a')], /a already exists/],
  [
    'the same item',
    (writer) => [writer.counter('a', { item: 4 }), writer.gauge('b', { item: 4 })],
    /already in use/,
  ],
  ['an item', (writer) => writer.counter('a', { item: 1024 }), /not from 0 to 1023/],
  ['units', (writer) => writer.counter('a', { units: 'sheep' }), /sheep/],
  ['bounds', (writer) => writer.histogram('a', { bounds: [2, 1] }), /must ascend: 2, 1/],
  ['no bounds', (writer) => writer.histogram('a', { bounds: [] }), /0 bounds/],
  ['instances', (writer) => writer.instances({ names: ['a', 'a'] }), /"a" already exists/],
  [
    'an instance number',
    (writer) => writer.instances().add('a', { id: -1 }),
    /not a valid instance identifier/,
  ],
])('%s that cannot be is refused', (_what, declare, message) => {
  expect(() => declare(open('app'))).toThrow(message)
})

test.each(['', '.x', 'a/b', 'a b', '1a'])('"%s" is not a valid file name', (name) => {
  expect(() => open(name)).toThrow(/is not a valid/)
})
