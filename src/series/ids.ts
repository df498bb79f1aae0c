/** Identifiers of series: SHA-1 of the texts of model/series.ts, as 40 hexadecimal digits. pmseries(1), pcp-series schema version 2 */
import { createHash } from 'node:crypto'
import type { MetricDesc } from '../model/desc.ts'
import { clusterOf, domainOf, itemOf, type Pmid, pmid } from '../model/ids.ts'
import type { LabelSet } from '../model/labels.ts'
import { instanceText, metricText, sourceText } from '../model/series.ts'

/** The source of calculations, which have none. */
export const NO_SOURCE: string = '0'.repeat(40)

/** The metric of calculations, as in PCP. */
export const CALCULATED: Pmid = pmid(511, 0, 0)

/** Formats the number of a metric in descriptors, where calculations have no special form. */
export function seriesPmidStr(id: Pmid): string {
  return `${domainOf(id)}.${clusterOf(id)}.${itemOf(id)}`
}

/** Returns the identifier of a source: a host with its identifying labels. */
export function sourceId(sets: readonly LabelSet[], host: string): string {
  return sha1(sourceText(sets, host))
}

/** Returns the identifier of a metric of a source; `sets` as for `metricText`. */
export function metricId(name: string, desc: MetricDesc, sets: readonly LabelSet[]): string {
  return sha1(metricText(name, desc, sets))
}

/** Returns the identifier of an instance; `sets` as for `instanceText`. */
export function instanceId(name: string, sets: readonly LabelSet[]): string {
  return sha1(instanceText(name, sets))
}

/** Returns the identifier of an expression in its canonical form. */
export function expressionId(text: string): string {
  return sha1(`{"series":"expr","expr":"${text}"}`)
}

/** Returns whether a text has the form of an identifier. */
export function isSeriesId(text: string): boolean {
  return /^[0-9a-f]{40}$/i.test(text)
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
