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
import { endEarly, usageText } from '../lib/options.ts'
import { printOptions } from '../lib/print.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import { type ParsedStandard, parseStandard, type StandardOptions } from '../lib/standard.ts'
import { controlPort, FollowedTime, zoneOf } from '../lib/time-control.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { EventReport } from './events.ts'
import { columnWidth, precisionFits } from './format.ts'
import { Headings, headerLines, rowStamp } from './header.ts'
import { OPTIONS, type Wanted, wantedFrom } from './options.ts'
import { Rows, SUSPENDED } from './rows.ts'
import { SampleLoop } from './sample-loop.ts'
import { controlledFetches, fetches, scheduleOf } from './schedule.ts'
import { findSubject, type Subject } from './subject.ts'

/** Shows the values of a metric, a row a sample. */
export const tool: Tool = {
  name: 'pmval',
  summary: 'Show the values of a metric over time',
  description: `
Shows the values of one metric, a line a sample, with a column for each instance. Counters are shown as rates unless -r asks for
them as they are; times that are counted become utilisation.

The metric may say where it is and which instances are meant: host:metric[instance,...], archive/metric[instance,...].

It does not reconnect: when the collector goes away it reports that and exits with status 1. pmcd_wait waits until there is one
again; pmstat and pmie reconnect by themselves.`,
  examples: [
    ['pmval -s 5 -t 2s kernel.all.load', 'Five samples, two seconds apart:'],
    ['pmval "db1:disk.dev.read[sda,sdb]"', 'Two disks of db1:'],
  ],
  seeAlso: ['pminfo', 'pmclient'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { isHighRes: true })
    const wanted = wantedFrom(parsed)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (parsed.operands.length === 0) parsed.problems.push('error - no metricname specified')
    else if (parsed.operands.length > 1) parsed.problems.push('error - too many arguments')
    if (parsed.problems.length > 0) return endEarly(OPTIONS, parsed, io) ?? 1
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
      return endEarly(OPTIONS, parsed, io) ?? 1
    }
    if (wanted.delays && standard.source !== 'archive') {
      parsed.problems.push('delay can only be used with archives')
      return endEarly(OPTIONS, parsed, io) ?? 1
    }
    const port = controlPort(standard, io)
    if (port !== undefined && wanted.delays) {
      parsed.problems.push('guiflag cannot be used with delay')
      return endEarly(OPTIONS, parsed, io) ?? 1
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

/** The standard options with the source that the metric's specification names; undefined when two sources are meant. */
function withSource(
  { standard }: ParsedStandard,
  spec: MetricSpec,
  { rawArchive }: Wanted,
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
  wanted: Wanted,
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
  // Recorded metrics, and those of agents in this process, take no filter: as in PCP it is left out.
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
      : await FollowedTime.open(port, { contexts: [context], ...schedule, zone, host }, io)
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

/** What a failed fetch prints last. An interrupted one stays what it is. */
async function failed(error: unknown, call: string, io: ToolIo): Promise<unknown> {
  if (!(error instanceof PcpError) || error.code === 'ECANCELED') return error
  await io.stdout.flush()
  io.stderr.write('\n')
  return fetchError(error, io, call)
}

/** Stores the value of -x into all instances shown: text into a metric with event records. */
async function storeFilter(
  context: Context,
  { desc, isEvent, columns }: Subject,
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
