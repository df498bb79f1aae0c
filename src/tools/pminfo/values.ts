/** Fetches and prints values, including event records. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError, statusOf } from '../../model/errors.ts'
import { type EventRecord, type Parameter, unpackEvents } from '../../model/events.ts'
import { indomStr, PM_INDOM_NULL, type Pmid, pmidStr } from '../../model/ids.ts'
import { eventFlagsStr, printValue } from '../../model/print.ts'
import { include } from '../../model/profile.ts'
import { PM_TYPE_EVENT, PM_TYPE_HIGHRES_EVENT } from '../../model/types.ts'
import { emptySet, type ValueSet } from '../../model/values.ts'
import { toOutcome } from '../lib/settle.ts'
import type { Report } from './options.ts'

const PROFILE_STATUS = statusOf('PM_ERR_PROFILE')

/** Fetches values of several metrics. With `allInstances`, a metric that refuses to list all instances is refetched with each of them selected. */
export async function fetchValues(
  report: Report,
  descs: readonly MetricDesc[],
): Promise<readonly ValueSet[]> {
  if (descs.length === 0) return []
  const { context, wanted, io } = report
  const { sets } = await context.fetch(
    descs.map(({ pmid }) => pmid),
    io,
  )
  if (!wanted.allInstances || !sets.some(({ status }) => status === PROFILE_STATUS)) return sets
  const again: ValueSet[] = []
  for (const [i, set] of sets.entries())
    again.push(set.status === PROFILE_STATUS ? await fetchByName(report, descs[i]!) : set)
  return again
}

async function fetchByName({ context, io }: Report, { pmid, indom }: MetricDesc): Promise<ValueSet> {
  const { profile } = context
  try {
    const { ids } = await context.instances(indom, io)
    context.profile = include(profile, indom, ids)
    return (await context.fetch([pmid], io)).sets[0]!
  } catch (error) {
    if (error instanceof PcpError) return emptySet(pmid, error.status)
    throw error
  } finally {
    context.profile = profile
  }
}

/** Formats the values of a metric. */
export async function valueLines(
  report: Report,
  desc: MetricDesc,
  set: ValueSet,
  names: ReadonlyMap<number, string>,
): Promise<string> {
  if (set.status < 0) return `Error: ${PcpError.fromStatus(set.status).text}\n`
  if (set.status === 0) return 'No value(s) available!\n'
  const isEvent = desc.type === PM_TYPE_EVENT || desc.type === PM_TYPE_HIGHRES_EVENT
  let lines = ''
  for (let i = 0; i < set.status; i++) {
    const subject = await subjectOf(report, desc, set.inst[i]!, names)
    lines += subject.line
    if (subject.isGone) continue
    lines += ` value ${printValue(set, i, desc.type, 1, report.print)}\n`
    if (isEvent && report.wanted.events) lines += await eventLines(report, desc, set, i)
  }
  return lines
}

/** Returns the beginning of a value's line: its instance. */
async function subjectOf(
  { context, wanted, io }: Report,
  { indom }: MetricDesc,
  inst: number,
  names: ReadonlyMap<number, string>,
): Promise<{ readonly line: string; readonly isGone?: boolean }> {
  if (indom === PM_INDOM_NULL) return { line: '   ' }
  const isLive = context.archive === undefined
  const name =
    names.get(inst) ??
    (isLive ? await toOutcome(context.instanceName(indom, inst, io)) : new PcpError('PM_ERR_INST'))
  if (!isError(name)) return { line: `    inst [${inst} or "${name}"]` }
  if (wanted.allInstances) return { line: `    inst [${inst} "DISAPPEARED"]\n`, isGone: true }
  const why = `pmNameIndom: indom=${indomStr(indom)} inst=${inst}: ${name.text}`
  return { line: `${why}\n    inst [${inst}]` }
}

/** Formats the event records in the `i`th value, with their parameters. */
async function eventLines(report: Report, desc: MetricDesc, set: ValueSet, i: number): Promise<string> {
  let records: readonly EventRecord[]
  try {
    records = unpackEvents(set, i, desc.type)
  } catch (error) {
    const unpack =
      desc.type === PM_TYPE_HIGHRES_EVENT ? 'pmUnpackHighResEventRecords' : 'pmUnpackEventRecords'
    const [name] = await namesOf(report, desc.pmid)
    return `${name ?? pmidStr(desc.pmid)}: ${unpack}: ${PcpError.from(error).text}\n`
  }
  let lines = ''
  for (const [r, record] of records.entries()) {
    const time = report.print.clock!(record.timestamp, desc.type === PM_TYPE_HIGHRES_EVENT)
    lines += `    --- event record [${r}] timestamp ${time}`
    if (record.flags !== 0) lines += ` flags 0x${record.flags.toString(16)} (${eventFlagsStr(record.flags)})`
    lines += ' ---\n'
    if (record.missed > 0) lines += `        ==> ${record.missed} missed event records\n`
    else if (record.flags === 0 && record.params.length === 0) lines += '\tNo parameters\n'
    for (const param of record.params) lines += await parameterLines(report, param)
  }
  return lines
}

async function parameterLines(report: Report, param: Parameter): Promise<string> {
  const names = await namesOf(report, param.pmid)
  const title = names.length > 0 ? names.join(' or ') : ''
  return `    ${title} (${pmidStr(param.pmid)})\n        value ${printValue(param, 0, param.type, 1, report.print)}\n`
}

/** Returns the names of a metric, cached, as event records repeat a few. */
async function namesOf({ context, io, eventNames }: Report, id: Pmid): Promise<readonly string[]> {
  let names = eventNames.get(id)
  if (names === undefined) {
    const found = await toOutcome(context.namesOf(id, io))
    names = isError(found) ? [] : found
    eventNames.set(id, names)
  }
  return names
}
