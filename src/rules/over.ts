/** Reductions along a dimension: aggregates, counts and quantifiers. docs/reference/pmie.md */
import type { RuleHost } from './host.ts'
import {
  type Cell,
  type Domains,
  FALSE,
  type Layout,
  makeNode,
  type Node,
  ONE_CELL,
  resetNode,
  shift,
  TRUE,
  UNKNOWN,
} from './node.ts'
import type { AggregateOp, Dimension, Quantity } from './syntax.ts'

/** Maps each cell of the argument to a cell of the result. */
interface Grouping {
  readonly layout: Layout
  readonly groupOf: Int32Array
}

/** Reduces `count` values, including NaN and UNKNOWN, to one value per group. */
interface Reducer {
  readonly kind: 'number' | 'truth'
  /** Allocates state for this many groups. */
  start(groups: number): void
  /** Writes one result per group to `out`. */
  reduce(out: Float64Array, values: Float64Array, groupOf: Int32Array, count: number): void
  /** Returns the argument cells of the results, for minimum and maximum. */
  readonly picks?: () => Int32Array
}

/** Returns the domains without one dimension. */
function without(domains: Domains, dimension: Dimension): Domains {
  if (dimension === 'host') return { ...domains, hosts: undefined }
  if (dimension === 'inst') return { ...domains, instances: undefined }
  return { ...domains, samples: undefined }
}

/** Returns the hosts of all fetches in an expression, in order. */
function hostsOf(node: Node): readonly RuleHost[] {
  if (node.role === 'fetch') return [...new Set(node.layout.flatMap(({ host }) => host ?? []))]
  for (const arg of node.args) {
    const hosts = hostsOf(arg)
    if (hosts.length > 0) return hosts
  }
  return []
}

function group(arg: Node, dimension: Dimension, hosts: readonly RuleHost[]): Grouping {
  const { layout } = arg
  if (dimension === 'sample') return { layout, groupOf: Int32Array.from(layout, (_, i) => i) }
  const keyOf = (cell: Cell): RuleHost | string | undefined => (dimension === 'inst' ? cell.host : cell.inst)
  const groups = new Map<RuleHost | string | undefined, number>()
  const cells: Cell[] = []
  const add = (key: RuleHost | string | undefined, cell: Cell): void => {
    if (groups.has(key)) return
    groups.set(key, cells.length)
    cells.push(cell)
  }
  if (dimension === 'inst') for (const host of hosts) add(host, { host, inst: undefined })
  for (const cell of layout) {
    const kept = dimension === 'inst' ? { ...cell, inst: undefined } : { ...cell, host: undefined }
    add(keyOf(cell), kept)
  }
  const groupOf = Int32Array.from(layout, (cell) => groups.get(keyOf(cell))!)
  return { layout: cells.length === 0 ? ONE_CELL : cells, groupOf }
}

function overNode(arg: Node, dimension: Dimension, reducer: Reducer, isQuantifier: boolean): Node {
  const hosts = arg.domains.hosts === undefined ? [] : hostsOf(arg)
  const isTime = dimension === 'sample'
  let grouping = group(arg, dimension, hosts)
  let groupOf = isTime ? repeated(grouping.groupOf, arg.samples) : grouping.groupOf
  let argLayout = arg.layout
  // Over instances, an argument without instances, such as a sum over instances, has no known result.
  const isVoid = dimension === 'inst' && arg.domains.instances === undefined
  reducer.start(grouping.layout.length)
  const node = makeNode(
    {
      kind: reducer.kind,
      domains: without(arg.domains, dimension),
      samples: isTime ? 1 : arg.samples,
      role: isQuantifier ? 'over' : 'arithmetic',
      args: [arg],
      layout: grouping.layout,
    },
    (self) => {
      arg.update()
      if (arg.layout !== argLayout) {
        argLayout = arg.layout
        const next = group(arg, dimension, hosts)
        const isSame = !isTime && sameCells(next.layout, grouping.layout)
        grouping = isSame ? { ...next, layout: grouping.layout } : next
        groupOf = isTime ? repeated(grouping.groupOf, arg.samples) : grouping.groupOf
        reducer.start(grouping.layout.length)
        resetNode(self, grouping.layout)
      }
      const isMissing = argLayout.length === 0 || arg.valid < (isTime ? arg.samples : 1)
      if (isMissing || (isVoid && !isQuantifier)) {
        self.valid = 0
        return
      }
      shift(self)
      if (isVoid) self.values.fill(UNKNOWN)
      else reducer.reduce(self.values, arg.values, groupOf, groupOf.length)
    },
  )
  const { picks } = reducer
  if (picks === undefined || dimension !== 'inst') return node
  return Object.defineProperty(node, 'picks', { get: picks })
}

