/** Derived metrics of a process: configuration files, calls, and their use in contexts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { withDerived } from '../../src/derive/derived-source.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import { pmidStr } from '../../src/model/ids.ts'
import { ANONYMOUS, type MetricSource } from '../../src/model/source.ts'
import { extract } from '../../src/model/value-set.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import { Context } from '../../src/pmapi/context.ts'
import { DerivedMetrics } from '../../src/pmapi/derived.ts'
import { datasetSource, T0, vectors } from '../derive/dataset.ts'
import { writeDataset } from '../derive/dataset-archive.ts'

interface ConfigCase {
  readonly name: string
  readonly mode: 'load' | 'env'
  readonly path: string
  readonly files: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly result?: number | string
  readonly metrics?: Readonly<
    Record<
      string,
      { readonly lookup?: string; readonly desc?: string; readonly oneline?: string; readonly help?: string }
    >
  >
  readonly stderr: string
}

/** Intended differences from the recorded release. */
const MENDED: Readonly<Record<string, Partial<ConfigCase> & { readonly why: string }>> = {
  'no final newline': {
    why: 'a last line without newline is a line',
    result: 1,
    metrics: { 'a.one': { oneline: 'PM_ERR_TEXT', help: 'PM_ERR_TEXT' } },
  },
  'continuation eof': {
    why: 'a last line without newline is a line, and its backslash continues nothing',
    stderr:
      '[CFG/main:1] Error: pmRegisterDerived(a.one, ...) syntax error\n g.u32.d \\\n         ^\nIllegal character\n',
  },
  'unknown operand': { why: 'as release 6.0.3: a host may do without a metric', stderr: '' },
}

const ask = { requester: ANONYMOUS }
let dir = ''

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'derived-'))
})

afterEach(() => rmSync(dir, { recursive: true }))

/** Runs a case; returns its outcome in the form of the vectors. */
async function observe({ mode, path, files, env = {}, metrics }: ConfigCase): Promise<Partial<ConfigCase>> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  const list = path.replaceAll('CFG', dir)
  let stderr = ''
  const report = (text: string): void => {
    stderr += text.replaceAll(dir, 'CFG')
  }
  const derived = new DerivedMetrics(env)
  const result = mode === 'load' ? attempt(() => derived.loadFiles(list, report)) : undefined
  const { list: definitions, ...rest } = derived.setup(
    mode === 'env' ? { PCP_DERIVED_CONFIG: list } : {},
    report,
  )
  const source = withDerived(datasetSource(), definitions, { ...rest, hasEvents: true })
  await source.traverse('', ask)
  const found: Record<string, object> = {}
  for (const name of Object.keys(metrics ?? {})) {
    const [id] = await source.lookupNames([name], ask)
    if (isError(id!)) {
      found[name] = { lookup: id.code }
      continue
    }
    const [desc] = await source.descs([id!], ask)
    const text = (level: 'oneline' | 'help'): Promise<string> =>
      source.text({ kind: 'metric', id: id!, level }, ask).catch((error) => PcpError.from(error).code)
    const failure = isError(desc!) ? { desc: desc.code } : {}
    found[name] = { ...failure, oneline: await text('oneline'), help: await text('help') }
  }
  return {
    ...(result === undefined ? {} : { result }),
    ...(metrics === undefined ? {} : { metrics: found }),
    stderr,
  }
}

function attempt(load: () => number): number | string {
  try {
    return load()
  } catch (error) {
    return `-${PcpError.from(error).code}`
  }
}

test('config.json', async () => {
  const { cases, count } = vectors<{ cases: ConfigCase[]; count: number }>('config')
  expect(cases.length).toBe(count)
  const wrong: unknown[] = []
  for (const vector of cases) {
    rmSync(dir, { recursive: true })
    mkdirSync(dir)
    const { why: _, ...mended } = MENDED[vector.name] ?? { why: '' }
    const { result, metrics, stderr } = { ...vector, ...mended }
    const want = {
      ...(result === undefined ? {} : { result }),
      ...(metrics === undefined ? {} : { metrics }),
      stderr,
    }
    const got = await observe(vector)
    if (!isDeepStrictEqual(got, want)) wrong.push({ name: vector.name, got, want })
  }
  console.log(`config: ${count} cases compared; mended: ${Object.keys(MENDED).length}`)
  expect(wrong).toEqual([])
})

