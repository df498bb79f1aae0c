/** The blocks of dstat's lines: each plugin's headings and cells. pcp-dstat(1) */
import type { Timestamp } from '../../base/timestamp.ts'
import { PM_INDOM_NULL } from '../../model/ids.ts'
import type { Context } from '../../pmapi/context.ts'
import type { Cell } from '../lib/report/values.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type Column, openColumn, type ValueFormat } from './columns.ts'
import type { CellStyle } from './format.ts'
import type { ColumnSpec, FilterType, Plugin } from './plugins.ts'

/** Columns with a common heading: of one instance, or of a whole plugin. */
export interface HeadingGroup {
  readonly title: string
  readonly width: number
  readonly columns: readonly { readonly label: string; readonly width: number; readonly csv: string }[]
}

/** A value with its format. */
export interface StyledCell {
  readonly cell: Cell
  /** The value written to files. */
  readonly exact: Cell
  readonly style: CellStyle
}

/** The columns of a plugin in a line. */
export interface Block {
  readonly columns: readonly Column[]
  /** In files, missing values take a single cell. */
  readonly isFolded: boolean
  /** Titles for files. */
  readonly csvTitles: readonly (readonly [title: string, columns: number])[]
  headings(): readonly HeadingGroup[]
  /** Returns the values of this sample by group; none without columns. */
  row(time: Timestamp): readonly (readonly StyledCell[])[]
}

/** Instances selected by options. */
export interface InstanceLists {
  readonly lists: ReadonlyMap<FilterType, readonly string[]>
  /** Show each instance separately. */
  readonly full: boolean
}

const TOTAL = 'total'

/** Opens a plugin's metrics. Rejects with PM_ERR_GENERIC and the line to print if one is not available. */
export async function openBlock(
  context: Context,
  plugin: Plugin,
  { lists, full }: InstanceLists,
  forms: ValueFormat,
  io: ToolIo,
): Promise<Block> {
  const open = (spec: ColumnSpec): Promise<Column> => openColumn(context, plugin.name, spec, forms, io)
  const rank = plugin.top === undefined ? undefined : await open(plugin.top)
  const columns: Column[] = []
  for (const spec of plugin.columns) columns.push(await open(spec))
  if (rank !== undefined) return new TopBlock(plugin, rank, columns)
  const list = plugin.filter === undefined ? undefined : lists.get(plugin.filter)
  const chosen = choose(plugin, columns, list, full)
  const isSpread = plugin.columns.some(({ label }) => label.includes('%'))
  if ((plugin.grouping === 'none' && plugin.filter === undefined) || isSpread)
    return new PlainBlock(plugin, columns, chosen)
  return new GroupedBlock(plugin, columns, chosen)
}

/** Instances of a block; undefined for all. */
interface Choice {
  readonly insts: readonly number[] | undefined
  readonly total: boolean
  /** A list was given, but none of its instances exist. */
  readonly isVoid: boolean
}

function choose(
  { filter, instances, grouping }: Plugin,
  columns: readonly Column[],
  list: readonly string[] | undefined,
  full: boolean,
): Choice {
  const first = columns.find(({ hasInstances }) => hasInstances)
  if (filter !== undefined && full) return { insts: undefined, total: false, isVoid: false }
  const wanted = list ?? (instances.length > 0 ? instances : undefined)
  if (wanted === undefined) {
    const total = grouping === 'total' || grouping === 'both' || (grouping === 'none' && filter !== undefined)
    return {
      insts: grouping === 'total' || (total && filter !== undefined) ? [] : undefined,
      total,
      isVoid: false,
    }
  }
  const total = list?.includes(TOTAL) === true
  const items = wanted.filter((item) => item !== TOTAL)
  if (items.includes('all')) return { insts: undefined, total, isVoid: false }
  const insts = items.flatMap((item) => findInstance(first, filter, item) ?? [])
  return { insts, total, isVoid: list !== undefined && items.length > 0 && insts.length === 0 }
}