/** Repeats the group indexes for each sample. */
function repeated(groupOf: Int32Array, samples: number): Int32Array {
  const all = new Int32Array(groupOf.length * samples)
  for (let sample = 0; sample < samples; sample++) all.set(groupOf, sample * groupOf.length)
  return all
}

function sameCells(a: Layout, b: Layout): boolean {
  return a.length === b.length && a.every((cell, i) => cell.host === b[i]!.host && cell.inst === b[i]!.inst)
}

/** Creates a minimum, maximum, sum or average. Unknown values are ignored. */
export function aggregateNode(arg: Node, op: Exclude<AggregateOp, 'count'>, dimension: Dimension): Node {
  return overNode(arg, dimension, op === 'min' || op === 'max' ? extreme(op) : total(op), false)
}

function extreme(op: 'min' | 'max'): Reducer {
  let at = new Int32Array(0)
  const sign = op === 'min' ? -1 : 1
  return {
    kind: 'number',
    start: (groups) => {
      at = new Int32Array(groups)
    },
    reduce: (out, values, groupOf, count) => {
      at.fill(-1)
      for (let i = 0; i < count; i++) {
        const value = values[i]! * sign
        const best = at[groupOf[i]!]!
        if (best < 0 ? !Number.isNaN(value) : value > values[best]! * sign) at[groupOf[i]!] = i
      }
      for (let g = 0; g < at.length; g++) out[g] = at[g]! < 0 ? Number.NaN : values[at[g]!]!
    },
    picks: () => at,
  }
}

function total(op: 'sum' | 'avg'): Reducer {
  const isSum = op === 'sum'
  let sums = new Float64Array(0)
  let counts = new Int32Array(0)
  return {
    kind: 'number',
    start: (groups) => {
      sums = new Float64Array(groups)
      counts = new Int32Array(groups)
    },
    reduce: (out, values, groupOf, count) => {
      sums.fill(0)
      counts.fill(0)
      for (let i = 0; i < count; i++) {
        const value = values[i]!
        if (Number.isNaN(value)) continue
        sums[groupOf[i]!]! += value
        counts[groupOf[i]!]!++
      }
      for (let g = 0; g < sums.length; g++)
        out[g] = counts[g] === 0 ? Number.NaN : isSum ? sums[g]! : sums[g]! / counts[g]!
    },
  }
}

/** Creates a node that counts true values. */
export function countNode(arg: Node, dimension: Dimension): Node {
  let groups = 0
  const reducer: Reducer = {
    kind: 'number',
    start: (count) => {
      groups = count
    },
    reduce: (out, values, groupOf, count) => {
      out.fill(0, 0, groups)
      for (let i = 0; i < count; i++) if (values[i] === TRUE) out[groupOf[i]!]!++
    },
  }
  return overNode(arg, dimension, reducer, false)
}

/** Creates a node that is true if enough values are true. */
export function quantifierNode(arg: Node, quantity: Quantity, dimension: Dimension): Node {
  let trues = new Int32Array(0)
  let unknowns = new Int32Array(0)
  let totals = new Int32Array(0)
  const reducer: Reducer = {
    kind: 'truth',
    start: (groups) => {
      trues = new Int32Array(groups)
      unknowns = new Int32Array(groups)
      totals = new Int32Array(groups)
    },
    reduce: (out, values, groupOf, count) => {
      trues.fill(0)
      unknowns.fill(0)
      totals.fill(0)
      for (let i = 0; i < count; i++) {
        const g = groupOf[i]!
        totals[g]!++
        if (values[i] === TRUE) trues[g]!++
        else if (values[i] === UNKNOWN) unknowns[g]!++
      }
      for (let g = 0; g < totals.length; g++) out[g] = verdict(quantity, trues[g]!, unknowns[g]!, totals[g]!)
    },
  }
  return overNode(arg, dimension, reducer, true)
}

function verdict(quantity: Quantity, trues: number, unknowns: number, total: number): number {
  if (total === 0) return UNKNOWN
  const possible = trues + unknowns
  if (quantity === 'all') return trues === total ? TRUE : possible === total ? UNKNOWN : FALSE
  if (quantity === 'some') return trues > 0 ? TRUE : unknowns > 0 ? UNKNOWN : FALSE
  if (trues / total >= quantity) return TRUE
  return possible / total >= quantity ? UNKNOWN : FALSE
}
