/** What a logger wants to know of the collector itself, and the records that tell it to readers. docs/formats/archive.md */
import { now, type Timestamp } from '../base/timestamp.ts'
import type { MetricDesc } from '../model/desc.ts'
import { isError } from '../model/errors.ts'
import { indom, PM_IN_NULL, PM_INDOM_NULL, type Pmid, pmid } from '../model/ids.ts'
import { PM_SEM_DISCRETE, PM_TYPE_STRING, PM_TYPE_U32, PM_TYPE_U64 } from '../model/types.ts'
import { extract } from '../model/value-set.ts'
import { makeSet } from '../model/value-writer.ts'
import type { Value, ValueSet } from '../model/values.ts'
import type { Context } from '../pmapi/context.ts'

/** What a collector tells of itself; what it does not know is empty or zero. */
export interface CollectorFacts {
  /** When it was asked, by its own clock. */
  readonly at: Timestamp
  readonly pid: Value
  /** Grows with every change of its agents. */
  readonly seqnum: Value
  readonly hostname: string
  /** Its zone as a rule. */
  readonly timezone: string
  /** Its zone by name. */
  readonly zoneinfo: string
}

const NAMES = ['pmcd.pid', 'pmcd.seqnum', 'pmcd.hostname', 'pmcd.timezone', 'pmcd.zoneinfo'] as const
const TYPES = [PM_TYPE_U64, PM_TYPE_U32, PM_TYPE_STRING, PM_TYPE_STRING, PM_TYPE_STRING] as const

/** Asks the collector. Errors of the connection are thrown. */
export async function readFacts(context: Context): Promise<CollectorFacts> {
  const ids = await context.lookupNames(NAMES)
  const known = ids.filter((id): id is Pmid => !isError(id))
  const result = known.length === 0 ? undefined : await context.fetch(known)
  const value = (i: number): Value | undefined => {
    const set = result?.sets.find((candidate) => candidate.pmid === ids[i])
    return set === undefined || set.status <= 0 ? undefined : valueIn(set, TYPES[i]!)
  }
  return {
    at: result?.timestamp ?? now(),
    pid: value(0) ?? 0,
    seqnum: value(1) ?? 0,
    hostname: String(value(2) ?? ''),
    timezone: String(value(3) ?? ''),
    zoneinfo: String(value(4) ?? ''),
  }
}

/** A name may stand for another metric in a name space of one's own: then nothing is known. */
function valueIn(set: ValueSet, type: number): Value | undefined {
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
export function logueSets(logger: LoggerIdentity, facts: Pick<CollectorFacts, 'pid' | 'seqnum'>): ValueSet[] {
  const values = [logger.hostname, logger.port, logger.archive, facts.pid, facts.seqnum]
  return METRICS.map(({ pmid: id, type, indom: domain }, i) =>
    makeSet(id, type, [domain === PM_INDOM_NULL ? PM_IN_NULL : logger.pid], [values[i]!]),
  )
}
