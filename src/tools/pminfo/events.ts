/** What is in an event record array. */
import type { MetricDesc } from '../../model/desc.ts'
import { isError, PcpError } from '../../model/errors.ts'
import { type EventRecord, type Parameter, unpackEvents } from '../../model/events.ts'
import { type Pmid, pmidStr } from '../../model/ids.ts'
import { eventFlagsStr, printValue } from '../../model/print.ts'
import { PM_TYPE_HIGHRES_EVENT } from '../../model/types.ts'
import type { ValueSet } from '../../model/values.ts'
import { settle } from '../lib/settle.ts'
import type { Report } from './report.ts'

/** The records in the `i`th value, each with its parameters. */
export async function eventLines(
  report: Report,
  desc: MetricDesc,
  set: ValueSet,
  i: number,
): Promise<string> {
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

/** Names of a metric; records of one array repeat the same few. */
async function namesOf({ context, io, eventNames }: Report, id: Pmid): Promise<readonly string[]> {
  let names = eventNames.get(id)
  if (names === undefined) {
    const found = await settle(context.namesOf(id, io))
    names = isError(found) ? [] : found
    eventNames.set(id, names)
  }
  return names
}
