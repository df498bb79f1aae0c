/** Arithmetic, relational and logical operators. docs/reference/pmie.md */
import type { Pattern } from '../base/pattern.ts'
import {
  type Domains,
  FALSE,
  type Layout,
  makeNode,
  NO_CELLS,
  type Node,
  ONE_CELL,
  type Role,
  resetNode,
  shift,
  TRUE,
  UNKNOWN,
} from './node.ts'
import { type Pairing, pair } from './pairing.ts'
import type { ArithmeticOp, RelationOp } from './syntax.ts'

/** Computes `n` values from two columns with strides. */
type Kernel = (out: Float64Array, a: Float64Array, sa: number, b: Float64Array, sb: number, n: number) => void

const ARITHMETIC: Readonly<Record<ArithmeticOp, Kernel>> = {
  '+': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i * sa]! + b[i * sb]!
  },
  '-': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i * sa]! - b[i * sb]!
  },
  '*': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i * sa]! * b[i * sb]!
  },
  '/': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) out[i] = a[i * sa]! / b[i * sb]!
  },
}

/** If an operand is unknown, neither a relation nor its opposite holds. */
const RELATION: Readonly<Record<RelationOp, Kernel>> = {
  '==': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) {
      const x = a[i * sa]!
      const y = b[i * sb]!
      out[i] = x === y ? TRUE : x < y || x > y ? FALSE : UNKNOWN
    }
  },
  '!=': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) {
      const x = a[i * sa]!
      const y = b[i * sb]!
      out[i] = x === y ? FALSE : x < y || x > y ? TRUE : UNKNOWN
    }
  },
  '<': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) {
      const x = a[i * sa]!
      const y = b[i * sb]!
      out[i] = x < y ? TRUE : x >= y ? FALSE : UNKNOWN
    }
  },
  '<=': (out, a, sa, b, sb, n) => {
    for (let i = 0; i < n; i++) {
      const x = a[i * sa]!
      const y = b[i * sb]!
      out[i] = x <= y ? TRUE : x > y ? FALSE : UNKNOWN
    }
  },
  '>': (out, a, sa, b, sb, n) => RELATION['<'](out, b, sb, a, sa, n),
  '>=': (out, a, sa, b, sb, n) => RELATION['<='](out, b, sb, a, sa, n),
}

const AND: Kernel = (out, a, sa, b, sb, n) => {
  for (let i = 0; i < n; i++) {
    const x = a[i * sa]!
    const y = b[i * sb]!
    out[i] = x === FALSE || y === FALSE ? FALSE : x === TRUE && y === TRUE ? TRUE : UNKNOWN
  }
}

const OR: Kernel = (out, a, sa, b, sb, n) => {
  for (let i = 0; i < n; i++) {
    const x = a[i * sa]!
    const y = b[i * sb]!
    out[i] = x === TRUE || y === TRUE ? TRUE : x === FALSE && y === FALSE ? FALSE : UNKNOWN
  }
}

const ONE_UNKNOWN = Float64Array.of(UNKNOWN)

/** Common arguments of binary nodes. */
interface BinaryParts {
  readonly kind: 'number' | 'truth'
  readonly role: Role
  readonly domains: Domains
  readonly kernel: Kernel
  /** Whether the result may be known with only one known operand. */
  readonly isLenient: boolean
}

function binaryNode(left: Node, right: Node, { kind, role, domains, kernel, isLenient }: BinaryParts): Node {
  let pairing: Pairing = pair(left.layout, right.layout)
  let leftLayout: Layout = left.layout
  let rightLayout: Layout = right.layout
  const samples = Math.max(left.samples, right.samples)
  const parts = { kind, domains, samples, role, args: [left, right], layout: pairing.layout }
  return makeNode(parts, (node) => {
    left.update()
    right.update()
    if (left.layout !== leftLayout || right.layout !== rightLayout) {
      leftLayout = left.layout
      rightLayout = right.layout
      const isAny = isLenient && leftLayout.length + rightLayout.length > 0
      pairing = isAny ? pair(orOne(left), orOne(right)) : pairAll(leftLayout, rightLayout)
      resetNode(node, pairing.layout)
    }
    const isLeft = left.valid > 0 && leftLayout.length > 0
    const isRight = right.valid > 0 && rightLayout.length > 0
    if (!(isLeft && isRight) && !(isLenient && (isLeft || isRight))) {
      node.valid = 0
      return
    }
    shift(node)
    const { layout, left: leftIndex, right: rightIndex, leftStride, rightStride } = pairing
    const a = isLeft ? gathered(left.values, leftIndex) : ONE_UNKNOWN
    const b = isRight ? gathered(right.values, rightIndex) : ONE_UNKNOWN
    kernel(node.values, a, isLeft ? leftStride : 0, b, isRight ? rightStride : 0, layout.length)
  })
}

/** Pairs operands; if either has no cells, neither has the result. */
function pairAll(left: Layout, right: Layout): Pairing {
  return left.length === 0 || right.length === 0
    ? { layout: NO_CELLS, leftStride: 1, rightStride: 1, left: undefined, right: undefined }
    : pair(left, right)
}

function orOne(node: Node): Layout {
  return node.layout.length === 0 ? ONE_CELL : node.layout
}

function gathered(values: Float64Array, index: Int32Array | undefined): Float64Array {
  if (index === undefined) return values
  const out = new Float64Array(index.length)
  for (let i = 0; i < index.length; i++) out[i] = values[index[i]!]!
  return out
}

/** Creates a node for `+ - * /`. */
export function arithmeticNode(op: ArithmeticOp, left: Node, right: Node, domains: Domains): Node {
  const kernel = ARITHMETIC[op]
  return binaryNode(left, right, { kind: 'number', role: 'arithmetic', domains, kernel, isLenient: false })
}

