/** pcp numastat: how memory is given out on each node. pcp-numastat(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from './lib/options.ts'
import type { Sample } from './lib/sampled/metrics.ts'
import { runReport } from './lib/sampled/report.ts'
import { findAny, snapshot } from './lib/sampled/snapshot.ts'
import type { Tool } from './lib/tool.ts'

const PREFIX = 'mem.numa.alloc.'
/** Rows, and the metrics that they show. */
const ROWS = [
  ['numa_hit', 'hit'],
  ['numa_miss', 'miss'],
  ['numa_foreign', 'foreign'],
  ['interleave_hit', 'interleave_hit'],
  ['local_node', 'local_node'],
  ['other_node', 'other_node'],
] as const
const METRICS = ROWS.map(([, name]) => `${PREFIX}${name}`)
const COLUMN = 16
/** Columns where neither the option nor the variable says how many; a terminal may have others. */
const WIDTH = 80
const WIDTH_VARIABLE = 'NUMASTAT_WIDTH'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'w', long: 'width', arg: 'N', kind: 'none', help: 'use at most N columns' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** A table of nodes. */
export const tool: Tool = {
  name: 'pcp-numastat',
  summary: 'Show how memory is given out on the nodes of a host',
  description: `
A row for each way to get pages, a column for each node. numa_hit are pages that were had on the node they were wanted on, numa_miss
those that were wanted elsewhere, numa_foreign those that were wanted here and had elsewhere; interleave_hit are pages of the interleave
policy had as wanted; local_node and other_node are pages had by programs that ran on the node, or on another one.

With many nodes the columns are continued on further lines. The width is that of -w, else of the variable ${WIDTH_VARIABLE}, else ${WIDTH}.`,
  examples: [['pcp -h db1 numastat', 'A host:']],
  seeAlso: ['pcp', 'pcp-free'],
  options: OPTIONS,
  run: async (io) =>
    runReport(
      { table: OPTIONS, read: (given, { problems }) => widthOf(given, io.env, problems) },
      io,
      async ({ context, window }, width) => {
        const metrics = await findAny(context, METRICS, io, METRICS)
        const sample = await snapshot(context, metrics, window.origin, METRICS, io)
        if (!sample.has(METRICS[0]!)) {
          io.stderr.write(`${io.progname}: no values of ${PREFIX}hit\n`)
          return 1
        }
        io.stdout.write(table(sample, width))
        return 0
      },
    ),
}

function widthOf(
  given: readonly GivenOption[],
  env: Readonly<Record<string, string | undefined>>,
  problems: string[],
): number {
  const option = given.findLast(({ name }) => name === 'w')?.value
  const text = option ?? env[WIDTH_VARIABLE]
  if (text === undefined) return WIDTH
  if (/^\d+$/.test(text)) return Number(text)
  const from = option === undefined ? WIDTH_VARIABLE : '--width'
  problems.push(`${from} must be a number of columns, not "${text}"`)
  return WIDTH
}

function table(sample: Sample, width: number): string {
  const nodes = [...sample.instances(METRICS[0]!)]
  const columns = Math.max(1, Math.floor(width / COLUMN) - 1)
  const groups: (readonly (readonly [number, string])[])[] = []
  for (let i = 0; i < nodes.length; i += columns) groups.push(nodes.slice(i, i + columns))
  const line = (label: string, cells: readonly string[]): string =>
    `${label.padEnd(COLUMN)}${cells.map((cell) => cell.padStart(COLUMN)).join('')}\n`
  const heading = (group: (typeof groups)[number]): string =>
    line(
      '',
      group.map(([, name]) => name),
    )
  const cells = (metric: string, group: (typeof groups)[number]): string[] =>
    group.map(([inst]) => String(sample.number(metric, inst) ?? '?'))
  // As in PCP the headings come again with every line as soon as nodes fill the width.
  const isSplit = nodes.length >= columns
  const rows = ROWS.flatMap(([label, name]) =>
    groups.map((group) => (isSplit ? heading(group) : '') + line(label, cells(`${PREFIX}${name}`, group))),
  )
  return (isSplit ? '' : heading(groups[0]!)) + rows.join('')
}
