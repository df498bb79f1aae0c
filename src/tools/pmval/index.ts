/** pmval: the values of one metric over time. pmval(1) */

import type { Timestamp } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { PM_IN_NULL } from '../../model/ids.ts'
import { parseValue } from '../../model/parse-value.ts'
import { PM_TYPE_STRING, typeStr } from '../../model/types.ts'
import { makeSet } from '../../model/value-writer.ts'
import type { Context } from '../../pmapi/context.ts'
import { type MetricSpec, parseMetricSpec } from '../../pmapi/metric-spec.ts'
import { recordRows, valueRows } from '../../pmapi/value-rows.ts'
import { sendWhoami } from '../../pmapi/whoami.ts'
import { fetchError } from '../lib/fetch-error.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { printOptions } from '../lib/print.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import { type ParsedStandard, parseStandard, type StandardOptions } from '../lib/standard.ts'
import { controlPort, TimeControlClient, zoneOf } from '../lib/time-control.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { EventReport } from './events.ts'
import { columnWidth, precisionFits } from './format.ts'
import { Headings, headerLines, rowStamp } from './header.ts'
import { OPTIONS, type PmvalOptions, wantedFrom } from './options.ts'
import { Rows, SUSPENDED } from './rows.ts'
import { SampleLoop } from './sample-loop.ts'
import { controlledFetches, fetches, scheduleOf } from './schedule.ts'
import { findSubject, type ShownMetric } from './subject.ts'

/** Shows the values of a metric, a row for each sample. */
export const tool: Tool = {
  name: 'pmval',
  summary: 'Show the values of a metric over time',
  description: `
Shows the values of one metric, a line for each sample and a column for each instance. Counters are shown as rates unless -r is given;
counters of time are shown as utilization.

The metric can include its source and instances: host:metric[instance,...], archive/metric[instance,...].

pmval does not reconnect: if the collector goes away, it reports that and exits with status 1. pmcd_wait waits for a collector; pmstat
and pmie reconnect automatically.`,
  examples: [
    ['pmval -s 5 -t 2s kernel.all.load', 'Five samples, two seconds apart:'],
    ['pmval "db1:disk.dev.read[sda,sdb]"', 'Two disks of db1:'],
  ],
  seeAlso: ['pminfo', 'pmclient'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { isHighRes: true })
    const wanted = wantedFrom(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length === 0) parsed.problems.push('error - no metricname specified')
    else if (parsed.operands.length > 1) parsed.problems.push('error - too many arguments')
    if (parsed.problems.length > 0) return handleEarlyExit(OPTIONS, parsed, io) ?? 1
    let spec: MetricSpec
    try {
      spec = parseMetricSpec(parsed.operands[0]!)
    } catch (error) {
      io.stderr.write(`${PcpError.from(error).message}${usageText(OPTIONS, io.progname)}`)
      return 1
    }
    const standard = withSource(parsed, spec, wanted)
    if (standard === undefined) {
      parsed.problems.push('only one host or archive allowed')
      return handleEarlyExit(OPTIONS, parsed, io) ?? 1
    }
    if (wanted.delays && standard.source !== 'archive') {
      parsed.problems.push('delay can only be used with archives')
      return handleEarlyExit(OPTIONS, parsed, io) ?? 1
    }
    const port = controlPort(standard, io)
    if (port !== undefined && wanted.delays) {
      parsed.problems.push('guiflag cannot be used with delay')
      return handleEarlyExit(OPTIONS, parsed, io) ?? 1
    }
    const context = await openReport(standard, io)
    await sendWhoami(context, [io.progname, ...io.args], io)
    try {
      await show(context, spec, wanted, standard, port, io)
      return 0
    } finally {
      await context.close()
    }
  },
}

/** Returns the standard options with the source of the metric's specification; undefined if they name another one. */
function withSource(
  { standard }: ParsedStandard,
  spec: MetricSpec,
  { rawArchive }: PmvalOptions,
): StandardOptions | undefined {
  const archive = rawArchive ?? (spec.kind === 'archive' ? spec.source : undefined)
  if (archive !== undefined)
    return standard.source === 'host' ? undefined : { ...standard, source: 'archive', archives: [archive] }
  if (spec.kind === 'local') return { ...standard, source: 'local' }
  if (spec.source === undefined || standard.source !== undefined) return standard
  return { ...standard, source: 'host', hosts: [spec.source] }
}

