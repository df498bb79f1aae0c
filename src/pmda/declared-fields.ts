/** Checks the fields of a declaration, as agents in plain JavaScript have no compiler. docs/reference/agent-toolkit.md */
import { inspect } from 'node:util'
import { PcpError } from '../model/errors.ts'
import { makeLabelSet } from '../model/label-set.ts'
import { LABEL_ITEM } from '../model/labels.ts'
import type { DaemonOption } from './daemon-options.ts'
import type {
  AgentSpec,
  AgentTables,
  AliasSpec,
  DeprecatedIndomFields,
  DeprecatedMetricFields,
  IndomSpec,
  MetricSpec,
} from './define.ts'
import { SEMANTICS, TYPES } from './type-tables.ts'

/** Values that a field may have. */
interface Kind {
  /** Completes 'must be'. */
  readonly expects: string
  readonly accepts: (value: unknown) => boolean
}

/** The check of a field, which agrees with its type on whether it may be absent. */
type Check<T> = undefined extends T ? { readonly optional: Kind } : { readonly required: Kind }

interface Field extends Kind {
  readonly name: string
  readonly isOptional: boolean
}

/** A check for each field of T: the compiler rejects a table that lacks one. */
type Checks<T> = { readonly [K in keyof T]-?: Check<T[K]> }

function fieldsOf<T>(checks: Checks<T>): readonly Field[] {
  const entries = Object.entries(checks) as [string, { readonly optional?: Kind; readonly required: Kind }][]
  return entries.map(([name, { optional, required }]) => ({
    name,
    isOptional: optional !== undefined,
    ...(optional ?? required),
  }))
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Not a list or map, whose entries are not its properties, nor a promise, the result of an async function. */
function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false
  return !(Symbol.iterator in value) && typeof (value as { readonly then?: unknown }).then !== 'function'
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}

const whole = (least: number, most: number): Kind => ({
  expects: `a whole number from ${least} to ${most}`,
  accepts: (value) => isWhole(value, least, most),
})

const oneOf = (words: { readonly [word: string]: number }): Kind => ({
  expects: `one of ${Object.keys(words).join(', ')}`,
  accepts: (value) => isText(value) && Object.hasOwn(words, value),
})

const listOf = (what: string, accepts: (value: unknown) => boolean): Kind => ({
  expects: `an array of ${what}`,
  accepts: (value) => Array.isArray(value) && value.every(accepts),
})

const TEXT: Kind = { expects: 'a text', accepts: isText }
const FULL_TEXT: Kind = {
  expects: 'a text of at least one character',
  accepts: (value) => isText(value) && /\S/.test(value),
}
const YES_OR_NO: Kind = { expects: 'true or false', accepts: (value) => typeof value === 'boolean' }
const RECORD: Kind = { expects: 'an object', accepts: isRecord }
const ANY_FUNCTION: Kind = { expects: 'a function', accepts: (value) => typeof value === 'function' }

const ASYNC_FUNCTION = (async () => {}).constructor
/** Its result or exception is used immediately: a promise would count as true, or be lost. */
const FUNCTION: Kind = {
  expects: 'a function that is not async',
  accepts: (value) => typeof value === 'function' && !(value instanceof ASYNC_FUNCTION),
}

const REFRESHABLE: Kind = {
  expects: 'an object with a function "refresh", such as a Reading',
  accepts: (value) =>
    typeof value === 'object' && value !== null && FUNCTION.accepts((value as { refresh?: unknown }).refresh),
}

const TEXTS: Kind = {
  expects: 'an object with the texts "oneline" and "help", or one of them',
  accepts: (value) =>
    isRecord(value) && [value['oneline'], value['help']].every((text) => text === undefined || isText(text)),
}

/** Labels that were accepted: many metrics share one object. */
const goodLabels = new WeakSet()
const LABELS: Kind = {
  expects: 'an object whose names are letters, digits and _, and whose values can be written as JSON',
  accepts: areLabels,
}
const LABELS_OR_FUNCTION: Kind = {
  expects: `${LABELS.expects}, or a function that returns one and is not async`,
  accepts: (value) => FUNCTION.accepts(value) || areLabels(value),
}
const CLUSTER = whole(0, 4095)

function areLabels(value: unknown): boolean {
  if (!isRecord(value)) return false
  if (goodLabels.has(value)) return true
  if (!isJson(value, 0)) return false
  try {
    makeLabelSet(value, LABEL_ITEM)
  } catch {
    return false
  }
  goodLabels.add(value)
  return true
}

/** Deeper than `parseLabels` accepts, and so that a value that contains itself ends. */
const DEEPEST = 40

function isJson(value: unknown, depth: number): boolean {
  if (depth > DEEPEST) return false
  if (Array.isArray(value)) return value.every((item) => isJson(item, depth + 1))
  if (isRecord(value)) return Object.values(value).every((item) => isJson(item, depth + 1))
  return value === null || isText(value) || typeof value === 'boolean' || Number.isFinite(value)
}

