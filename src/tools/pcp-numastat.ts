/** pcp numastat: memory allocation on each node. pcp-numastat(1) */
import { type GivenOption, HELP_ROW, type OptionTable, VERSION_ROW } from './lib/options.ts'
import type { Sample } from './lib/sampled/metrics.ts'
import { runReport } from './lib/sampled/report.ts'
import { fetchAt, findMetrics } from './lib/sampled/snapshot.ts'
import type { Tool } from './lib/tool.ts'

const PREFIX = 'mem.numa.alloc.'
/** Rows with their metrics. */
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
/** Columns if neither the option nor the variable is given, even on other terminals. */
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

export const tool: Tool = {
  name: 'pcp-numastat',
  summary: 'Show memory allocation on the nodes of a host',
  description: `
Shows a row for each kind of page allocation, and a column for each node. numa_hit counts pages allocated on the intended node,
numa_miss pages intended for another node, numa_foreign pages intended for this node but allocated on another; interleave_hit counts
pages of the interleave policy on the intended node; local_node and other_node count pages of programs that ran on this or another node.

With many nodes the columns continue on further lines. The width is that of -w, or of the variable ${WIDTH_VARIABLE}, or ${WIDTH}.`,
  examples: [['pcp -h db1 numastat', 'A host:']],
  seeAlso: ['pcp', 'pcp-free'],
  options: OPTIONS,
  run: async (io) =>
    runReport(
      { table: OPTIONS, read: (given, { problems }) => widthOf(given, io.env, problems) },
      io,
      async ({ context, window }, width) => {
        const metrics = await findMetrics(context, METRICS, io, METRICS)
        const sample = await fetchAt(context, metrics, window.origin, METRICS, io)
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
  // As in PCP, if the nodes fill the width, headings are repeated for every line.
  const isSplit = nodes.length >= columns
  const rows = ROWS.flatMap(([label, name]) =>
    groups.map((group) => (isSplit ? heading(group) : '') + line(label, cells(`${PREFIX}${name}`, group))),
  )
  return (isSplit ? '' : heading(groups[0]!)) + rows.join('')
}
