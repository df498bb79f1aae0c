/** Keys of PCP's schema version 2, and the identifiers in them. docs/reference/key-server.md */
import { createHash } from 'node:crypto'

/** Version of the schema. */
export const SCHEMA = '2'
export const VERSION_KEY = 'pcp:version:schema'
export const LOCATION_KEY = 'pcp:source:location'

/** Kinds of names that have a map from identifier to text. */
export type MapName = 'metric.name' | 'inst.name' | 'label.name' | 'context.name' | `label.${string}.value`

/** A 20-byte identifier: as bytes inside values, in hexadecimal inside keys. */
export interface KeyId {
  readonly bytes: Buffer
  readonly hex: string
}

/** Returns the identifier of a name or of a label's value, which is JSON. */
export function textId(text: string): KeyId {
  const bytes = createHash('sha1').update(`{"series":"string","value":"${text}"}`).digest()
  return { bytes, hex: bytes.toString('hex') }
}

/** Returns an identifier that is known in hexadecimal. */
export function keyId(hex: string): KeyId {
  return { bytes: Buffer.from(hex, 'hex'), hex }
}

export const mapKey = (map: MapName): string => `pcp:map:${map}`
export const channelOf = (map: MapName): string => `pcp:channel:${map}`
export const labelValueMap = (labelId: string): MapName => `label.${labelId}.value`
export const sourcesKey = (nameId: string): string => `pcp:source:context.name:${nameId}`
export const sourceNamesKey = (source: string): string => `pcp:context.name:source:${source}`
export const metricNamesKey = (series: string): string => `pcp:metric.name:series:${series}`
export const seriesKey = (map: MapName, nameId: string): string => `pcp:series:${map}:${nameId}`
export const descKey = (series: string): string => `pcp:desc:series:${series}`
export const instancesKey = (series: string): string => `pcp:instances:series:${series}`
export const instanceKey = (instance: string): string => `pcp:inst:series:${instance}`
export const labelsKey = (id: string): string => `pcp:labelvalue:series:${id}`
export const labelFlagsKey = (id: string): string => `pcp:labelflags:series:${id}`
export const valuesKey = (series: string): string => `pcp:values:series:${series}`
export const expressionKey = (id: string): string => `pcp:expr:series:${id}`

/** Fields of samples for an error, and for a sample without values; all others are instances. */
export const ERROR_FIELD = '-1'
export const EMPTY_FIELD = '0'
