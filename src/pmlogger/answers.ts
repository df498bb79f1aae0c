/** Questions about a metric, and how their answers are written to an archive. docs/pmlogger.md */
import type { ArchiveWriter } from '../archive/write/writer.ts'
import type { Timestamp } from '../base/timestamp.ts'
import { PcpError } from '../model/errors.ts'
import { clusterOf, DOMAIN_RESERVED, domainOf, isDynamicRoot, itemOf, type Pmid, pmid } from '../model/ids.ts'
import { LABEL_ITEM, type LabelSet } from '../model/labels.ts'
import type { TextQuery } from '../model/source.ts'
import type { Context } from '../pmapi/context.ts'

/** An answer that may be written. */
export interface Answer {
  /** What it is about. */
  readonly key: string
  /** Undefined where there is nothing to write. */
  readonly write: ((writer: ArchiveWriter) => void) | undefined
  /** The agent cannot answer yet. */
  readonly isLater: boolean
}

/** Takes the place of an answer that the agent cannot give yet. */
export const LATER: unique symbol = Symbol('later')

/** Set in the cluster of a derived metric: its values are stored, and never computed again. */
const STORED_CLUSTER = 0x800
/** PM_ERR_* codes that are about the conversation; the others are about one item. */
const CONVERSATION: ReadonlySet<string> = new Set(['PM_ERR_IPC', 'PM_ERR_EOF', 'PM_ERR_TIMEOUT'])
/** Codes of agents that are about to start, or busy. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'PM_ERR_AGAIN',
  'PM_ERR_NOAGENT',
  'PM_ERR_PMDANOTREADY',
  'PM_ERR_PMDAREADY',
])

/** Identifies the labels of one level of a thing. */
export function labelKey(level: number, id: number): string {
  return `${level} ${id}`
}

/** Identifies a text. */
export function textKey({ kind, level, id }: TextQuery): string {
  return `${kind} ${level} ${id}`
}

/** Asks for the labels of one level of a thing. */
export async function askLabels(context: Context, at: Timestamp, level: number, id: number): Promise<Answer> {
  const sets = await usableLabels(context.labels(level, id))
  const key = labelKey(level, id)
  if (sets === LATER || sets.length === 0) return { key, write: undefined, isLater: sets === LATER }
  const stored = level === LABEL_ITEM ? storedId(id) : id
  return { key, write: (writer) => void writer.labels(at, level, stored, sets), isLater: false }
}

/** Asks for a help text. */
export async function askText(context: Context, query: TextQuery): Promise<Answer> {
  const options = { level: query.level, direct: true }
  const { kind, id } = query
  const key = textKey(query)
  const asked = kind === 'metric' ? context.text(id, options) : context.indomText(id, options)
  const text = await answerOf<string | undefined>(asked, undefined)
  if (text === LATER || text === undefined) return { key, write: undefined, isLater: text === LATER }
  const stored = kind === 'metric' ? { ...query, id: storedId(id) } : query
  return { key, write: (writer) => writer.text(stored, text), isLater: false }
}

/** Waits for label sets; returns those that an archive can hold. */
export async function usableLabels(
  asked: Promise<readonly LabelSet[]>,
): Promise<readonly LabelSet[] | typeof LATER> {
  const sets = await answerOf(asked, [])
  return sets === LATER ? LATER : sets.filter(({ status, json }) => status >= 0 && json !== '')
}

/** Asks for all names of a metric; returns the known name when there is no answer. */
export async function namesOf(context: Context, id: Pmid, name: string): Promise<readonly string[]> {
  const names = await answerOf(context.namesOf(id), [])
  return names === LATER || names.length === 0 ? [name] : names
}

/** The answer; LATER when the agent cannot give one yet, `none` when there is none. A lost connection is thrown. */
export async function answerOf<T>(asked: Promise<T>, none: T): Promise<T | typeof LATER> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof PcpError) || !error.code.startsWith('PM_ERR_') || CONVERSATION.has(error.code))
      throw error
    return TRANSIENT.has(error.code) ? LATER : none
  }
}

/** Is this a metric that is computed from others? */
export function isDerived(id: Pmid): boolean {
  return domainOf(id) === DOMAIN_RESERVED && !isDynamicRoot(id) && (clusterOf(id) & STORED_CLUSTER) === 0
}

/** The PMID under which values are stored: that of an ordinary metric for a derived one. */
export function storedId(id: Pmid): Pmid {
  return isDerived(id) ? pmid(DOMAIN_RESERVED, clusterOf(id) | STORED_CLUSTER, itemOf(id)) : id
}
