/** Generates random command lines: a command, an archive, options from the command's table, arguments from the archive. */
import type { Option, OptionTable } from '../../../../src/tools/lib/options.ts'
import type { Tool } from '../../../../src/tools/lib/tool.ts'
import { TOOLS } from '../../../../src/tools/registry.ts'
import type { Random } from '../random.ts'
import { archiveFacts, archiveNames, bytesOf, type MetricFacts, type SourceFacts } from './archive-facts.ts'
import { referencePath } from './both-sides.ts'
import { COMMANDS, type CommandRow, drawOf, isDrawn } from './commands.ts'
import { anyMetric, type Drawing, interval, metricSpec, prefixOf } from './draw.ts'
import type { Line, LineTables, Part } from './line.ts'

/** Larger archives are slow, and rarely find more. */
const MANY_BYTES = 1_000_000
const LARGE_SHARE = 0.1
/** Attempts to find a suitable archive for a command. */
const TRIES = 100
/** Numbers of options to choose from, without required ones. */
const OPTION_COUNTS = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7]
/** Time window options of every sampling command, often used together. */
const WINDOW = ['S', 'T', 'O', 'A', 't', 's', 'Z', 'z']
const WINDOW_CHANCE = 0.5

/** A command that both sides have, with its option table. */
interface Candidate {
  readonly row: CommandRow
  readonly table: OptionTable
  /** Options of `pcp`, before the name of its report. */
  readonly outer?: OptionTable
}

/** Generates lines. */
export class LineGenerator {
  readonly #candidates: readonly Candidate[]
  readonly #archives: readonly string[]

  /** The source of live lines, instead of archives. */
  readonly #live: SourceFacts | undefined

  private constructor(
    candidates: readonly Candidate[],
    archives: readonly string[],
    live: SourceFacts | undefined,
  ) {
    this.#candidates = candidates
    this.#archives = archives
    this.#live = live
  }

  /** Creates a generator for all commands, or those of these names: `pmval`, `pcp`, `pcp-free`. Live lines use one source. */
  static async create(names: readonly string[] = [], live?: SourceFacts): Promise<LineGenerator> {
    const candidates: Candidate[] = []
    for (const row of COMMANDS) {
      const { tool, report } = row
      if (names.length > 0 && !names.some((name) => name === tool || name === `${tool}-${report}`)) continue
      if (live !== undefined && (row.archive !== '-a' || row.metrics === undefined)) continue
      const outer = await loadTool(tool)
      const inner = report === undefined ? outer : await loadTool(`${tool}-${report}`)
      if (referencePath(tool) === undefined || inner?.options === undefined || outer?.options === undefined)
        continue
      candidates.push({
        row,
        table: inner.options,
        ...(report === undefined ? {} : { outer: outer.options }),
      })
    }
    return new LineGenerator(candidates, archiveNames(), live)
  }

  /** Generates one line. */
  line(random: Random): Line {
    const candidate = this.#pickCandidate(random)
    const { table, outer } = candidate
    const row = this.#live === undefined ? candidate.row : liveRow(candidate.row)
    const source = this.#live ?? this.#pickArchive(random, row)
    const metrics = Array.from({ length: random.int(0, row.metrics ?? 2) || 1 }, () =>
      pickMetric(random, source),
    )
    const drawing: Drawing = { random, source, metrics, command: row.tool }
    if (outer !== undefined) {
      const before = this.#options(drawing, { ...row, options: { P: false } }, outer, row.isSampling === true)
      const after = random.chance(0.6) ? this.#options(drawing, withoutWindow(random, row), table, false) : []
      const numbers =
        row.report === 'vmstat' || row.report === 'dstat' || row.report === 'atop' ? delays(drawing) : []
      return {
        command: 'pcp',
        parts: [kept('-a', source.name), ...before, kept(row.report!), ...after, ...numbers],
      }
    }
    const options = this.#options(drawing, row, table, row.isSampling === true)
    return { command: row.tool, parts: this.#arrange(drawing, row, options) }
  }

  #pickCandidate(random: Random): Candidate {
    const total = this.#candidates.reduce((sum, { row }) => sum + row.weight, 0)
    let rest = random.next() * total
    for (const candidate of this.#candidates) {
      rest -= candidate.row.weight
      if (rest < 0) return candidate
    }
    return this.#candidates[0]!
  }