/** Finds an instance by its name, by its name without the usual prefix, or by the first word of its name. */
function findInstance(
  column: Column | undefined,
  filter: FilterType | undefined,
  item: string,
): number | undefined {
  if (column === undefined) return undefined
  const prefixes = { cpu: ['cpu'], int: ['int', 'line'], swap: ['/dev/'], md: ['md-', 'md'] } as const
  const more =
    filter === undefined ? [] : ((prefixes as Partial<Record<FilterType, readonly string[]>>)[filter] ?? [])
  for (const prefix of ['', ...more]) {
    const at = column.names.indexOf(prefix + item)
    if (at >= 0) return column.insts[at]
  }
  const at = column.names.findIndex((name) => name.split(' ', 1)[0] === item)
  return at < 0 ? undefined : column.insts[at]
}

/** Replaces `%I` and `%i` by the name and number of an instance. */
function labelText(label: string, name: string, inst: number | string): string {
  return label.replace(/%([IisSdD])/g, (_, letter: string) => (/[IsS]/.test(letter) ? name : String(inst)))
}

/** A plugin whose columns are in one group. */
class PlainBlock implements Block {
  readonly isFolded: boolean = false
  readonly columns: readonly Column[]
  readonly #plugin: Plugin
  readonly #choice: Choice
  readonly #means: readonly SecondMean[]

  constructor(plugin: Plugin, columns: readonly Column[], choice: Choice) {
    this.#plugin = plugin
    this.columns = columns
    this.#choice = choice
    this.#means = columns.map(() => new SecondMean())
  }

