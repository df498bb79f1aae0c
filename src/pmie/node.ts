/**
 * Expressions at work. A node holds the values of an expression as columns: a cell for each host and instance, and as many
 * samples back in time as the expression asks for, the newest first.
 *
 *     values:  sample 0: cell 0, cell 1 ... | sample 1: cell 0, cell 1 ... | ...
 *
 * Truth is 0, 1 or 2 for unknown; numbers that are not known are NaN. docs/pmie.md
 */
import type { RuleHost } from './host.ts'

/** False, true and neither. */
export const FALSE = 0
export const TRUE = 1
export const UNKNOWN = 2

/** What a cell belongs to. */
export interface Cell {
  /** Undefined where hosts were put together. */
  readonly host: RuleHost | undefined
  /** Undefined where there are no instances, or they were put together. */
  readonly inst: string | undefined
}

/** The cells of a node. Two nodes with the same object have the same cells; another object means that history is lost. */
export type Layout = readonly Cell[]

/** No cells: nothing is known of instances. */
export const NO_CELLS: Layout = []
/** One cell of no host and no instance. */
export const ONE_CELL: Layout = [{ host: undefined, inst: undefined }]

/** Sizes of dimensions as far as known when the rules are read; undefined: that dimension is not there. */
export interface Domains {
  readonly hosts: number | undefined
  readonly instances: number | undefined
  readonly samples: number | undefined
}

/** No dimension at all. */
export const SINGULAR: Domains = { hosts: undefined, instances: undefined, samples: undefined }

/** The values of an expression. */
export interface Node {
  readonly kind: 'number' | 'truth' | 'text'
  readonly domains: Domains
  readonly samples: number
  /** Cells; changes its identity with the instances. */
  layout: Layout
  /** How many samples, from the newest, have been computed; 0: nothing is known. */
  valid: number
  /** Numbers and truth. */
  values: Float64Array
  /** Text, in the same order. */
  texts: readonly string[]
  /** Constants never change, and need no evaluation. */
  readonly isConstant: boolean
  /** For minimum and maximum over instances: the cell of the argument each value came from. */
  readonly picks?: Int32Array
  /** Are its instances listed, none when there are none? */
  isListed?: boolean
  /** Of a metric that no host knows: it may turn out to be text. */
  isUntyped?: boolean
  /** What it was computed from. */
  readonly args: readonly Node[]
  /** What it stands for in `findBindings`. */
  readonly role: Role
  /** Computes the newest sample. */
  update(): void
}

/** How a node takes part in saying which instances made a rule true. */
export type Role = 'fetch' | 'constant' | 'arithmetic' | 'relation' | 'logic' | 'over'

/** What makes a node. */
export interface NodeParts {
  readonly kind: Node['kind']
  readonly domains: Domains
  readonly samples: number
  readonly args: readonly Node[]
  readonly role: Role
  readonly layout?: Layout
}

/** A node without values yet; the caller gives it its `update`. */
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

/** A node that always has this value. */
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

/** Forgets all samples, and takes these cells. */
export function resetNode(node: Node, layout: Layout): void {
  node.valid = 0
  if (layout.length === node.layout.length) node.values.fill(nothing(node.kind))
  else node.values = blank(node.kind, node.samples * layout.length)
  node.layout = layout
}

/** Makes room for the newest sample, and counts it. */
export function shift(node: Node): void {
  const { samples, values } = node
  if (samples > 1) values.copyWithin(node.layout.length, 0, (samples - 1) * node.layout.length)
  if (node.valid < samples) node.valid++
}
