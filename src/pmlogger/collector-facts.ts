/** What a logger fetches about the collector, and the archive's first and last record. docs/formats/archive.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError } from '../model/errors.ts'
import { indom, PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_STRING, PM_TYPE_U32, PM_TYPE_U64 } from '../model/types.ts'
import { extract } from '../model/value-set.ts'
import { makeSet } from '../model/value-writer.ts'
import type { Value, ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'

/** Identity of a collector and the state of its agents. */
export interface AgentFacts {
  /** Time of the fetch, by the collector's clock. */
  readonly at: Timestamp
  readonly pid: Value
  /** Grows with each change of the collector's agents. */
  readonly seqnum: Value
}

/** A collector's description of itself; missing values are empty or zero. */
export interface CollectorFacts extends AgentFacts {
  readonly hostname: string
  /** Usually the rule form of its zone. */
  readonly timezone: string
  /** Name of its zone. */
  readonly zoneinfo: string
}

/** Fetches the facts. Throws if the connection is lost. */
export async function readFacts(context: Context): Promise<CollectorFacts> {
  const [[hostname], [timezone, zoneinfo], agents] = await Promise.all([
    readTexts(context, ['pmcd.hostname']),
    readTexts(context, ['pmcd.timezone', 'pmcd.zoneinfo']),
    readAgentFacts(context),
  ])
  return { ...agents, hostname: hostname!, timezone: timezone!, zoneinfo: zoneinfo! }
}

/** Fetches the facts for the last record. Throws if the connection is lost. */
export async function readAgentFacts(context: Context): Promise<AgentFacts> {
  const asked = METRICS.slice(-2)
  const { timestamp, sets } = await context.fetch(asked.map((metric) => metric.pmid))
  const [pid = 0, seqnum = 0] = asked.map(({ type }, i) => valueIn(sets[i], type))
  return { at: timestamp, pid, seqnum }
}

/** Fetches string metrics by name; '' for missing ones. */
async function readTexts(context: Context, names: readonly string[]): Promise<readonly string[]> {
  const ids = await context.lookupNames(names)
  const known = ids.filter((id): id is Pmid => !isError(id))
  const sets = known.length === 0 ? [] : (await context.fetch(known)).sets
  return ids.map((id) =>
    String(
      valueIn(
        sets.find((set) => set.pmid === id),
        PM_TYPE_STRING,
      ) ?? '',
    ),
  )
}

/** In a custom name space the name may belong to another metric; a value of another type is ignored. */
function valueIn(set: ValueSet | undefined, type: number): Value | undefined {
  if (set === undefined || set.status <= 0) return undefined
  try {
    return extract(set, 0, type)
  } catch {
    return undefined
  }
}

/** The logger in an archive's first and last record: an instance of the indom of loggers. */
export interface LoggerIdentity {
  readonly pid: number
  readonly hostname: string
  readonly port: number
  /** Absolute path without suffix. */
  readonly archive: string
}

/** Instance domain of a host's loggers. */
export const LOGGER_INDOM: number = indom(2, 1)

const METRICS = [
  { name: 'pmcd.pmlogger.host', pmid: pmid(2, 3, 3), type: PM_TYPE_STRING, indom: LOGGER_INDOM },
  { name: 'pmcd.pmlogger.port', pmid: pmid(2, 3, 0), type: PM_TYPE_U32, indom: LOGGER_INDOM },
  { name: 'pmcd.pmlogger.archive', pmid: pmid(2, 3, 2), type: PM_TYPE_STRING, indom: LOGGER_INDOM },
  { name: 'pmcd.pid', pmid: pmid(2, 0, 23), type: PM_TYPE_U64, indom: PM_INDOM_NULL },
  { name: 'pmcd.seqnum', pmid: pmid(2, 0, 24), type: PM_TYPE_U32, indom: PM_INDOM_NULL },
] as const

/** Names and descriptors of the metrics in the first and last record. */
export const LOG_RECORD_METRICS: readonly { readonly name: string; readonly desc: MetricDesc }[] =
  METRICS.map(({ name, ...desc }) => ({ name, desc: { ...desc, sem: PM_SEM_DISCRETE, units: 0 } }))

/** Returns the values of the first or last record. */
export function prologueValues(logger: LoggerIdentity, facts: AgentFacts): ValueSet[] {
  const values = [logger.hostname, logger.port, logger.archive, facts.pid, facts.seqnum]
  return METRICS.map(({ pmid: id, type, indom: domain }, i) =>
    makeSet(id, type, [domain === PM_INDOM_NULL ? PM_IN_NULL : logger.pid], [values[i]!]),
  )
}
