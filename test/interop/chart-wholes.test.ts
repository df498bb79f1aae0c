/**
 * Checks that stacked parts add up to their whole over the archives of the reference's suite that have them: a quarter of them, or all in an
 * exhaustive run (CONTRIBUTING.md: Random tests).
 */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ChartRangeMetric } from '../../src/archive/chart-answer.ts'
import { decodeChartRange } from '../../src/archive/chart-bytes.ts'
import { parseFileName } from '../../src/archive/file-names.ts'
import type { Column } from '../../src/archive/scan.ts'
import { toSeconds } from '../../src/base/timestamp.ts'
import { isError, PcpError } from '../../src/model/errors.ts'
import type { Pmid } from '../../src/model/ids.ts'
import { openArchive } from '../../src/pmapi/archive.ts'
import type { Context } from '../../src/pmapi/context.ts'
import { Query } from '../../src/pmproxy/http/query.ts'
import type { PageCall } from '../../src/pmproxy/routes/page-call.ts'
import { range } from '../../src/pmproxy/routes/range.ts'
import { isSampled, seed } from '../lib/seed.ts'
import { Random } from './lib/random.ts'

const DIRECTORY = '/var/lib/pcp/testsuite/archives'
const hasSuite = existsSync(DIRECTORY)
if (!hasSuite) console.log(`skipped: ${DIRECTORY} is not there`)

/** Metrics and expressions that add up to another metric, with the metrics that do so in each record. */
const WHOLES: readonly Whole[] = [
  { whole: 'mem.physmem', recorded: ['mem.util.used', 'mem.util.free'] },
  {
    whole: 'mem.physmem',
    recorded: ['mem.util.used', 'mem.util.free'],
    parts: ['mem.util.used - mem.util.cached', 'mem.util.cached', 'mem.util.free'],
  },
  {
    whole: 'mem.physmem',
    recorded: ['mem.util.used', 'mem.util.free'],
    parts: [
      'mem.util.used - mem.util.bufmem - mem.util.cached',
      'mem.util.bufmem',
      'mem.util.cached',
      'mem.util.free',
    ],
  },
  { whole: 'swap.length', recorded: ['swap.used', 'swap.free'] },
  { whole: 'filesys.capacity', recorded: ['filesys.used', 'filesys.free'] },
]

interface Whole {
  readonly whole: string
  readonly recorded: readonly string[]
  /** Parts, if different from the recorded ones. */
  readonly parts?: readonly string[]
}

/** Windows of each archive, besides the whole archive. */
const WINDOWS = 4

function archives(): string[] {
  const names = new Set<string>()
  for (const file of readdirSync(DIRECTORY)) {
    const parsed = parseFileName(file)
    if (parsed?.part === 'meta') names.add(parsed.base)
  }
  return [...names].sort()
}

/** Opens an archive; undefined if it is damaged on purpose. */
async function opened(name: string): Promise<Context | undefined> {
  try {
    return await openArchive(join(DIRECTORY, name))
  } catch (error) {
    if (error instanceof PcpError) return undefined
    throw error
  }
}

/**
 * Returns whether the records themselves add up and the parts are recorded together. For example, used swap of IRIX does not add up, and
 * values of different times need not.
 */
async function doesAddUp(context: Context, { whole, recorded, parts = [] }: Whole): Promise<boolean> {
  const operands = parts.flatMap((part) => part.split(' - '))
  const found = await context.lookupNames([...recorded, whole, ...operands])
  if (found.some(isError)) return false
  const ids = found.slice(0, recorded.length + 1) as Pmid[]
  let columns: readonly Column[]
  try {
    ;({ columns } = context.archive!.scan(ids))
  } catch (error) {
    if (error instanceof PcpError) return false // damaged on purpose
    throw error
  }
  const wholes = new Map(
    columns.filter(({ pmid }) => pmid === ids.at(-1)).map((column) => [column.inst, column]),
  )
  const sums = new Map<string, { inst: number; time: number; sum: number; count: number }>()
  for (const { pmid, inst, times, values } of columns) {
    if (pmid === ids.at(-1)) continue
    for (const [i, time] of times.entries()) {
      const sum = sums.get(`${inst} ${time}`) ?? { inst, time, sum: 0, count: 0 }
      sum.sum += values[i]!
      sum.count++
      sums.set(`${inst} ${time}`, sum)
    }
  }
  const isWhole = ({ inst, time, sum }: { inst: number; time: number; sum: number }): boolean => {
    const of = wholes.get(inst)
    if (of === undefined) return true
    const at = of.times.findLastIndex((one) => one <= time)
    return at < 0 || Math.abs(of.values[at]! - sum) <= 1
  }
  // Two log groups with one of the parts each may be milliseconds apart.
  const areTogether = [...sums.values()].every(({ count }) => count === recorded.length)
  return sums.size > 0 && areTogether && [...sums.values()].every(isWhole)
}

