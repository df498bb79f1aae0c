/**
 * Nodes of evaluated expressions. A node holds values as columns: a cell for each host and instance, and as many past samples as the
 * expression needs, newest first.
 *
 *     values:  sample 0: cell 0, cell 1 ... | sample 1: cell 0, cell 1 ... | ...
 *
 * Truth is 0, 1 or 2 for unknown; unknown numbers are NaN. docs/reference/pmie.md
 */
import type { RuleHost } from './host.ts'

/** Values of truth nodes; `UNKNOWN` is neither. */
export const FALSE = 0
export const TRUE = 1
export const UNKNOWN = 2

/** Host and instance of a cell. */
export interface Cell {
  /** Undefined if aggregated over hosts. */
  readonly host: RuleHost | undefined
  /** Undefined without instances or if aggregated over them. */
  readonly inst: string | undefined
}

/** Cells of a node. The same object means the same cells; a new object means that the history is lost. */
export type Layout = readonly Cell[]

/** No cells, because the instances are unknown. */
export const NO_CELLS: Layout = []
/** One cell without host and instance. */
export const ONE_CELL: Layout = [{ host: undefined, inst: undefined }]

/** Sizes of dimensions, if known when rules are loaded; undefined: the dimension is absent. */
export interface Domains {
  readonly hosts: number | undefined
  readonly instances: number | undefined
  readonly samples: number | undefined
}

/** No dimensions. */
export const SINGULAR: Domains = { hosts: undefined, instances: undefined, samples: undefined }

/** An expression with its current values. */
export interface Node {
  readonly kind: 'number' | 'truth' | 'text'
  readonly domains: Domains
  readonly samples: number
  /** A new object when instances change. */
  layout: Layout
  /** Number of computed samples, counting from the newest; 0 if nothing is known. */
  valid: number
  /** Values of number and truth nodes. */
  values: Float64Array
  /** Values of text nodes, in the same order. */
  texts: readonly string[]
  /** A constant needs no evaluation. */
  readonly isConstant: boolean
  /** For minimum and maximum over instances: the argument's cell that each value came from. */
  readonly picks?: Int32Array
  /** Whether its instances are known, even if there are zero. */
  isListed?: boolean
  /** No host knows the metric, so it may turn out to be a string. */
  isUntyped?: boolean
  /** The operands. */
  readonly args: readonly Node[]
  /** Its role in `findBindings`. */
  readonly role: Role
  /** Computes the newest sample. */
  update(): void
}

/** A node's role in finding the instances that made a rule true. */
export type Role = 'fetch' | 'constant' | 'arithmetic' | 'relation' | 'logic' | 'over'

/** Arguments of `makeNode`. */
export interface NodeParts {
  readonly kind: Node['kind']
  readonly domains: Domains
  readonly samples: number
  readonly args: readonly Node[]
  readonly role: Role
  readonly layout?: Layout
}

/** Creates a node without values. */
export function makeNode(parts: NodeParts, update: (node: Node) => void): Node {
  const { kind, domains, samples, args, role, layout = NO_CELLS } = parts
  const node: Node = {
    kind,
    domains,
    samples,
    layout,
    valid: 0,
    values: blank(kind, samples * layout.length),
    texts: [],
    isConstant: false,
    args,
    role,
    update: () => update(node),
  }
  return node
}

/** Creates a constant node. */
export function constantNode(value: number | boolean | string): Node {
  const kind = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'truth' : 'text'
  return {
    kind,
    domains: SINGULAR,
    samples: 1,
    layout: ONE_CELL,
    valid: 1,
    values: Float64Array.of(Number(kind === 'text' ? Number.NaN : value)),
    texts: [String(value)],
    isConstant: true,
    args: [],
    role: 'constant',
    update: () => {},
  }
}

function blank(kind: Node['kind'], length: number): Float64Array {
  return new Float64Array(length).fill(nothing(kind))
}

function nothing(kind: Node['kind']): number {
  return kind === 'truth' ? UNKNOWN : Number.NaN
}

/** Sets new cells and discards all samples. */
export function resetNode(node: Node, layout: Layout): void {
  node.valid = 0
  if (layout.length === node.layout.length) node.values.fill(nothing(node.kind))
  else node.values = blank(node.kind, node.samples * layout.length)
  node.layout = layout
}

/** Shifts the samples by one and counts the new one. */
export function shift(node: Node): void {
  const { samples, values } = node
  if (samples > 1) values.copyWithin(node.layout.length, 0, (samples - 1) * node.layout.length)
  if (node.valid < samples) node.valid++
}