  #pickArchive(random: Random, { needs }: CommandRow): SourceFacts {
    const isSuited = ({ metrics }: SourceFacts): boolean =>
      needs === undefined || metrics.some(({ name }) => needs.test(name))
    let tries = needs !== undefined && random.chance(0.1) ? 0 : TRIES
    for (;;) {
      const name = random.pick(this.#archives)
      // Opened on demand: opening all of them takes seconds.
      if (bytesOf(name) > MANY_BYTES && !random.chance(LARGE_SHARE)) continue
      const source = archiveFacts(name)
      if (source !== undefined && (tries-- <= 0 || isSuited(source))) return source
    }
  }

  #options(drawing: Drawing, row: CommandRow, table: OptionTable, isSampling: boolean): Part[] {
    const { random } = drawing
    const rows = table.rows.filter((one): one is Option => !('heading' in one) && isDrawn(row, nameOf(one)))
    const isSource = (name: string): boolean => name === 'a' && row.archive === '-a'
    const usable = rows.filter((one) => !isSource(nameOf(one)))
    if (usable.length === 0) return []
    const window = usable.filter((one) => WINDOW.includes(nameOf(one)))
    const chosen = new Set<Option>()
    for (let left = random.pick(OPTION_COUNTS); left > 0; left--)
      chosen.add(random.pick(random.chance(WINDOW_CHANCE) && window.length > 2 ? window : usable))
    const byName = (name: string): Option | undefined => usable.find((one) => nameOf(one) === name)
    for (const always of row.always ?? []) {
      const option = byName(always.slice(1))
      if (option !== undefined) chosen.add(option)
    }
    // Limits the samples, because windows may span years at intervals of a second.
    const bounds = isSampling ? (['t', 's'] as const).flatMap((name) => byName(name) ?? []) : []
    if (bounds.length > 0 && !bounds.some((one) => chosen.has(one))) chosen.add(random.pick(bounds))
    // Two time zones would only give a usage error.
    const hostZone = byName('z')
    if (hostZone !== undefined && chosen.has(byName('Z')!) && !random.chance(0.05)) chosen.delete(hostZone)
    return random
      .shuffled([...chosen])
      .map((option) => this.#part(drawing, row, option))
      .filter((part) => part !== undefined)
  }