/** Returns a context on the data set with the metrics registered in `metrics`. */
function contextWith(metrics: DerivedMetrics): Context {
  return Context.over(datasetSource(), { derived: () => metrics.setup() })
}

describe('a context', () => {
  test('has the metrics registered before it was opened, and its own', async () => {
    const metrics = new DerivedMetrics()
    metrics.register('d.double', 'g.u32.d * 2')
    const context = contextWith(metrics)
    metrics.register('d.late', '1')
    await context.addDerived('d.sum', 'sum(m.a.cnt)')
    context.addDerivedText('d.sum', 'oneline', 'How many there are')
    const ids = await context.lookupNames(['d.double', 'd.sum', 'd.late', 'd'])
    expect(ids.map((id) => (isError(id) ? id.code : pmidStr(id)))).toEqual([
      '511.0.3',
      '511.2047.1023',
      'PM_ERR_NAME',
      'PM_ERR_NONLEAF',
    ])
    const [double, sum] = ids as readonly number[]
    expect(await context.namesOf(sum!)).toEqual(['d.sum'])
    expect(await context.text(sum!)).toBe('How many there are')
    await expect(context.text(double!)).rejects.toMatchObject({ code: 'PM_ERR_TEXT' })
    const { sets } = await context.fetch([sum!, double!, sum!])
    expect(sets.map(({ pmid, status }) => [pmid, status])).toEqual([
      [sum, 1],
      [double, 1],
      [sum, 1],
    ])
  })

  test('requests from the source only what a walk visits', async () => {
    const metrics = new DerivedMetrics()
    metrics.register('own.one', 'm.a.cnt')
    metrics.register('other.one', 'm.b.val')
    const source = datasetSource()
    const asked: string[] = []
    const watched: MetricSource = Object.assign(Object.create(source), {
      lookupNames: (...[names, from]: Parameters<MetricSource['lookupNames']>) => {
        asked.push(...names)
        return source.lookupNames(names, from)
      },
    })
    const { list, ...rest } = metrics.setup()
    const derived = withDerived(watched, list, rest)
    await derived.traverse('g', ask)
    expect(asked).toEqual([])
    expect(await derived.traverse('own', ask)).toEqual(['own.one'])
    expect(asked).toEqual(['m.a.cnt'])
    await derived.children('other', ask)
    expect(asked).toEqual(['m.a.cnt', 'm.b.val'])
  })

  test("lists them after the source's names, except those that cannot be bound", async () => {
    const metrics = new DerivedMetrics()
    for (const [name, text] of [
      ['g.u32.more.deep', '1'],
      ['own.good', 'm.a.cnt'],
      ['own.bad', 'no.such'],
    ] as const)
      metrics.register(name, text)
    const context = contextWith(metrics)
    expect(await context.children('own')).toEqual([{ name: 'good', isLeaf: true }])
    expect(await context.children('g.u32')).toContainEqual({ name: 'more', isLeaf: false })
    expect(await context.children('own.good')).toEqual([])
    expect(await context.traverse('own')).toEqual(['own.good'])
    expect((await context.traverse('g.u32')).at(-1)).toBe('g.u32.more.deep')
    expect((await context.traverse()).at(-1)).toBe('own.good')
    await expect(context.traverse('nowhere')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
    const bad = await context.lookupName('own.bad')
    expect(await context.traverse('own.bad')).toEqual(['own.bad'])
    await expect(context.desc(bad)).rejects.toMatchObject({ code: 'PM_ERR_BADDERIVE' })
    const { sets } = await context.fetch([bad])
    expect(PcpError.fromStatus(sets[0]!.status).code).toBe('PM_ERR_PMID')
  })

  test('prefers its own metrics to those of the process, and real ones to both', async () => {
    const metrics = new DerivedMetrics()
    metrics.register('d.x', '1')
    metrics.register('g.u32.d', '1')
    const context = contextWith(metrics)
    await context.addDerived('d.x', '2')
    expect(pmidStr(await context.lookupName('d.x'))).toBe('511.2047.1023')
    expect(pmidStr(await context.lookupName('g.u32.d'))).toBe('245.0.6')
    context.removeDerived('d.x')
    expect(pmidStr(await context.lookupName('d.x'))).toBe('511.0.3')
    metrics.unregister('d.x')
    await expect(context.lookupName('d.x')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
    expect(() => metrics.unregister('d.x')).toThrow(PcpError)
    expect(() => context.removeDerived('d.x')).toThrow(PcpError)
  })

  test('keeps its own metrics when it is reconnected, and restarts their deltas', async () => {
    const context = Context.over(datasetSource(), {
      derived: () => new DerivedMetrics().setup(),
      reopen: async () => datasetSource(),
    })
    const id = await context.addDerived('d.delta', 'delta(m.a.cnt)')
    const counts = async (): Promise<number> => (await context.fetch([id])).sets[0]!.status
    expect([await counts(), await counts()]).toEqual([0, 3])
    await context.reconnect()
    expect([await counts(), await counts()]).toEqual([0, 3])
    expect(await context.lookupName('d.delta')).toBe(id)
  })

  test('points at the error in an expression', async () => {
    const metrics = new DerivedMetrics()
    const context = contextWith(metrics)
    await expect(context.addDerived('d.x', 'm.a.cnt + ')).rejects.toMatchObject({
      code: 'PM_ERR_BADDERIVE',
      message:
        'Syntax Error: pmAddDerivedMetric("d.x", ...)\nm.a.cnt + \n         ^\nArithmetic expression expected to follow PLUS\n',
    })
    await expect(context.addDerived('2d', '1')).rejects.toMatchObject({ code: 'PM_ERR_NAME' })
    expect(() => metrics.register('d.x', 'a b')).toThrow(
      'Error: pmRegisterDerivedMetric("d.x", ...)\na b\n  ^\nArithmetic or relational or boolean operator expected to follow NAME\n',
    )
  })
})

test('instance domains on one line of indom.conf are the same', async () => {
  const file = join(dir, 'indom.conf')
  writeFileSync(file, '# comment\n245.1 245.3\n')
  const context = Context.over(datasetSource(), {
    derived: () => new DerivedMetrics().setup({ PCP_INDOM_CONFIG: file }),
  })
  const id = await context.addDerived('d.x', 'm.a.val + m.c.val')
  expect((await context.fetch([id])).sets[0]!.status).toBe(3)
  await expect(context.addDerived('d.y', 'm.a.val + m.b.val')).rejects.toThrow('same instance domain')
})

test('controls limit how many metrics there are', async () => {
  const metrics = new DerivedMetrics({ PCP_DERIVED_CONTROL: 'global_limit=1' })
  metrics.setControl('context_limit', 1)
  const context = contextWith(metrics)
  metrics.register('d.a', '1')
  expect(() => metrics.register('d.b', '1')).toThrow('Too many global derived metrics')
  expect(() => metrics.setControl('global_limit', 5)).toThrow(PcpError)
  await context.addDerived('d.c', '1')
  await expect(context.addDerived('d.d', '1')).rejects.toThrow('Too many per-context derived metrics')
})

describe('over an archive', () => {
  async function open(): Promise<Context> {
    const base = join(dir, 'dataset')
    await writeDataset(base)
    return openArchive(base, { env: {}, derived: () => new DerivedMetrics().setup() })
  }

  /** Returns seconds since the start and the first value of each fetch, to the end. */
  async function rows(context: Context, id: number, times: number): Promise<unknown[]> {
    const found: unknown[] = []
    for (let i = 0; i < times; i++) {
      const { timestamp, sets } = await context.fetch([id])
      const set = sets[0]!
      found.push([
        timestamp.sec - T0,
        set.status > 0 ? extract(set, 0, (await context.desc(id)).type) : undefined,
      ])
    }
    return found
  }

  test('deltas are between records, and restart when mode or position is set', async () => {
    const context = await open()
    const id = await context.addDerived('d.x', 'delta(g.s32.c)')
    const forward = [
      [0, undefined],
      [10, 50],
      [20, 0],
    ]
    expect(await rows(context, id, 3)).toEqual(forward)
    context.archive!.setMode('forward', context.archive!.start)
    expect(await rows(context, id, 3)).toEqual(forward)
    await context.close()
  })

  test('values are computed from interpolated ones', async () => {
    const context = await open()
    const id = await context.addDerived('d.x', 'rate(g.s32.c)')
    context.archive!.setMode('interpolate', context.archive!.start, 5)
    expect(await rows(context, id, 4)).toEqual([
      [0, undefined],
      [5, 5],
      [10, 5],
      [15, 0],
    ])
    await context.close()
  })

  test('concurrent fetches are answered as if in sequence', async () => {
    const names = ['d.change', 'd.some', 'd.rate', 'g.s32.c', 'm.a.cnt']
    const expressions = ['delta(g.s32.c)', 'delta(matchinst(!/x/, m.a.cnt))', 'rate(m.a.cnt)']
    const base = join(dir, 'dataset')
    await writeDataset(base)
    const fresh = async (): Promise<{ context: Context; ids: readonly number[] }> => {
      const context = await openArchive(base, { env: {}, derived: () => new DerivedMetrics().setup() })
      for (const [i, text] of expressions.entries()) await context.addDerived(names[i]!, text)
      context.archive!.setMode('interpolate', context.archive!.start, 3)
      return { context, ids: (await context.lookupNames(names)) as readonly number[] }
    }
    const wishes = fc.array(fc.subarray([0, 1, 2, 3, 4], { minLength: 1 }), { minLength: 2, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(wishes, async (lists) => {
        const one = await fresh()
        const alone = []
        for (const list of lists) alone.push(await one.context.fetch(list.map((i) => one.ids[i]!)))
        const other = await fresh()
        const overlapping = lists.map((list) => other.context.fetchNow(list.map((i) => other.ids[i]!)))
        expect(await Promise.all(overlapping)).toEqual(alone)
        await Promise.all([one.context.close(), other.context.close()])
      }),
      { numRuns: 15 },
    )
  })

  test('a constant has a value in every record', async () => {
    const context = await open()
    const id = await context.addDerived('d.x', '6 * 7')
    expect(await rows(context, id, 3)).toEqual([
      [0, 42],
      [10, 42],
      [20, 42],
    ])
    await rows(context, id, 3)
    await expect(context.fetch([id])).rejects.toMatchObject({ code: 'PM_ERR_EOL' })
    await context.close()
  })
})

test('each context has the definitions of its own list of files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'pcp-derived-lists-'))
  const [a, b] = [join(dir, 'a'), join(dir, 'b')]
  writeFileSync(a, 'one.a = 1 + 1\n')
  writeFileSync(b, 'two.b = 2 + 2\n')
  const metrics = new DerivedMetrics()
  metrics.register('own.c', '3 + 3')
  const namesOf = (list: string): readonly string[] =>
    metrics
      .setup({ PCP_DERIVED_CONFIG: list })
      .list()
      .map(({ name }) => name)
  expect(namesOf(a)).toEqual(['own.c', 'one.a'])
  expect(namesOf(b)).toEqual(['own.c', 'two.b'])
  expect(namesOf('')).toEqual(['own.c'])
  expect(namesOf(`${a}:${b}`)).toEqual(['own.c', 'one.a', 'two.b'])
  rmSync(dir, { recursive: true })
})
