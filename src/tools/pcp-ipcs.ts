/** pcp ipcs: limits and use of System V messages, shared memory and semaphores. pcp-ipcs(1) */
import { HELP_ROW, type OptionTable, VERSION_ROW } from './lib/options.ts'
import { type Sample, SampledMetrics } from './lib/sampled/metrics.ts'
import { type ReportSource, runReport } from './lib/sampled/report.ts'
import { fetchAt, findMetrics } from './lib/sampled/snapshot.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const PAGE = 'hinv.pagesize'
/** Reads the text of a value from a sample. */
type Read = (metric: string, of?: (value: number, page: number) => number) => string
/** A section with its title and lines. */
type Section = readonly [title: string, lines: (read: Read) => readonly string[]]

const kilobytes = (bytes: number): number => Math.floor(bytes / 1024)
const pagesAsKilobytes = (pages: number, page: number): number => (pages * page) / 1024
const pages = (bytes: number, page: number): number => Math.floor(bytes / page)

const LIMITS: readonly Section[] = [
  [
    'Messages Limits',
    (read) => [
      `max queues system wide = ${read('ipc.msg.max_msgqid')}`,
      `max size of message (bytes) = ${read('ipc.msg.max_msgsz')}`,
      `default max size of queue (bytes) = ${read('ipc.msg.max_defmsgq')}`,
    ],
  ],
  [
    'Shared Memory Limits',
    (read) => [
      `max number of segments = ${read('ipc.shm.max_seg')}`,
      `max seg size (kbytes) = ${read('ipc.shm.max_segsz', kilobytes)}`,
      `max total shared memory (kbytes) = ${read('ipc.shm.max_shmsys', pagesAsKilobytes)}`,
      `min seg size (bytes) = ${read('ipc.shm.min_segsz')}`,
    ],
  ],
  [
    'Semaphore Limits',
    (read) => [
      `max number of arrays = ${read('ipc.sem.max_semid')}`,
      `max semaphores per array = ${read('ipc.sem.max_perid')}`,
      `max semaphores system wide = ${read('ipc.sem.num_undo')}`,
      `max ops per semop call = ${read('ipc.sem.max_ops')}`,
      `semaphore max value = ${read('ipc.sem.max_semval')}`,
    ],
  ],
]

const STATUS: readonly Section[] = [
  [
    'Messages Status',
    (read) => [
      `allocated queues = ${read('ipc.msg.used_queues')}`,
      `used headers = ${read('ipc.msg.tot_msg')}`,
      `used space = ${read('ipc.msg.tot_bytes')}  bytes`,
    ],
  ],
  [
    'Shared Memory Status',
    (read) => [
      `segments allocated   ${read('ipc.shm.used_ids')}`,
      `pages allocated    ${read('ipc.shm.tot', pages)}`,
      `pages resident   ${read('ipc.shm.rss', pages)}`,
      `pages swapped   ${read('ipc.shm.swp', pages)}`,
      `Swap performance: ${read('ipc.shm.swap_attempts')} attempts     ${read('ipc.shm.swap_successes')} successes`,
    ],
  ],
  [
    'Semaphore Status',
    (read) => [
      `used arrays = ${read('ipc.sem.used_sem')}`,
      `allocated semaphores = ${read('ipc.sem.tot_sem')}`,
    ],
  ],
]

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'l', long: 'limits', help: 'show the limits' },
    { short: 'u', long: 'summary', help: 'show the use' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Prints sections of limits and of use, like ipcs(1). */
export const tool: Tool = {
  name: 'pcp-ipcs',
  summary: 'Show limits and use of messages, shared memory and semaphores',
  description: `
Shows limits (-l) or use (-u) of System V message queues, shared memory and semaphores, or both. Without options only missing metrics
are reported. A question mark is shown for unknown values.`,
  examples: [['pcp -h db1 ipcs -l -u', 'Everything about a host:']],
  seeAlso: ['pcp'],
  options: OPTIONS,
  run: async (io) =>
    runReport(
      {
        table: OPTIONS,
        read: (given) => [
          ...(given.some(({ name }) => name === 'l') ? LIMITS : []),
          ...(given.some(({ name }) => name === 'u') ? STATUS : []),
        ],
      },
      io,
      report,
    ),
}

async function report(
  { context, window }: ReportSource,
  sections: readonly Section[],
  io: ToolIo,
): Promise<number> {
  const names = namesOf(sections.length === 0 ? LIMITS : sections)
  const metrics = await SampledMetrics.find(context, [...names, PAGE], io)
  if (!names.every((name) => metrics.has(name))) {
    // PCP always fetches the limits first.
    for (const needed of [namesOf(LIMITS), names]) await findMetrics(context, needed, io, needed)
  }
  if (sections.length === 0) return 0
  const sample = await fetchAt(context, metrics, window.origin, names, io)
  for (const [title, lines] of sections)
    io.stdout.write(`\n------ ${title} --------\n${lines(reader(sample)).join('\n')}\n`)
  return 0
}

/** Returns the metrics of sections. */
function namesOf(sections: readonly Section[]): readonly string[] {
  const names = new Set<string>()
  const note: Read = (metric) => {
    names.add(metric)
    return ''
  }
  for (const [, lines] of sections) lines(note)
  return [...names]
}

function reader(sample: Sample): Read {
  const page = sample.number(PAGE)
  return (metric, of) => {
    const value = sample.number(metric)
    if (value === undefined) return '?'
    if (of === undefined) return String(value)
    const converted = of(value, page ?? Number.NaN)
    return Number.isNaN(converted) ? '?' : String(converted)
  }
}