/** Returns the sums in a window by instance, where all parts are known, with the whole at that time. */
async function sumsIn(
  context: Context,
  { whole, recorded, parts = recorded }: Whole,
  window: string,
): Promise<Sum[]> {
  const names = parts.map((part, i) => (part.includes(' ') ? `page.p${i}` : part))
  const derive = parts.flatMap((part, i) =>
    part.includes(' ') ? [`derive=page.p${i}=${encodeURIComponent(part)}`] : [],
  )
  const query = [`names=${[...names, whole].join()}`, 'format=columns&aligned=1', window, ...derive].join('&')
  const request = { query: new Query(query), signal: new AbortController().signal }
  const { body } = await range({ request, context } as unknown as PageCall)
  // Each request of the page has a separate context.
  for (const name of names.filter((name) => !parts.includes(name))) context.removeDerived(name)
  const { metrics, lists } = decodeChartRange(body as Uint8Array<ArrayBuffer>)
  const columnsOf = (metric: ChartRangeMetric): Map<number, Map<number, number>> => {
    if ('code' in metric) throw new Error(`${metric.name}: ${metric.message}`)
    return new Map(
      metric.columns.map(({ inst, times, values }) => [
        inst,
        new Map(Array.from(lists[times]!, (time, i) => [time, lists[values]![i]!])),
      ]),
    )
  }
  const wholes = columnsOf(metrics.at(-1)!)
  const columns = metrics.slice(0, -1).map(columnsOf)
  return [...wholes].flatMap(([inst, moments]) =>
    [...moments].flatMap(([time, total]) => {
      const values = columns.map((column) => column.get(inst)?.get(time) ?? Number.NaN)
      const sum = values.reduce((before, value) => before + value, 0)
      return Number.isNaN(sum + total) ? [] : [{ inst, time, sum, whole: total }]
    }),
  )
}

interface Sum {
  readonly inst: number
  readonly time: number
  readonly sum: number
  readonly whole: number
}

test.runIf(hasSuite)(
  'parts add up to the whole at each point of a chart',
  async () => {
    const random = new Random(seed)
    const counts = { archives: 0, stacks: 0, moments: 0 }
    for (const [n, name] of archives().entries()) {
      if (!isSampled(n, 4)) continue
      const context = await opened(name)
      if (context === undefined) continue
      counts.archives++
      const { archive } = context
      const [start, end] = [toSeconds(archive!.start), toSeconds(archive!.end())]
      for (const stack of WHOLES) {
        if (end <= start || !(await doesAddUp(context, stack))) continue
        counts.stacks++
        for (let w = 0; w <= WINDOWS; w++) {
          const from = w === 0 ? start : start + (end - start) * random.next()
          const length = w === 0 ? end - start : (end - start) * random.next() ** 2
          // Both as many points as a chart has, and fewer than there are samples.
          const window = `start=${from}&finish=${from + Math.max(1, length)}&points=${random.pick([1800, 600, 40])}`
          const sums = await sumsIn(context, stack, window)
          counts.moments += sums.length
          for (const { inst, time, sum, whole } of sums)
            if (Math.abs(sum - whole) > 1e-9 * whole + 1)
              expect.fail(
                `${name} ${(stack.parts ?? stack.recorded).join(' + ')} [${inst}] at ${time}: ${sum} of ${whole}, ${window}`,
              )
        }
      }
      await context.close()
    }
    console.log(counts)
    expect(counts.moments).toBeGreaterThan(0)
  },
  600_000,
)