  get csvTitles(): readonly (readonly [string, number])[] {
    return [[this.#plugin.label, this.headings()[0]!.columns.length]]
  }

  headings(): readonly HeadingGroup[] {
    const { label } = this.#plugin
    if (this.#choice.isVoid) return [{ title: label, width: -1, columns: [] }]
    const columns = this.columns.flatMap((column) => {
      const { spec } = column
      if (!spec.label.includes('%')) return [{ label: spec.label, width: spec.width, csv: spec.label }]
      const texts = this.#insts(column).map((inst) => labelText(spec.label, column.nameOf(inst), inst))
      if (this.#choice.total && this.#choice.insts?.length !== 0) texts.push(TOTAL)
      if (texts.length === 0) texts.push(spec.label) // without instances the label stays unexpanded
      return texts.map((text) => ({ label: text, width: spec.width, csv: text }))
    })
    return [{ title: label, width: widthOf(columns), columns }]
  }

  /** Returns the instances named in the heading. */
  #insts(column: Column): readonly number[] {
    const { insts } = this.#choice
    return insts === undefined || insts.length === 0 ? column.insts : insts
  }

  row(): readonly (readonly StyledCell[])[] {
    if (this.#choice.isVoid) return []
    const cells = this.columns.flatMap((column, i): StyledCell[] => {
      const { style, values, hasInstances } = column
      const isSpread = column.spec.label.includes('%')
      const insts = hasInstances
        ? isSpread || this.#choice.insts !== undefined
          ? this.#insts(column)
          : [...values.insts.subarray(0, values.size)]
        : [PM_INDOM_NULL]
      if (!values.hasValues()) return [{ cell: undefined, exact: undefined, style }]
      const mean = this.#means[i]!
      const shown: StyledCell[] = insts.map((inst) => {
        const cell = column.cell(inst)
        return { cell: mean.next(inst, cell), exact: inFile(cell, column), style }
      })
      if (isSpread && this.#choice.total && this.#choice.insts?.length !== 0)
        shown.push(styled(sumOf(column, undefined, false), column))
      return shown
    })
    return cells.length === 0 ? [] : [cells]
  }
}

/** A plugin whose columns repeat for each instance and the total. */
class GroupedBlock implements Block {
  readonly columns: readonly Column[]
  readonly #plugin: Plugin
  readonly #groups: readonly (number | typeof TOTAL)[]
  readonly #choice: Choice

  constructor(plugin: Plugin, columns: readonly Column[], choice: Choice) {
    this.#plugin = plugin
    this.columns = columns
    this.#choice = choice
    const first = columns.find(({ hasInstances }) => hasInstances)
    this.#groups = [...(choice.insts ?? first?.insts ?? []), ...(choice.total ? [TOTAL as typeof TOTAL] : [])]
  }

  get isFolded(): boolean {
    return this.#groups.length === 1 && this.#choice.total
  }

  get csvTitles(): readonly (readonly [string, number])[] {
    return this.headings().map(({ title, columns }) => [title, columns.length])
  }

  headings(): readonly HeadingGroup[] {
    const first = this.columns.find(({ hasInstances }) => hasInstances)
    return this.#groups.map((group) => {
      const name = group === TOTAL ? TOTAL : (first?.nameOf(group) ?? String(group))
      const title = labelText(this.#plugin.label, name, group)
      if (this.#choice.isVoid) return { title, width: -1, columns: [] }
      const columns = this.columns.map(({ spec }) => {
        const label = labelText(spec.label, name, group)
        return { label, width: spec.width, csv: `${title}:${label}` }
      })
      return { title, width: widthOf(columns), columns }
    })
  }

  row(): readonly (readonly StyledCell[])[] {
    if (this.#choice.isVoid) return []
    return this.#groups.map((group) =>
      this.columns.map((column) => {
        const isShare = column.spec.printType === 'p'
        const cell = group === TOTAL ? sumOf(column, this.#plugin.culled, isShare) : column.cell(group)
        return styled(cell, column)
      }),
    )
  }
}

/** A plugin that shows the instance with the largest value; of equal ones the lowest number. */
class TopBlock implements Block {
  readonly isFolded: boolean = true
  readonly columns: readonly Column[]
  readonly #plugin: Plugin
  readonly #rank: Column
  readonly #shown: readonly Column[]

  constructor(plugin: Plugin, rank: Column, shown: readonly Column[]) {
    this.#plugin = plugin
    this.#rank = rank
    this.#shown = shown
    this.columns = [rank, ...shown]
  }

  get csvTitles(): readonly (readonly [string, number])[] {
    return [[`${this.#plugin.label} ${this.#rank.spec.label}`, this.#shown.length]]
  }

  headings(): readonly HeadingGroup[] {
    const { label, width } = this.#plugin
    const columns = this.#shown.map(({ spec }) => ({ label: spec.label, width: spec.width, csv: spec.label }))
    return [{ title: label, width, columns }]
  }

  /** The text below the title. */
  get subtitle(): string {
    return this.#rank.spec.label
  }

  row(): readonly (readonly StyledCell[])[] {
    const cells = this.#rank.values
    let most = 0
    let inst: number | undefined
    for (let i = 0; i < cells.size; i++) {
      const cell = cells.at(i)
      if (typeof cell === 'string' || cell === undefined) continue
      const value = Number(cell)
      if (!(value > most) && !(value === most && inst !== undefined && cells.insts[i]! < inst)) continue
      most = value
      inst = cells.insts[i]!
    }
    if (inst === undefined) {
      const style = { ...this.#rank.style, width: this.#plugin.width }
      return [[{ cell: undefined, exact: undefined, style }]]
    }
    return [this.#shown.map((column) => styled(column.cell(inst), column))]
  }
}

/** Returns a block's subtitle if it is not the names of its columns. */
export function ownSubtitle(block: Block): string | undefined {
  return block instanceof TopBlock ? block.subtitle : undefined
}

function styled(cell: Cell, column: Column): StyledCell {
  return { cell, exact: inFile(cell, column), style: column.style }
}

function inFile(cell: Cell, { fileFactor }: Column): Cell {
  return cell === undefined || typeof cell === 'string' || fileFactor === 1 ? cell : Number(cell) * fileFactor
}

/** Sums all instances except culled ones; averages percentages. */
function sumOf(column: Column, culled: RegExp | undefined, isShare: boolean): Cell {
  const cells = column.values
  let sum = 0
  let count = 0
  for (let i = 0; i < cells.size; i++) {
    const cell = cells.at(i)
    if (cell === undefined || typeof cell === 'string') continue
    if (culled !== undefined && column.hasInstances && culled.test(column.nameOf(cells.insts[i]!))) continue
    sum += Number(cell)
    count++
  }
  if (count === 0) return undefined
  return isShare ? sum / count : sum
}

function widthOf(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + 1, -1)
}

/** As in PCP's dstat, replaces the second value of ungrouped plugins by the mean of the first two. */
class SecondMean {
  readonly #seen = new Map<number, { readonly first: number; readonly count: number }>()

  next(inst: number, cell: Cell): Cell {
    if (cell === undefined || typeof cell === 'string') return cell
    const seen = this.#seen.get(inst)
    if (seen === undefined) {
      this.#seen.set(inst, { first: Number(cell), count: 1 })
      return cell
    }
    if (seen.count > 1) return cell
    this.#seen.set(inst, { first: 0, count: 2 })
    return (seen.first + Number(cell)) / 2
  }
}
