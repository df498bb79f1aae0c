/** Plain JavaScript may leave out any field of a declaration or give it another type: each is an error that names it. */
import { expect, test } from 'vitest'
import { PcpError } from '../../src/model/errors.ts'
import type {
  AgentSpec,
  AgentTables,
  AliasSpec,
  DeprecatedIndomFields,
  DeprecatedMetricFields,
  IndomSpec,
  MetricSpec,
} from '../../src/pmda/define.ts'
import { defineAgent } from '../../src/pmda/define-agent.ts'
import type { DaemonOption } from '../../src/pmda/index.ts'
import { openAgent } from '../../src/pmda/open-agent.ts'

type Fields = { readonly [name: string]: unknown }

const metric: Fields = { item: 0, type: 'u32', sem: 'instant', units: 'none', help: 'Depth', value: () => 1 }
const indom: Fields = { serial: 3, instances: { a: 0 }, help: 'Queues' }
const pending = Promise.resolve()
const later = async (): Promise<boolean> => false

/** Wrong values by kind of field; null is always wrong. */
const NUMBER = ['1', -1, 1.5, Number.NaN, 2 ** 33, {}]
const TEXT = [5, {}, () => 'text']
const FULL_TEXT = [...TEXT, '', '  ']
const FLAG = ['true', 1, {}]
const FUNCTION = [5, 'value', {}, later]
const SLOW_FUNCTION = [5, 'value', {}]
const READING = [5, () => 1, {}, { refresh: 1 }]
const TEXTS = ['text', [], { help: 5 }]
const LABELS = ['{}', [], new Map(), { 'a b': 1 }, { a: undefined }, { a: 1n }, { a: () => 1 }, pending]
const LABELS_OR_FUNCTION = [...LABELS, later]
const LIST = ['abc', {}, 5, [5]]

type Wrong<T> = { readonly [K in keyof T]-?: readonly unknown[] }

const METRIC: Wrong<Omit<MetricSpec, keyof DeprecatedMetricFields>> = {
  cluster: NUMBER,
  item: NUMBER,
  type: ['U32', 32, 'toString'],
  sem: ['gauge', 1],
  units: [...TEXT, 'furlong'],
  indom: [5, 'queues', [], () => indom],
  help: FULL_TEXT,
  text: TEXT,
  texts: TEXTS,
  labels: LABELS_OR_FUNCTION,
  optionalLabels: LABELS_OR_FUNCTION,
  describe: FUNCTION,
  reading: READING,
  isVisibleTo: FUNCTION,
  prefetch: SLOW_FUNCTION,
  begin: FUNCTION,
  value: FUNCTION,
  reportedAs: FUNCTION,
  store: FUNCTION,
  isControl: FLAG,
  acceptsNullInstance: FLAG,
}
const ALIAS: Wrong<AliasSpec> = { alias: [{}, -1, 1.5] }
const INDOM: Wrong<Omit<IndomSpec, keyof DeprecatedIndomFields>> = {
  serial: NUMBER,
  instances: [5, ['a'], new Map(), later, pending],
  isPerRequester: FLAG,
  canonicalName: FUNCTION,
  reading: READING,
  help: FULL_TEXT,
  text: TEXT,
  texts: TEXTS,
  labels: LABELS,
  instanceLabels: FUNCTION,
  optionalInstanceLabels: FUNCTION,
}
const TABLES: Wrong<AgentTables> = {
  metrics: [5, [], new Map(), pending],
  dynamicRoots: LIST,
  hidesDynamicNodes: FLAG,
  labels: LABELS,
  clusterLabels: [5, [], { x: {} }, { 1: 5 }],
  indoms: LIST,
  beforeRequest: FUNCTION,
  afterRequest: FUNCTION,
  tablesFor: FUNCTION,
  beforeFetch: FUNCTION,
  endClient: FUNCTION,
  close: SLOW_FUNCTION,
}
const AGENT: Wrong<Omit<AgentSpec, keyof AgentTables>> = {
  name: [5, '', 'a b'],
  domain: [...NUMBER, 0, 511],
  needsNoRoot: FLAG,
  options: LIST,
  open: FUNCTION,
}
const OPTION: Wrong<DaemonOption> = { short: [5], long: [5, {}], arg: [5], help: [5, {}] }

