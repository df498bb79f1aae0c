/** Metadata of metrics and instances as JSON of the REST API. docs/reference/pmproxy.md */
import { decodeText } from '../base/text.ts'
import type { MetricDesc } from '../model/desc.ts'
import { type Outcome, PcpError } from '../model/errors.ts'
import { type Indom, indom, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import { mergeLabelSets } from '../model/label-set.ts'
import type { LabelSet } from '../model/labels.ts'
import { metricText, sourceText } from '../model/series.ts'
import {
  PM_TYPE_DOUBLE,
  PM_TYPE_FLOAT,
  PM_TYPE_NOSUPPORT,
  PM_TYPE_STRING,
  semStr,
  typeStr,
} from '../model/types.ts'
import { unitsStr } from '../model/units.ts'
import { extract } from '../model/value-set.ts'
import type { ValueSet } from '../model/values.ts'
import type { CallOptions, Context } from '../pmapi/context.ts'

/** Formats text as JSON; bytes that are invalid UTF-8 become U+FFFD. */
export function jsonText(text: string): string {
  return JSON.stringify(text.replace(/\p{Cs}/gu, '\ufffd'))
}

/** Returns the API's name of a type: `u64`. */
export function typeName(type: number): string {
  if (type === PM_TYPE_NOSUPPORT) return 'unsupported'
  return typeStr(type).toLowerCase()
}

/** Returns the units, `none` without a dimension. */
export function unitsName(units: number): string {
  return unitsStr(units) || 'none'
}

/** Returns the API's name of semantics: `counter`. */
export const semName: (sem: number) => string = semStr

/** Formats a value as JSON: number, string, or null for other types. */
export function jsonValue(set: ValueSet, i: number, type: number): string {
  if (type > PM_TYPE_STRING + 2) return 'null'
  const value = extract(set, i, type)
  if (typeof value === 'number') {
    if (type === PM_TYPE_FLOAT) return Number.isFinite(value) ? String(Number(value.toPrecision(8))) : 'null'
    return type === PM_TYPE_DOUBLE && !Number.isFinite(value) ? 'null' : String(value)
  }
  if (typeof value === 'bigint') return String(value)
  return jsonText(typeof value === 'string' ? value : bytesText(value))
}

/** Returns bytes up to the first NUL as text, because most aggregates are text. */
function bytesText(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return decodeText(bytes, 0, end < 0 ? bytes.length : end)
}

/** Merges label sets into a JSON object. */
export function labelsJson(sets: readonly LabelSet[]): string {
  return mergeLabelSets(sets).json || '{}'
}

/** Returns the series identifier of a metric. */
export function seriesId(name: string, desc: MetricDesc, sets: readonly LabelSet[]): string {
  return sha1(metricText(name, desc, sets))
}

/** Returns the series identifier of a source. */
export function sourceId(sets: readonly LabelSet[], host: string): string {
  return sha1(sourceText(sets, host))
}

function sha1(text: string): string {
  return process.getBuiltinModule('node:crypto').createHash('sha1').update(text).digest('hex')
}

/** Resolves to undefined if the agent does not provide the answer: PM_ERR_TEXT and similar errors. Rejects for a lost connection. */
export async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof PcpError && MISSING.has(error.code)) return undefined
    throw error
  }
}

const MISSING: ReadonlySet<string> = new Set([
  'PM_ERR_TEXT',
  'PM_ERR_NOLABELS',
  // Old archives return this for help texts.
  'PM_ERR_NOTHOST',
  'PM_ERR_NOAGENT',
  'PM_ERR_PMID',
  'PM_ERR_PMID_LOG',
  'PM_ERR_INDOM',
  'PM_ERR_INDOM_LOG',
  'PM_ERR_AGAIN',
  'PM_ERR_PMDANOTREADY',
])

/** Returns the label sets of a metric; empty if it has none. */
export async function labelSets(
  context: Context,
  id: Pmid,
  options: CallOptions,
): Promise<readonly LabelSet[]> {
  return (await orUndefined(context.labelsFor(id, options))) ?? []
}

/** Returns the label sets of the context; empty if it has none. */
export async function contextSets(context: Context, options: CallOptions): Promise<readonly LabelSet[]> {
  return (await orUndefined(context.contextLabels(options))) ?? []
}

/** Checks that an outcome is not an error. */
export function isKnown<T>(outcome: Outcome<T>): outcome is T {
  return !(outcome instanceof PcpError)
}

/** A metric with its name. */
export interface NamedMetric {
  readonly name: string
  readonly desc: MetricDesc
}

/** Returns the descriptors of names, or errors. */
export async function describeNames(
  context: Context,
  names: readonly string[],
  options: CallOptions,
): Promise<readonly Outcome<NamedMetric>[]> {
  const ids = await context.lookupNames(names, options)
  const known = ids.filter((id): id is Pmid => typeof id === 'number')
  const descs = await context.descs(known, options)
  let next = 0
  return ids.map((id, i) => {
    if (typeof id !== 'number') return id
    const desc = descs[next++]!
    return desc instanceof PcpError ? desc : { name: names[i]!, desc }
  })
}

/** Parses a client's PMID: `60.2.0`, decimal or 0x hexadecimal; undefined for anything else. */
export function parsePmid(text: string): Pmid | undefined {
  const dotted = /^(\d{1,3})\.(\d{1,4})\.(\d{1,4})$/.exec(text)
  if (dotted !== null) {
    const [domain, cluster, item] = dotted.slice(1).map(Number) as [number, number, number]
    return domain < 512 && cluster < 4096 && item < 1024 ? pmid(domain, cluster, item) : undefined
  }
  return plainNumber(text)
}

/** Parses a client's instance domain: `60.2` or a number; undefined for anything else. */
export function parseIndom(text: string): Indom | undefined {
  const dotted = /^(\d{1,3})\.(\d{1,7})$/.exec(text)
  if (dotted !== null) {
    const [domain, serial] = dotted.slice(1).map(Number) as [number, number]
    return domain < 512 && serial < 2 ** 22 ? indom(domain, serial) : undefined
  }
  const number = plainNumber(text)
  return number === PM_INDOM_NULL ? undefined : number
}

function plainNumber(text: string): number | undefined {
  if (!/^(?:0x[0-9a-f]{1,8}|\d{1,10})$/i.test(text)) return undefined
  const number = Number(text)
  return number < 2 ** 31 ? number : undefined
}
