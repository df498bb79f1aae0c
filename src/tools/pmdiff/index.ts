/**
 * pmdiff: compares averages of two archives. pmdiff(1)
 *
 * Unlike 6.0.3, it compares negative averages, and counters that one archive has for a small part of its time only, and exits with
 * status 1 if an archive cannot be read.
 */
import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { formatF } from '../../base/printf.ts'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { handleEarlyExit, usageText } from '../lib/options.ts'
import { parseStandard } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { type Averages, averagesOf, type Side } from './averages.ts'
import { type DiffOptions, diffOptions, OPTIONS } from './options.ts'
import { columnWidth, compare, rowLine, rowsOf } from './rows.ts'

/** Differs after each restart of a collector. */
const ALWAYS_EXCLUDED = '^pmcd.pmlogger.port '
/** Computes the averages. */
const SUMMARIZER = 'pmlogsummary'

/** Compares two archives, or two time windows of one archive. */
export const tool: Tool = {
  name: 'pmdiff',
  summary: 'Show which averages of two archives differ',
  description: `
Compares time averages of all metrics and instances, for counters averages of rates. Shows those that have at least doubled or
halved, or changed by the factor of -q, the largest ratio first. |+| marks an average that was zero, |-| one that is zero now.
Metrics that only one side has are listed first.

With one archive its time windows are compared: -S and -T for the first, -B and -E for the second.`,
  examples: [
    ['pmdiff 20261120 20261121', 'Compare yesterday with today:'],
    ['pmdiff -S @10:00 -T @11:00 -B @14:00 -E @15:00 20261121', 'Compare two hours of a day:'],
    ['pmdiff -q 1.2 -x ^proc. --skip-missing before after', 'Show smaller differences, without processes:'],
  ],
  seeAlso: [SUMMARIZER],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { areOperandsArchives: true })
    const wanted = diffOptions(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (wanted === undefined) {
      io.stderr.write(usageText(OPTIONS, io.progname))
      return 1
    }
    const has = (name: string): boolean => parsed.given.some((each) => each.name === name)
    const { zone, hostzone } = parsed.standard
    const summarizer = await loadSummarizer(io)
    const patterns = [ALWAYS_EXCLUDED, ...wanted.patterns, ...patternsIn(wanted.patternFiles, io)]
    const options = {
      precision: wanted.precision,
      zone: hostzone ? ['-z'] : zone === undefined ? [] : ['-Z', zone],
      excluded: patterns.map(patternOf),
    }
    writeHead(has('skip-excluded') ? undefined : patterns, io)
    const [before, after] = wanted.sides
    const first = await sideOf(before, () => averagesOf(before, options, summarizer, io), io)
    const second = await sideOf(after, () => averagesOf(after, options, summarizer, io), io)
    if (!has('skip-missing')) {
      writeMissing(before, missing(first, second), io)
      writeMissing(after, missing(second, first), io)
    }
    writeRows(wanted, first, second, io)
    return first.isComplete && second.isComplete ? 0 : 1
  },
}

async function loadSummarizer({ commands }: ToolIo): Promise<Tool> {
  const entry = (await commands?.())?.find(({ name }) => name === SUMMARIZER)
  if (entry === undefined)
    throw new PcpError('PM_ERR_GENERIC', `${SUMMARIZER} is not installed, but is needed for averages`)
  return entry.load()
}

/** Converts an egrep pattern, in which character classes have names. */
function patternOf(text: string): RegExp {
  const classes: Readonly<Record<string, string>> = {
    alpha: 'A-Za-z',
    digit: '0-9',
    alnum: 'A-Za-z0-9',
    upper: 'A-Z',
    lower: 'a-z',
    space: '\\s',
    blank: ' \\t',
    xdigit: '0-9A-Fa-f',
  }
  const plain = text.replace(/\[:(\w+):\]/g, (whole, name: string) => classes[name] ?? whole)
  try {
    return new RegExp(plain)
  } catch (error) {
    throw new PcpError('EINVAL', `Invalid regular expression "${text}": ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function patternsIn(files: readonly string[], io: ToolIo): string[] {
  return files.flatMap((file) => {
    try {
      const text = decodeText(readFileSync(resolve(io.cwd, file)))
      return text.split('\n').filter((line) => line !== '')
    } catch (error) {
      const { code, text } = PcpError.from(error)
      throw new PcpError(code, `Cannot open pattern file "${file}": ${text}`, { cause: error })
    }
  })
}

function writeHead(patterns: readonly string[] | undefined, { stdout, cwd }: ToolIo): void {
  stdout.write(`Directory: ${cwd}\n`)
  if (patterns !== undefined)
    stdout.write(`Excluded metrics:\n${patterns.map((pattern) => `    ${pattern}\n`).join('')}`)
  stdout.write('\n')
}

async function sideOf(
  { archive }: Side,
  read: () => Promise<Averages>,
  { stdout }: ToolIo,
): Promise<Averages> {
  const averages = await read()
  if (averages.warnings !== '')
    stdout.write(`Warnings from ${SUMMARIZER} ... ${archive}\n${averages.warnings}\n`)
  return averages
}

/** Returns the averages that only the other side has. */
function missing(side: Averages, other: Averages): string[] {
  return [...other.values.keys()].filter((name) => !side.values.has(name)).sort(compare)
}

function writeMissing(side: Side, names: readonly string[], { stdout }: ToolIo): void {
  if (names.length === 0) return
  stdout.write(`Missing from ${side.archive} ${side.window} (not compared) ...\n`)
  stdout.write(`${names.map((name) => `    ${name}\n`).join('')}\n`)
}

function writeRows(
  { sides, threshold, precision }: DiffOptions,
  before: Averages,
  after: Averages,
  { stdout }: ToolIo,
): void {
  const width = columnWidth(precision)
  const line = (texts: readonly string[]): string => texts.map((text) => text.padStart(width)).join(' ')
  stdout.write(`Ratio Threshold: >= ${formatF(threshold, 2)} or <= ${formatF(1 / threshold, 3)}\n`)
  stdout.write(`${line(sides.map(({ archive }) => basename(archive)))}   Ratio  Metric-Instance\n`)
  stdout.write(`${line(sides.map(({ window }) => window))}\n`)
  for (const row of rowsOf(before.values, after.values, threshold)) stdout.write(rowLine(row, precision))
}
