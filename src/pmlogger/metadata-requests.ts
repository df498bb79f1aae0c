/** Fetches labels, help texts and names, and writes them to an archive. docs/reference/pmlogger.md */
import type { ArchiveWriter } from '../archive/write/writer.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { clusterOf, DOMAIN_RESERVED, domainOf, isDynamicRoot, itemOf, type Pmid, pmid } from '../model/ids.ts'
import { LABEL_ITEM, type LabelSet } from '../model/labels.ts'
import type { TextQuery } from '../model/source.ts'
import type { Context } from '../pmapi/context.ts'

/** One label set or help text to write. */
export interface MetadataWrite {
  /** `labelKey` or `textKey`. */
  readonly key: string
  /** Undefined if there is nothing to write. */
  readonly write: ((writer: ArchiveWriter) => void) | undefined
  /** The agent is not ready; the request has to be repeated. */
  readonly isNotReady: boolean
}

/** Result of a request that the agent cannot answer yet. */
export const NOT_READY: unique symbol = Symbol('later')

/** Set in the cluster of a recorded derived metric, so that readers do not compute it again. */
const STORED_CLUSTER = 0x800
/** PM_ERR_* codes that concern the connection; all others concern one item. */
const CONVERSATION: ReadonlySet<string> = new Set(['PM_ERR_IPC', 'PM_ERR_EOF', 'PM_ERR_TIMEOUT'])
/** Codes of agents that are starting or busy. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'PM_ERR_AGAIN',
  'PM_ERR_NOAGENT',
  'PM_ERR_PMDANOTREADY',
  'PM_ERR_PMDAREADY',
])

/** Returns the key of the labels of one object at one level. */
export function labelKey(level: number, id: number): string {
  return `${level} ${id}`
}

/** Returns the key of a help text. */
export function textKey({ kind, level, id }: TextQuery): string {
  return `${kind} ${level} ${id}`
}

/** Fetches the labels of one object at one level. */
export async function fetchLabels(
  context: Context,
  at: Timestamp,
  level: number,
  id: number,
): Promise<MetadataWrite> {
  const sets = await usableLabels(context.labels(level, id))
  const key = labelKey(level, id)
  if (sets === NOT_READY || sets.length === 0)
    return { key, write: undefined, isNotReady: sets === NOT_READY }
  const stored = level === LABEL_ITEM ? storedId(id) : id
  return { key, write: (writer) => void writer.labels(at, level, stored, sets), isNotReady: false }
}

/** Fetches a help text. */
export async function fetchText(context: Context, query: TextQuery): Promise<MetadataWrite> {
  const options = { level: query.level, direct: true }
  const { kind, id } = query
  const key = textKey(query)
  const asked = kind === 'metric' ? context.text(id, options) : context.indomText(id, options)
  const text = await orNotReady<string | undefined>(asked, undefined)
  if (text === NOT_READY || text === undefined)
    return { key, write: undefined, isNotReady: text === NOT_READY }
  const stored = kind === 'metric' ? { ...query, id: storedId(id) } : query
  return { key, write: (writer) => writer.text(stored, text), isNotReady: false }
}

/** Waits for label sets; returns those an archive can hold. */
export async function usableLabels(
  asked: Promise<readonly LabelSet[]>,
): Promise<readonly LabelSet[] | typeof NOT_READY> {
  const sets = await orNotReady(asked, [])
  return sets === NOT_READY ? NOT_READY : sets.filter(({ status, json }) => status >= 0 && json !== '')
}

/** Fetches all names of a metric; returns the known name if that fails. */
export async function namesOf(context: Context, id: Pmid, name: string): Promise<readonly string[]> {
  const names = await orNotReady(context.namesOf(id), [])
  return names === NOT_READY || names.length === 0 ? [name] : names
}

/** Returns the reply, LATER if the agent is not ready, or `none` on other errors. Throws if the connection is lost. */
export async function orNotReady<T>(asked: Promise<T>, none: T): Promise<T | typeof NOT_READY> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof PcpError) || !error.code.startsWith('PM_ERR_') || CONVERSATION.has(error.code))
      throw error
    return TRANSIENT.has(error.code) ? NOT_READY : none
  }
}

/** Returns whether a metric is derived. */
export function isDerived(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED && !isDynamicRoot(id) && (clusterOf(id) & STORED_CLUSTER) === 0
}

/** Returns the PMID under which values are stored: for a derived metric the recorded form, else the PMID itself. */
export function storedId(id: Pmid): Pmid {
  return isDerived(id) ? pmid(DOMAIN_RESERVED, clusterOf(id) | STORED_CLUSTER, itemOf(id)) : id
}