const METRIC = fieldsOf<Omit<MetricSpec, keyof DeprecatedMetricFields>>({
  cluster: { optional: CLUSTER },
  item: { required: whole(0, 1023) },
  type: { required: oneOf(TYPES) },
  sem: { required: oneOf(SEMANTICS) },
  units: { required: { expects: 'a text such as "Kbyte / sec", or "none"', accepts: isText } },
  indom: { optional: { expects: 'an object that declares an instance domain', accepts: isRecord } },
  help: { required: FULL_TEXT },
  text: { optional: TEXT },
  texts: { optional: TEXTS },
  labels: { optional: LABELS_OR_FUNCTION },
  optionalLabels: { optional: LABELS_OR_FUNCTION },
  describe: { optional: FUNCTION },
  reading: { optional: REFRESHABLE },
  isVisibleTo: { optional: FUNCTION },
  prefetch: { optional: ANY_FUNCTION },
  begin: { optional: FUNCTION },
  value: { required: FUNCTION },
  reportedAs: { optional: FUNCTION },
  store: { optional: FUNCTION },
  isControl: { optional: YES_OR_NO },
  acceptsNullInstance: { optional: YES_OR_NO },
})

const ALIAS = fieldsOf<AliasSpec>({
  alias: {
    required: {
      expects: "a metric's name or PMID",
      accepts: (value) => isText(value) || isWhole(value, 0, 0xffffffff),
    },
  },
})

const INDOM = fieldsOf<Omit<IndomSpec, keyof DeprecatedIndomFields>>({
  serial: { required: whole(0, 0x3fffff) },
  instances: {
    required: {
      expects: 'an object of names and ids, or a function that lists them and is not async',
      accepts: (value) => isRecord(value) || FUNCTION.accepts(value),
    },
  },
  isPerRequester: { optional: YES_OR_NO },
  canonicalName: { optional: FUNCTION },
  reading: { optional: REFRESHABLE },
  help: { required: FULL_TEXT },
  text: { optional: TEXT },
  texts: { optional: TEXTS },
  labels: { optional: LABELS },
  instanceLabels: { optional: FUNCTION },
  optionalInstanceLabels: { optional: FUNCTION },
})

const INSTANCE = whole(0, 0x7fffffff)

const TABLES = fieldsOf<AgentTables>({
  metrics: { required: { expects: 'an object of names and metrics', accepts: isRecord } },
  dynamicRoots: { optional: listOf('names', isText) },
  hidesDynamicNodes: { optional: YES_OR_NO },
  labels: { optional: LABELS },
  clusterLabels: {
    optional: {
      expects: 'an object of cluster numbers and labels',
      accepts: (value) =>
        isRecord(value) &&
        Object.entries(value).every(
          ([cluster, labels]) => CLUSTER.accepts(Number(cluster)) && areLabels(labels),
        ),
    },
  },
  indoms: { optional: listOf('instance domains', isRecord) },
  beforeRequest: { optional: FUNCTION },
  afterRequest: { optional: FUNCTION },
  tablesFor: { optional: FUNCTION },
  beforeFetch: { optional: FUNCTION },
  endClient: { optional: FUNCTION },
  close: { optional: ANY_FUNCTION },
})

const AGENT = fieldsOf<Omit<AgentSpec, keyof AgentTables>>({
  name: {
    required: {
      expects: 'a letter followed by letters, digits or _',
      accepts: (value) => isText(value) && /^[A-Za-z]\w*$/.test(value),
    },
  },
  domain: { optional: whole(1, 510) },
  needsNoRoot: { optional: YES_OR_NO },
  options: { optional: listOf('options', isRecord) },
  open: { optional: FUNCTION },
})

const OPTION = fieldsOf<DaemonOption>({
  short: { optional: TEXT },
  long: { required: TEXT },
  arg: { optional: TEXT },
  help: { required: TEXT },
})

type Declared = 'agent' | 'tables' | 'metric' | 'alias' | 'indom' | 'option'

const FIELDS: { readonly [kind in Declared]: readonly Field[] } = {
  agent: AGENT,
  tables: TABLES,
  metric: METRIC,
  alias: ALIAS,
  indom: INDOM,
  option: OPTION,
}

/** EINVAL for the first field that is missing or has a wrong value; `where` precedes its name in the message. */
export function checkFields(where: string, kind: Declared, declared: object): void {
  const values = declared as { readonly [name: string]: unknown }
  for (const { name, isOptional, accepts, expects } of FIELDS[kind]) {
    const value = values[name]
    if (value === undefined ? !isOptional : !accepts(value)) throw mustBe(where, name, expects, value)
  }
}

/** EINVAL unless `declared`, called `what`, is an object. */
export function checkRecord(where: string, what: string, declared: unknown): void {
  if (!RECORD.accepts(declared)) throw mustBe(where, what, RECORD.expects, declared)
}

/** EINVAL unless `id` can identify an instance. */
export function checkInstance(where: string, name: string, id: unknown): void {
  if (!INSTANCE.accepts(id)) throw mustBe(where, `id of instance "${name}"`, INSTANCE.expects, id)
}

/** The error for a field with a wrong value. */
export function mustBe(where: string, field: string, expects: string, value: unknown): PcpError {
  const found = value === undefined ? 'but is missing' : `not ${shown(value)}`
  return new PcpError('EINVAL', `${where}: ${field} must be ${expects}, ${found}`)
}

const MOST_SHOWN = 60

function shown(value: unknown): string {
  const text = isText(value) ? JSON.stringify(value) : inspect(value, { depth: 1, breakLength: Infinity })
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}...`
}
