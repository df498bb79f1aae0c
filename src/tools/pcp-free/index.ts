/** pcp free: used and free memory. pcp-free(1); unlike in PCP's, the lines of -l and -o add up. */
import { toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { parseInterval } from '../../time/interval.ts'
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { type ReportSource, runReport, samplesOf } from '../lib/sampled/report.ts'
import { fetchAt, findMetrics } from '../lib/sampled/snapshot.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { LEADING, METRICS, memoryText, REQUIRED, type TableOptions } from './table.ts'

/** The parsed command line. */
interface FreeOptions extends TableOptions {
  /** Undefined to continue until interrupted, if there is an interval. */
  readonly count: number | undefined
  readonly intervalSec: number | undefined
}

const count = { short: 'c', arg: 'COUNT', kind: 'none' } as const
const seconds = { short: 's', arg: 'DELTA', kind: 'none' } as const

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'b', long: 'bytes', help: 'in bytes' },
    { short: 'k', long: 'kilobytes', help: 'in kilobytes, as without any of these' },
    { short: 'm', long: 'megabytes', help: 'in megabytes' },
    { short: 'g', long: 'gigabytes', help: 'in gigabytes' },
    { short: 'r', long: 'terabytes', help: 'in terabytes' },
    { short: 'o', help: 'add a line of memory without and with buffers and cache' },
    { short: 'l', long: 'lohi', help: 'add lines of low and high memory' },
    { short: 't', long: 'total', help: 'add a line of memory and swap together' },
    { short: 'w', long: 'wide', help: 'buffers and cache in separate columns' },
    { ...count, long: 'count', help: 'show the table COUNT times' },
    { ...count, long: 'samples', help: 'the same' },
    { ...seconds, long: 'seconds', help: 'show it again every DELTA' },
    { ...seconds, long: 'interval', help: 'the same' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Prints a table of memory like free(1). */
export const tool: Tool = {
  name: 'pcp-free',
  summary: 'Show how much memory and swap is used and free',
  description: `
The columns of memory are: total, used by programs and the kernel, free, shared, used by buffers and caches, and available to programs
without swapping. A question mark is shown for unknown values.

With -c or -s the table is repeated, every second or at the interval of -s, until the end of an archive.`,
  examples: [
    ['pcp -h db1 free -m -s 10', 'Megabytes of a host, every ten seconds:'],
    ['pcp -a 20261120 -O @10:00 free -g -t', 'A time in an archive:'],
  ],
  seeAlso: ['pcp', 'pcp-vmstat'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run: async (io) =>
    runReport({ table: OPTIONS, read: (given, { problems }) => readOptions(given, problems) }, io, report),
}

/** How many times each option divides kilobytes by 1024. */
const SHIFTS: Readonly<Record<string, number>> = { b: -1, k: 0, m: 1, g: 2, r: 3 }

function readOptions(given: readonly GivenOption[], problems: string[]): FreeOptions {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter)
  const text = given.findLast(({ name }) => name === 'c')?.value
  if (text !== undefined && !(/^\d+$/.test(text) && Number(text) > 0))
    problems.push('sample count must be a positive numeric argument')
  const interval = given.findLast(({ name }) => name === 's')?.value
  const unit = given.findLast(({ name }) => name in SHIFTS)?.name ?? 'k'
  return {
    shift: SHIFTS[unit]!,
    hasBuffersLine: has('o'),
    hasLowAndHigh: has('l'),
    hasTotal: has('t'),
    isWide: has('w'),
    count: text === undefined ? undefined : Number(text),
    intervalSec: interval === undefined ? undefined : intervalOf(interval, problems),
  }
}

function intervalOf(text: string, problems: string[]): number {
  try {
    const sec = toSeconds(parseInterval(text))
    if (sec === 0) problems.push('the interval must be greater than zero')
    return sec
  } catch (error) {
    const { message } = PcpError.from(error)
    problems.push(`interval argument not in pmParseHighResInterval(3) format:\n${message.trimEnd()}\n`)
    return 1
  }
}

async function report({ context, window }: ReportSource, options: FreeOptions, io: ToolIo): Promise<number> {
  const metrics = await findMetrics(context, METRICS, io, REQUIRED)
  const isRepeated = options.count !== undefined || options.intervalSec !== undefined
  const first = await fetchAt(context, metrics, window.origin, LEADING, io)
  if (!isRepeated) {
    io.stdout.write(memoryText(first, options))
    return 0
  }
  const plan = {
    fetches: options.count,
    intervalSec: options.intervalSec ?? 1,
    origin: first.time,
    finish: window.finish,
  }
  const end = options.intervalSec === undefined ? '' : '\n'
  for await (const sample of samplesOf(context, metrics, plan, io)) {
    io.stdout.write(`${memoryText(sample, options)}${end}`)
    await io.stdout.flush()
  }
  return 0
}