/** Creates a node that compares numbers. */
export function relationNode(op: RelationOp, left: Node, right: Node, domains: Domains): Node {
  // A separate kernel per operator lets V8 inline the comparison.
  const kernel = RELATION[op]
  return binaryNode(left, right, { kind: 'truth', role: 'relation', domains, kernel, isLenient: false })
}

/** Creates a node for `&&` or `||`. */
export function logicNode(op: 'and' | 'or', left: Node, right: Node, domains: Domains): Node {
  const kernel = op === 'and' ? AND : OR
  return binaryNode(left, right, { kind: 'truth', role: 'logic', domains, kernel, isLenient: true })
}

/** Creates a node that compares strings for equality. */
export function textRelationNode(isEqual: boolean, left: Node, right: Node, domains: Domains): Node {
  let pairing = pairAll(left.layout, right.layout)
  let layouts: readonly Layout[] = [left.layout, right.layout]
  const samples = Math.max(left.samples, right.samples)
  const args = [left, right]
  const parts = { kind: 'truth', domains, samples, role: 'relation', args, layout: pairing.layout } as const
  return makeNode(parts, (node) => {
    left.update()
    right.update()
    if (layouts[0] !== left.layout || layouts[1] !== right.layout) {
      layouts = [left.layout, right.layout]
      pairing = pairAll(left.layout, right.layout)
      resetNode(node, pairing.layout)
    }
    if (left.valid === 0 || right.valid === 0) {
      node.valid = 0
      return
    }
    shift(node)
    for (let i = 0; i < pairing.layout.length; i++) {
      const x = left.texts[pairing.left?.[i] ?? i * pairing.leftStride]
      const y = right.texts[pairing.right?.[i] ?? i * pairing.rightStride]
      node.values[i] = (x === y) === isEqual ? TRUE : FALSE
    }
  })
}

/** Maps one value of an operand. */
type Change = (value: number, cell: number, layout: Layout) => number

/** Creates a node with one operand. `isLenient`: if the operand is unknown, the result is valid but unknown. */
function unaryNode(arg: Node, kind: 'number' | 'truth', role: Role, change: Change, isLenient = false): Node {
  const { domains, samples } = arg
  return makeNode({ kind, domains, samples, role, args: [arg], layout: arg.layout }, (node) => {
    arg.update()
    if (arg.layout !== node.layout) resetNode(node, arg.layout)
    const { layout } = arg
    if (arg.valid === 0 && !(isLenient && layout.length > 0)) {
      node.valid = 0
      return
    }
    shift(node)
    for (let i = 0; i < layout.length; i++)
      node.values[i] = arg.valid === 0 ? UNKNOWN : change(arg.values[i]!, i, layout)
  })
}

/** Creates a node for unary minus. */
export function negateNode(arg: Node): Node {
  return unaryNode(arg, 'number', 'arithmetic', (value) => -value)
}

/** Creates a node for `!`. */
export function notNode(arg: Node): Node {
  return unaryNode(arg, 'truth', 'logic', (value) => (value === UNKNOWN ? UNKNOWN : 1 - value))
}

/**
 * Creates a node that is true if the argument is true and the instance's name matches, or with `isNegated` does not match. False
 * without an instance, for any pattern.
 */
export function matchNode(arg: Node, pattern: Pattern, isNegated: boolean): Node {
  let layout: Layout | undefined
  let matches: readonly boolean[] = []
  const change: Change = (value, i, now) => {
    if (now !== layout) {
      layout = now
      matches = now.map(({ inst }) => inst !== undefined && pattern.test(inst) !== isNegated)
    }
    return matches[i] === true ? value : FALSE
  }
  return unaryNode(arg, 'truth', 'logic', change, true)
}

/** Computes a value from the previous and current value and the seconds between them. */
type Comparison = (was: number, is: number, elapsedSec: number) => number

/** Creates a node that compares with the previous evaluation; unknown at the first one. `clock` gives the evaluation time. */
function sincePrevious(
  arg: Node,
  kind: 'number' | 'truth',
  role: Role,
  clock: { readonly sec: number },
  compare: Comparison,
): Node {
  let previous: Float64Array | undefined
  let sec = 0
  const { domains, samples } = arg
  return makeNode({ kind, domains, samples, role, args: [arg], layout: arg.layout }, (node) => {
    arg.update()
    if (arg.layout !== node.layout) {
      resetNode(node, arg.layout)
      previous = undefined
    }
    if (arg.valid === 0) {
      node.valid = 0
      previous = undefined
      return
    }
    const n = arg.layout.length
    if (previous !== undefined) {
      shift(node)
      const elapsed = clock.sec - sec
      for (let i = 0; i < n; i++) node.values[i] = compare(previous[i]!, arg.values[i]!, elapsed)
    }
    previous = arg.values.slice(0, n)
    sec = clock.sec
  })
}

const NO_CLOCK = { sec: 0 }

/** Creates a node that is true if the argument became true, or false, since the previous evaluation. */
export function edgeNode(arg: Node, edge: 'rising' | 'falling'): Node {
  const before = edge === 'rising' ? FALSE : TRUE
  return sincePrevious(arg, 'truth', 'logic', NO_CLOCK, (was, is) => {
    if (was === UNKNOWN || is === UNKNOWN) return UNKNOWN
    return was === before && is === 1 - before ? TRUE : FALSE
  })
}

/** Creates a node with the change per second of any number. `clock` gives the evaluation time. */
export function rateNode(arg: Node, clock: { readonly sec: number }): Node {
  return sincePrevious(arg, 'number', 'arithmetic', clock, (was, is, elapsedSec) => (is - was) / elapsedSec)
}
