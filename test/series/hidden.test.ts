/** Series that users without a name do not see. */
import { expect, test } from 'vitest'
import { domainOf, indom, pmid } from '../../src/model/ids.ts'
import { PM_SEM_INSTANT, PM_TYPE_32 } from '../../src/model/types.ts'
import { VisibleSeries } from '../../src/series/hidden.ts'
import { evaluate } from '../../src/series/query/evaluate.ts'
import { findSeries } from '../../src/series/query/find.ts'
import { parseQuery } from '../../src/series/query/parse.ts'
import type { Selector } from '../../src/series/query/syntax.ts'
import type { SearchText, SeriesStore } from '../../src/series/store.ts'
import { ValueBudget } from '../../src/series/value-budget.ts'
import { makeZone } from '../../src/time/zone.ts'

const SOURCE = 'a'.repeat(40)
const [CPU, PROC] = ['1'.repeat(40), '2'.repeat(40)]
const IDS = { both: '3'.repeat(40), cpu: '4'.repeat(40), secret: '5'.repeat(40) }
const INSTANCES: Readonly<Record<string, readonly (keyof typeof IDS)[]>> = {
  [CPU]: ['both', 'cpu'],
  [PROC]: ['both', 'secret'],
}
const METRICS: Readonly<Record<string, string>> = { [CPU]: 'kernel.cpu', [PROC]: 'proc.psinfo.cmd' }
const DOMAINS: Readonly<Record<string, number>> = { [CPU]: 60, [PROC]: 3 }
/** Series by label and value. */
const LABELS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  hostname: { '"db1"': [CPU, PROC] },
  userid: { '0': [PROC] },
  agent: { '"linux"': [CPU], '"proc"': [PROC] },
}
const text = (type: SearchText['type'], name: string, of: string): SearchText => ({
  ...{ type, name, indom: of, oneline: '', help: '' },
})
const TEXTS = [
  text('metric', 'kernel.cpu', '60.1'),
  text('metric', 'proc.psinfo.cmd', '3.9'),
  text('indom', '60.1', '60.1'),
  text('indom', '3.9', '3.9'),
  text('instance', 'cpu', '60.1'),
  text('instance', 'secret', '3.9'),
]

function names(kind: string): readonly string[] {
  if (kind === 'metric') return Object.values(METRICS)
  return kind === 'label' ? Object.keys(LABELS) : kind === 'instance' ? Object.keys(IDS) : ['db1']
}

/** A store with a metric of CPUs and one of processes; the instance `both` is one of each. */
const STORE: SeriesStore = {
  names: async (kind) => names(kind),
  labelValues: async (label) => Object.keys(LABELS[label] ?? {}),
  withLabel: async (label, value) => LABELS[label]?.[value] ?? [],
  withName: async (kind, name) =>
    [CPU, PROC].filter((id) =>
      kind === 'metric'
        ? METRICS[id] === name
        : kind === 'context' || (INSTANCES[id] as readonly string[]).includes(name),
    ),
  desc: async (id) =>
    METRICS[id] === undefined
      ? undefined
      : {
          ...{ pmid: pmid(DOMAINS[id]!, 0, 0), type: PM_TYPE_32, indom: indom(DOMAINS[id]!, 1) },
          ...{ sem: PM_SEM_INSTANT, units: 0, source: SOURCE },
        },
  metricNames: async (id) => [METRICS[id]!],
  instances: async (id) =>
    INSTANCES[id]!.map((name, inst) => ({ id: IDS[name], inst, name, source: SOURCE })),
  instanceName: async (id) => Object.entries(IDS).find(([, each]) => each === id)?.[0],
  labels: async () => new Map([['hostname', '"db1"']]),
  sourceNames: async () => ['db1'],
  samples: async () => [{ sec: 1, nsec: 0, ids: [''], values: [1] }],
  texts: async () => TEXTS,
  expression: async () => 'abs(proc.psinfo.cmd)',
  keepExpression: async () => {
    throw new Error('not for everyone')
  },
  close: async () => {},
}

const visible = new VisibleSeries(STORE, (id) => domainOf(id) === 3)

test('names, instances and labels that only hidden series have are absent', async () => {
  expect(await visible.names('metric')).toEqual(['kernel.cpu'])
  expect(await visible.names('instance')).toEqual(['both', 'cpu'])
  expect(await visible.names('label')).toEqual(['hostname', 'agent'])
  expect(await visible.names('context')).toEqual(['db1'])
  expect(await visible.labelValues('agent')).toEqual(['"linux"'])
  expect(await visible.labelValues('userid')).toEqual([])
  // Again, from the table of known names.
  expect(await visible.names('instance')).toEqual(['both', 'cpu'])
})

test('no question finds a hidden series', async () => {
  expect(await visible.withName('metric', 'proc.psinfo.cmd')).toEqual([])
  expect(await visible.withName('instance', 'both')).toEqual([CPU])
  expect(await visible.withName('context', 'db1')).toEqual([CPU])
  expect(await visible.withLabel('hostname', '"db1"')).toEqual([CPU])
  const clock = { now: () => 0, zone: makeZone('UTC', undefined), zoneOf: () => makeZone('UTC', undefined) }
  expect(await evaluate(visible, parseQuery('{hostname=="db1"}'), clock)).toEqual({ kind: 'ids', ids: [CPU] })
})

test('a selector looks at series that fulfil all conditions, and an invalid pattern reveals no hidden one', async () => {
  const seen: string[] = []
  const store: SeriesStore = {
    ...STORE,
    desc: (id) => {
      seen.push(id)
      return STORE.desc(id)
    },
  }
  const hiding = new VisibleSeries(store, (id) => domainOf(id) === 3)
  const find = (text: string): Promise<readonly string[]> =>
    findSeries(hiding, parseQuery(text).body as Selector)
  expect(await find('kernel.cpu{hostname=="db1"}')).toEqual([CPU])
  expect(seen).toEqual([CPU])
  expect(await find('proc.psinfo.cmd{hostname=="db1"}')).toEqual([])
  expect(await find('proc.psinfo.cmd{hostname=~"("}')).toEqual([])
  await expect(find('kernel.cpu{hostname=~"("}')).rejects.toMatchObject({ code: 'EINVAL' })
})

test('the identifier of a hidden series, or of an instance of it, is like an unknown one', async () => {
  expect(await visible.desc(PROC)).toBeUndefined()
  expect(await visible.metricNames(PROC)).toEqual([])
  expect(await visible.instances(PROC)).toEqual([])
  expect(await visible.samples(PROC, {}, new ValueBudget())).toEqual([])
  expect(await visible.labels(PROC)).toBeUndefined()
  expect(await visible.labels(IDS.secret)).toBeUndefined()
  expect(await visible.labels('9'.repeat(40))).toBeUndefined()
  for (const id of [CPU, IDS.cpu, IDS.both]) expect((await visible.labels(id))?.size, id).toBe(1)
  expect(await visible.samples(CPU, {}, new ValueBudget())).toHaveLength(1)
})

test('texts for searching are those of visible metrics: the same list until they change', async () => {
  const texts = await visible.texts()
  expect(texts.map(({ name }) => name)).toEqual(['kernel.cpu', '60.1', 'cpu'])
  expect(await visible.texts()).toBe(texts)
})

test('calculations are not kept', () => {
  expect('keepExpression' in visible).toBe(false)
})