  #part(drawing: Drawing, row: CommandRow, option: Option): Part | undefined {
    const { random } = drawing
    const { short, long, arg } = option
    const isLong = long !== undefined && (short === undefined || random.chance(0.25))
    const isAlways = row.always?.includes(`-${nameOf(option)}`) === true
    const keep = isAlways ? { isKept: true as const } : {}
    if (arg === undefined) return { words: [isLong ? `--${long}` : `-${short}`], ...keep }
    const draws = drawOf(row, nameOf(option), long)
    if (draws === undefined) return undefined
    const value = draws(drawing)
    if (option.isOptional === true) return { words: [isLong ? `--${long}=${value}` : `-${short}${value}`] }
    if (isLong) return { words: random.chance(0.5) ? [`--${long}=${value}`] : [`--${long}`, value], ...keep }
    return { words: [`-${short}`, value], ...keep }
  }

  #arrange(drawing: Drawing, row: CommandRow, options: readonly Part[]): Part[] {
    const { random, source, metrics } = drawing
    const named =
      row.metrics === undefined
        ? []
        : metrics.map(({ name }) => ({ words: [this.#operand(drawing, row, name)] }))
    // Without a metric some commands show all of them.
    const operands = random.chance(row.tool === 'pmval' || row.tool === 'pmevent' ? 0.99 : 0.9) ? named : []
    switch (row.archive) {
      case '-a':
      case '-r':
        return [
          kept(this.#live === undefined ? row.archive : '-h', source.name),
          ...options,
          ...(this.#live === undefined ? operands : named),
        ]
      case 'operand':
        return [...options, kept(source.name), ...operands]
      case 'copy':
        return [...options, kept(`OUT/${source.name}`)]
      case 'rename':
        return [...options, kept(`OUT/${source.name}`, 'OUT/renamed')]
      case 'two':
        return [
          ...options,
          kept(source.name),
          ...(random.chance(0.6) ? [kept(random.pick(this.#archives))] : []),
        ]
      case 'output':
        return [...options, kept(source.name), kept('OUT/out')]
    }
  }

  #operand(drawing: Drawing, row: CommandRow, name: string): string {
    const { random, metrics } = drawing
    if (random.chance(0.04)) return anyMetric(drawing)
    if (random.chance(0.08) && row.metrics !== 1) return prefixOf(random, name)
    const { instances } = metrics.find((metric) => metric.name === name)!
    if (row.tool === 'pmval' && instances.length > 0 && random.chance(0.3))
      return `${name}[${random.pick(instances)}${random.chance(0.2) ? `,${random.pick(instances)}` : ''}]`
    return /^pmrep|^pcp2/.test(row.tool) ? metricSpec(drawing, name) : name
  }
}

/** Picks a metric, rarely one of the recorder's own, which every archive has. */
function pickMetric(random: Random, { metrics }: SourceFacts): MetricFacts {
  const metric = random.pick(metrics)
  return metric.name.startsWith('pmcd.') && !random.chance(0.15) ? random.pick(metrics) : metric
}

function nameOf(option: Option): string {
  return option.short ?? option.long!
}

function kept(...words: string[]): Part {
  return { words, isKept: true }
}

/** Adapts a row to live values: few samples at short intervals, and no windows to wait for. */
function liveRow(row: CommandRow): CommandRow {
  const left = ['S', 'T', 'O', 'A', 'a', 'archive-list', 'F', 'x', 'c', 'N', 'X']
  const options = { ...row.options, ...Object.fromEntries(left.map((name) => [name, false] as const)) }
  if (row.isSampling !== true) return { ...row, options }
  return {
    ...row,
    always: ['-s', '-t'],
    options: {
      ...options,
      s: ({ random }) => String(random.int(1, 3)),
      t: ({ random }) => random.pick(['0.1', '100msec', '.25']),
    },
  }
}

/** Removes options of a report that `pcp` accepts as well; only few lines have them twice. */
function withoutWindow(random: Random, row: CommandRow): CommandRow {
  if (random.chance(0.1)) return row
  const own = row.options ?? {}
  const left = WINDOW.filter((name) => !(name in own)).map((name) => [name, false] as const)
  return { ...row, options: { ...own, ...Object.fromEntries(left) } }
}

/** Returns interval and count for reports that take them as operands. */
function delays(drawing: Drawing): Part[] {
  const { random } = drawing
  if (random.chance(0.4)) return []
  const delay = random.chance(0.3) ? interval(drawing, 20) : String(random.int(1, 60))
  return [{ words: random.chance(0.8) ? [delay, String(random.int(1, 6))] : [delay] }]
}

async function loadTool(name: string): Promise<Tool | undefined> {
  return TOOLS.find((entry) => entry.name === name)?.load()
}

/** Returns the option tables for parsing a line. */
export async function tablesOf([command = '', ...words]: readonly string[]): Promise<LineTables> {
  const report =
    command === 'pcp' ? words.find((word) => COMMANDS.some((row) => row.report === word)) : undefined
  const outer = (await loadTool(command))?.options?.rows ?? []
  if (report === undefined) return { own: outer }
  return { own: (await loadTool(`pcp-${report}`))?.options?.rows ?? [], outer }
}
