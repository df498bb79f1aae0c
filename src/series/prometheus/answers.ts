/** Answers of the HTTP API of Prometheus, checked before use. */
import { PcpError } from '../../model/errors.ts'

/** Labels of a series, with its name as `__name__`. */
export type LabelMap = Readonly<Record<string, string>>

/** Values of one series: seconds since the epoch, and text. */
export interface MatrixRow {
  readonly metric: LabelMap
  readonly values: readonly (readonly [seconds: number, value: string])[]
}

/** What the server knows of a metric. */
export interface MetricMetadata {
  readonly type: string
  readonly help: string
  readonly unit: string
}

/** Returns a list of names or values. EPROTO for anything else, as all functions here. */
export function textsOf(data: unknown): readonly string[] {
  if (!Array.isArray(data) || data.some((each) => typeof each !== 'string')) throw unexpected('texts')
  return data as string[]
}

/** Returns the label sets of `/series`. */
export function labelMapsOf(data: unknown): readonly LabelMap[] {
  if (!Array.isArray(data) || !data.every(isLabelMap)) throw unexpected('label sets')
  return data as LabelMap[]
}

/** Returns the rows of a range selector. */
export function matrixOf(data: unknown): readonly MatrixRow[] {
  const { resultType, result } = isRecord(data) ? data : {}
  if (resultType !== 'matrix' || !Array.isArray(result)) throw unexpected('a matrix')
  return result.map((row: unknown) => {
    // Series with histograms alone have no values.
    const { metric, values = [] } = isRecord(row) ? row : {}
    if (!isLabelMap(metric) || !Array.isArray(values) || !values.every(isPoint)) throw unexpected('values')
    return { metric, values }
  })
}

/** Returns the first entry of each metric. */
export function metadataOf(data: unknown): ReadonlyMap<string, MetricMetadata> {
  if (!isRecord(data)) throw unexpected('metadata')
  const known = new Map<string, MetricMetadata>()
  for (const [name, entries] of Object.entries(data)) {
    const first: unknown = Array.isArray(entries) ? entries[0] : undefined
    if (!isRecord(first)) throw unexpected('metadata')
    const text = (key: string): string => (typeof first[key] === 'string' ? first[key] : '')
    known.set(name, { type: text('type'), help: text('help'), unit: text('unit') })
  }
  return known
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data)
}

function isLabelMap(data: unknown): data is LabelMap {
  return isRecord(data) && Object.values(data).every((each) => typeof each === 'string')
}

function isPoint(data: unknown): data is readonly [number, string] {
  return Array.isArray(data) && Number.isFinite(data[0]) && typeof data[1] === 'string'
}

function unexpected(what: string): PcpError {
  return new PcpError('EPROTO', `The answer of the Prometheus server has no ${what} where they belong`)
}