async function show(
  context: Context,
  spec: MetricSpec,
  wanted: PmvalOptions,
  standard: StandardOptions,
  port: number | undefined,
  io: ToolIo,
): Promise<void> {
  const { zone, note } = await reportingZone(standard, context, io)
  io.stdout.write(note)
  const window = samplingWindow(standard, boundsOf(context, standard, io), zone, io)
  const instances = spec.instances.length > 0 ? spec.instances : wanted.instances
  const subject = await findSubject(context, spec.metric, instances, wanted.raw, io)
  if (subject.columns === undefined && spec.instances.length > 0)
    throw new PcpError('PM_ERR_INDOM', `${spec.metric}: singular metrics do not have instances`)
  // As in PCP, archives and local contexts do not support filters, so -x is ignored.
  const takesFilter = context.archive === undefined && standard.source !== 'local'
  if (wanted.filter !== undefined && takesFilter) await storeFilter(context, subject, wanted.filter, io)
  const isRaw = wanted.rawArchive !== undefined || subject.isEvent
  const name = standard.archives.join(',')
  const archive = context.archive && { name, isRaw, delays: wanted.delays }
  const schedule = scheduleOf(port === undefined ? window : { ...window, samples: undefined }, archive)
  if (note === '' && !subject.isEvent) io.stdout.write('\n')
  const width = columnWidth(subject.desc.type, wanted.width)
  const { precision } = wanted
  if (precision !== undefined && !precisionFits(precision, width))
    throw new PcpError('PM_ERR_CONV', `-f ${precision} too large for column width ${width}`)
  const print = printOptions(zone, io)
  const host = await context.hostname(io)
  const followed =
    port === undefined
      ? undefined
      : await TimeControlClient.open(port, { contexts: [context], ...schedule, zone, host }, io)
  const shownZone = followed === undefined ? zone : zoneOf(followed)
  const stamp = archive || followed ? rowStamp(wanted.stamps, shownZone) : undefined
  const isShiftable = subject.isRate && precision === undefined
  const headings = new Headings(subject.columns ?? [], width, isShiftable, stamp?.width ?? 0)
  io.stdout.write(
    headerLines(subject, host, followed === undefined ? schedule : { ...schedule, samples: undefined }, zone),
  )
  await io.stdout.flush()
  const style = { width, precision, print, counterWrap: io.env['PCP_COUNTER_WRAP'] !== undefined }
  const loop = new SampleLoop(subject.isRate, followed === undefined ? schedule.samples : undefined)
  const events = new EventReport(context, subject, io, print)
  const call = archive?.isRaw === true ? 'pmFetchArchive' : 'pmFetch'
  const { desc, isEvent } = subject
  const rows =
    archive?.isRaw === true && followed === undefined
      ? recordRows(context.archive!, desc)
      : valueRows(context, [desc])
  const report = new Rows(context, subject, rows, loop, { headings, style, stamp: stamp?.text, call }, io)
  const sampled =
    followed === undefined
      ? fetches(context, rows, schedule, io)
      : controlledFetches(context, rows, schedule, followed, () => loop.restart(), io)
  while (loop.begin()) {
    let time: Timestamp | undefined
    try {
      const answer = sampled.next()
      time = answer instanceof Promise ? await answer : answer
    } catch (error) {
      throw await failed(error, call, io)
    }
    if (time === undefined) return
    if (isEvent) {
      const [set] = rows.sets ?? []
      loop.next(set?.status)
      const lines = set === undefined ? SUSPENDED : await events.lines(set, wanted.verbose)
      if (lines !== '') io.stdout.write((stamp === undefined ? '' : `${stamp.text(time)}  `) + lines)
    } else {
      const done = report.add(time)
      if (done !== undefined) await done
    }
  }
}

/** Returns the error to report for a failed fetch. An interrupt stays unchanged. */
async function failed(error: unknown, call: string, io: ToolIo): Promise<unknown> {
  if (!(error instanceof PcpError) || error.code === 'ECANCELED') return error
  await io.stdout.flush()
  io.stderr.write('\n')
  return fetchError(error, io, call)
}

/** Stores the text of -x in all shown instances of a metric with event records. */
async function storeFilter(
  context: Context,
  { desc, isEvent, columns }: ShownMetric,
  text: string,
  io: ToolIo,
): Promise<void> {
  const type = isEvent ? PM_TYPE_STRING : desc.type
  let set: ReturnType<typeof makeSet>
  try {
    const value = parseValue(text, type)
    const insts =
      columns === undefined || columns.length === 0 ? [PM_IN_NULL] : columns.map(({ inst }) => inst)
    set = makeSet(
      desc.pmid,
      type,
      insts,
      insts.map(() => value),
    )
  } catch (error) {
    const { code } = PcpError.from(error)
    const why =
      code === 'ERANGE'
        ? `filter value "${text}" is out of range for metric data type (PM_TYPE_${typeStr(type)})`
        : `filter "${text}" incompatible with metric type (PM_TYPE_${typeStr(type)})`
    throw new PcpError(code, why, { cause: error })
  }
  try {
    await context.store([set], io)
  } catch (error) {
    const { code, text: why } = PcpError.from(error)
    throw new PcpError(code, `store value "${text}" failed: ${why}`, { cause: error })
  }
}