const open = (fields: Fields): unknown =>
  openAgent(defineAgent({ name: 'queue', domain: 400, ...fields } as unknown as AgentSpec))
const openMetric = (fields: unknown): unknown =>
  open({ metrics: { 'queue.real': { ...metric, item: 1 }, 'queue.depth': fields } })

interface Case {
  readonly wrong: Wrong<object>
  readonly required: readonly string[]
  /** Start of the message. */
  readonly where: string
  readonly open: (fields: Fields) => unknown
}

const good = { metrics: { 'queue.depth': metric } }
const CASES: { readonly [kind: string]: Case } = {
  agent: {
    wrong: AGENT,
    required: ['name'],
    where: 'Agent',
    open: (fields) => open({ ...good, ...fields }),
  },
  'tables given directly': {
    wrong: TABLES,
    required: ['metrics'],
    where: 'Agent queue: ',
    open: (fields) => open({ ...good, ...fields }),
  },
  'tables returned by open': {
    wrong: TABLES,
    required: ['metrics'],
    where: 'Agent queue: ',
    open: (fields) => open({ open: () => ({ ...good, ...fields }) }),
  },
  'tables given beside open': {
    wrong: TABLES,
    required: ['metrics'],
    where: 'Agent queue: ',
    open: (fields) => open({ labels: { a: 1 }, open: () => ({ ...good, ...fields }) }),
  },
  metric: {
    wrong: METRIC,
    required: ['item', 'type', 'sem', 'units', 'help', 'value'],
    where: 'Agent queue, metric queue.depth: ',
    open: (fields) => openMetric({ ...metric, ...fields }),
  },
  alias: {
    wrong: ALIAS,
    required: ['alias'],
    where: 'Agent queue, metric queue.depth: ',
    open: (fields) => openMetric({ alias: 'queue.real', ...fields }),
  },
  'instance domain of a metric': {
    wrong: INDOM,
    required: ['serial', 'instances', 'help'],
    where: 'Agent queue, metric queue.depth, instance domain',
    open: (fields) => openMetric({ ...metric, indom: { ...indom, ...fields } }),
  },
  'instance domain of the tables': {
    wrong: INDOM,
    required: ['serial', 'instances', 'help'],
    where: 'Agent queue, instance domain',
    open: (fields) => open({ ...good, indoms: [{ ...indom, ...fields }] }),
  },
  option: {
    wrong: OPTION,
    required: ['long', 'help'],
    where: 'Agent queue, option 1: ',
    open: (fields) => open({ ...good, options: [{ long: 'file', help: 'File', ...fields }] }),
  },
}

function errorOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

for (const [kind, { wrong, required, where, open: openWith }] of Object.entries(CASES)) {
  test(`${kind}: is accepted with its required fields`, () => {
    expect(errorOf(() => openWith({}))).toBeUndefined()
  })
  for (const [field, values] of Object.entries(wrong) as [string, readonly unknown[]][]) {
    test(`${kind}: refuses wrong values of ${field}`, () => {
      const bad = [null, ...values, ...(required.includes(field) ? [undefined] : [])]
      for (const value of bad) {
        const error = errorOf(() => openWith({ [field]: value })) as PcpError
        expect(error, String(value)).toBeInstanceOf(PcpError)
        expect(error.code).toBe('EINVAL')
        expect(error.message.startsWith(where), error.message).toBe(true)
        expect(error.message).toContain(field)
      }
    })
  }
}

test.each([
  ['an agent', () => defineAgent(undefined as never)],
  ['a metric', () => openMetric(undefined)],
  ['the result of open', () => open({ open: () => pending })],
  ['the result of open beside tables', () => open({ labels: {}, open: () => undefined })],
])('refuses %s that is no object', (_, run) => {
  expect(errorOf(run)).toMatchObject({ name: 'PcpError', code: 'EINVAL' })
})

test('says what is missing', () => {
  expect(() => openMetric({ ...metric, help: undefined })).toThrow(
    'Agent queue, metric queue.depth: help must be a text of at least one character, but is missing',
  )
})
