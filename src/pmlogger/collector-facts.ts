/** What a logger wants to know of the collector itself, and the records that tell it to readers. docs/formats/archive.md */
import type { Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError } from '../model/errors.ts'
import { indom, PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_STRING, PM_TYPE_U32, PM_TYPE_U64 } from '../model/types.ts'
import { extract } from '../model/value-set.ts'
import { makeSet } from '../model/value-writer.ts'
import type { Value, ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'

/** Which collector it is, and with which agents. */
export interface AgentFacts {
  /** When it was asked, by its own clock. */
  readonly at: Timestamp
  readonly pid: Value
  /** Grows with every change of its agents. */
  readonly seqnum: Value
}

/** What a collector tells of itself; what it does not know is empty or zero. */
export interface CollectorFacts extends AgentFacts {
  readonly hostname: string
  /** Its zone as a rule. */
  readonly timezone: string
  /** Its zone by name. */
  readonly zoneinfo: string
}

/** Asks the collector. Errors of the connection are thrown. */
export async function readFacts(context: Context): Promise<CollectorFacts> {
  const [[hostname], [timezone, zoneinfo], agents] = await Promise.all([
    readTexts(context, ['pmcd.hostname']),
    readTexts(context, ['pmcd.timezone', 'pmcd.zoneinfo']),
    readAgentFacts(context),
  ])
  return { ...agents, hostname: hostname!, timezone: timezone!, zoneinfo: zoneinfo! }
}

/** Asks for what the last record says. Errors of the connection are thrown. */
export async function readAgentFacts(context: Context): Promise<AgentFacts> {
  const asked = METRICS.slice(-2)
  const { timestamp, sets } = await context.fetch(asked.map((metric) => metric.pmid))
  const [pid = 0, seqnum = 0] = asked.map(({ type }, i) => valueIn(sets[i], type))
  return { at: timestamp, pid, seqnum }
}

/** Texts by the names of their metrics; '' where there is none. */
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

/** A name may stand for another metric in a name space of one's own: then nothing is known. */
function valueIn(set: ValueSet | undefined, type: number): Value | undefined {
  if (set === undefined || set.status <= 0) return undefined
  try {
    return extract(set, 0, type)
  } catch {
    return undefined
  }
}

/** Who records: the instance of the domain of loggers in the first and the last record of an archive. */
export interface LoggerIdentity {
  readonly pid: number
  readonly hostname: string
  readonly port: number
  /** Absolute path without suffix. */
  readonly archive: string
}

/** Instance domain of the loggers of a host. */
export const LOGGER_INDOM: number = indom(2, 1)

const METRICS = [
  { name: 'pmcd.pmlogger.host', pmid: pmid(2, 3, 3), type: PM_TYPE_STRING, indom: LOGGER_INDOM },
  { name: 'pmcd.pmlogger.port', pmid: pmid(2, 3, 0), type: PM_TYPE_U32, indom: LOGGER_INDOM },
  { name: 'pmcd.pmlogger.archive', pmid: pmid(2, 3, 2), type: PM_TYPE_STRING, indom: LOGGER_INDOM },
  { name: 'pmcd.pid', pmid: pmid(2, 0, 23), type: PM_TYPE_U64, indom: PM_INDOM_NULL },
  { name: 'pmcd.seqnum', pmid: pmid(2, 0, 24), type: PM_TYPE_U32, indom: PM_INDOM_NULL },
] as const

/** Names and descriptors of what the first and the last record hold. */
export const LOGUE_METRICS: readonly { readonly name: string; readonly desc: MetricDesc }[] = METRICS.map(
  ({ name, ...desc }) => ({ name, desc: { ...desc, sem: PM_SEM_DISCRETE, units: 0 } }),
)

/** The values of the first and the last record. */
export function logueSets(logger: LoggerIdentity, facts: AgentFacts): ValueSet[] {
  const values = [logger.hostname, logger.port, logger.archive, facts.pid, facts.seqnum]
  return METRICS.map(({ pmid: id, type, indom: domain }, i) =>
    makeSet(id, type, [domain === PM_INDOM_NULL ? PM_IN_NULL : logger.pid], [values[i]!]),
  )
}
