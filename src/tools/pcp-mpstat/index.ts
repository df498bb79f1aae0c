/** pcp mpstat: processor activity and interrupts. pcp-mpstat(1) */
import { strftime } from '../../time/strftime.ts'
import { knowsMachine, machineLine } from '../lib/sampled/machine-line.ts'
import { type Sample, SampledMetrics } from '../lib/sampled/metrics.ts'
import {
  type ReportSource,
  reportMissing,
  runReport,
  samplesOf,
  samplingPlan,
} from '../lib/sampled/report.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import {
  Changes,
  type InterruptMetrics,
  interruptsOf,
  METRICS,
  type Processor,
  processorsOf,
} from './figures.ts'
import { type MpstatOptions, OPTIONS, readOptions } from './options.ts'
import { interruptTable, SUM_TABLE, type TableLayout, TIME_TABLE } from './tables.ts'

export const tool: Tool = {
  name: 'pcp-mpstat',
  summary: 'Show processor activity and interrupts',
  description: `
The first table shows percentages of processor time: in programs (%usr, %nice), in the kernel (%sys), waiting for disks (%iowait), in
interrupts (%irq, %soft), stolen by other virtual machines (%steal), in guests (%guest, and the second %nice), and idle. The line
"all" is the average of all processors; -P adds lines for each of them.

With -I interrupts a second are shown: in total, or in columns for each line or soft interrupt. A question mark is shown for missing
values. The first sample only starts the counters, and is included in the count of -s.`,
  examples: [
    ['pcp mpstat -P ALL -t 5 -s 13', 'A minute of each processor of this host:'],
    ['pcp -a 20261120 mpstat -I SUM -t 10m', 'Interrupts in an archive:'],
  ],
  seeAlso: ['pcp', 'pcp-vmstat', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: async (io) =>
    runReport({ table: OPTIONS, read: (given, { problems }) => readOptions(given, problems) }, io, report),
}

/** A table, with a function that returns a row for a processor or (undefined) for all. */
interface Section {
  readonly layout: TableLayout
  readonly hasAll: boolean
  readonly hasEach: boolean
  readonly values: (changes: Changes, inst: number | undefined) => readonly (number | undefined)[]
}

async function report(source: ReportSource, options: MpstatOptions | string, io: ToolIo): Promise<number> {
  if (typeof options === 'string') {
    io.stderr.write(`${options}\n`)
    return 1
  }
  const { context, zone } = source
  const kinds = options.interrupts.filter((kind) => kind !== 'SUM')
  const interrupts = new Map<string, InterruptMetrics>()
  for (const kind of kinds) interrupts.set(kind, await interruptsOf(context, kind, io))
  const optional = [...interrupts.values()].flatMap(({ metrics }) => metrics)
  const metrics = await SampledMetrics.find(context, [...METRICS, ...optional], io)
  const missing = metrics.missing.filter((name) => !optional.includes(name))
  if (missing.length > 0) {
    reportMissing(missing, 'Missing:', io)
    return 1
  }
  const sections = sectionsOf(options, interrupts)
  const plan = samplingPlan(source)
  let before: Sample | undefined
  let rows = 0
  for await (const now of samplesOf(context, metrics, plan, io)) {
    if (before !== undefined && knowsMachine(now)) {
      if (rows === 0) io.stdout.write(machineLine(now, zone))
      const changes = new Changes(before, now)
      const stamp = strftime('%H:%M:%S', now.time.sec, zone)
      const processors = processorsOf(now, options.processors)
      const hasHeading = rows++ === 0 || options.repeatsHeadings
      for (const section of sections)
        io.stdout.write(sectionText(section, { changes, stamp, processors, hasHeading }))
    }
    before = now
  }
  return 0
}

function sectionsOf(
  { showsTime, interrupts, processors }: MpstatOptions,
  metrics: ReadonlyMap<string, InterruptMetrics>,
): readonly Section[] {
  const isListed = typeof processors === 'object'
  const lines = { hasAll: !isListed, hasEach: processors !== undefined }
  const sections: Section[] = []
  if (showsTime)
    sections.push({ layout: TIME_TABLE, ...lines, values: (changes, inst) => changes.shares(inst) })
  for (const kind of interrupts) {
    if (kind === 'SUM') {
      sections.push({ layout: SUM_TABLE, ...lines, values: (changes, inst) => [changes.interrupts(inst)] })
      continue
    }
    const { columns, place } = metrics.get(kind)!
    sections.push({
      layout: interruptTable(columns),
      hasAll: false,
      hasEach: true,
      values: (changes, inst) => columns.map((_, i) => changes.rate(...place(i, inst))),
    })
  }
  return sections
}

interface SectionRows {
  readonly changes: Changes
  readonly stamp: string
  readonly processors: readonly Processor[]
  readonly hasHeading: boolean
}

function sectionText(
  { layout, hasAll, hasEach, values }: Section,
  { changes, stamp, processors, hasHeading }: SectionRows,
): string {
  const row = (processor: string, inst: number | undefined): string =>
    layout.row({ stamp, processor, values: values(changes, inst) })
  return [
    hasHeading ? layout.heading : '',
    hasAll ? row('all', undefined) : '',
    ...(hasEach ? processors.map(({ number, inst }) => row(String(number), inst)) : []),
  ].join('')
}
