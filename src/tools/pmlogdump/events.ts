/** Values that are arrays of event records, record by record. */
import type { RecordView } from '../../archive/record-view.ts'
import { PcpError } from '../../model/errors.ts'
import { type EventRecord, type Parameter, PM_EVENT_FLAG_MISSED, unpackEvents } from '../../model/events.ts'
import { PM_IN_NULL, pmidStr } from '../../model/ids.ts'
import { eventFlagsStr, printValue } from '../../model/print.ts'
import { PM_TYPE_HIGHRES_EVENT } from '../../model/types.ts'
import { printOptions } from '../lib/print.ts'
import { namesOf } from './dump.ts'
import type { MetricText } from './metric-texts.ts'
import type { ValueDump } from './values.ts'

/** Writes all values of value set `s`. */
export function writeEvents(dump: ValueDump, record: RecordView, s: number, metric: MetricText): void {
  const { out } = dump
  const set = record.toSet(s)
  for (let i = 0; i < set.status; i++) {
    const inst = set.inst[i]!
    const where = metric.isSingular || inst === PM_IN_NULL ? '' : `[${metric.instanceName(inst)}]`
    out.text(`    ${pmidStr(metric.id)} (${metric.names}${where}): `)
    let records: EventRecord[]
    try {
      records = unpackEvents(set, i, metric.type)
    } catch (error) {
      const { text } = PcpError.from(error)
      out.text(`${text}\n`)
      continue
    }
    out.text(`${headline(records)}\n`)
    for (const [k, event] of records.entries()) writeEvent(dump, event, k, metric.type)
  }
}

function headline(records: readonly EventRecord[]): string {
  if (records.length === 0) return 'No event records'
  const missed = records.reduce((sum, record) => sum + record.missed, 0)
  const count = records.length
  return `${count}${missed === 0 ? '' : ` (and ${missed} missed)`} event record${count === 1 ? '' : 's'}`
}

function writeEvent(dump: ValueDump, event: EventRecord, k: number, type: number): void {
  const { out, stamps } = dump
  const { timestamp, flags, missed, params } = event
  out.text(`        --- event record [${k}] timestamp `)
  stamps.write(out, timestamp.sec, timestamp.nsec, type === PM_TYPE_HIGHRES_EVENT ? 9 : 6)
  if (flags !== 0) out.text(` flags 0x${flags.toString(16)} (${eventFlagsStr(flags)})`)
  out.text(' ---\n')
  if (flags === PM_EVENT_FLAG_MISSED) out.text(`        ==> ${missed} missed event records\n`)
  else if (flags === 0 && params.length === 0) out.text('\t          No parameters\n')
  for (const param of params) writeParameter(dump, param)
}

function writeParameter(dump: ValueDump, param: Parameter): void {
  if (!dump.archive.metadata.descs.has(param.pmid)) {
    const { text } = new PcpError('PM_ERR_PMID_LOG')
    dump.out.text(`        PMID: ${pmidStr(param.pmid)}: pmLookupDesc: ${text}\n`)
    return
  }
  const value = printValue(param, 0, param.type, 1, printOptions(dump.zone, dump.io))
  dump.out.text(
    `        ${pmidStr(param.pmid)} (${namesOf(dump, param.pmid, '<nonames>')}): value ${value}\n`,
  )
}
