/**
 * Which hosts and instances made a condition true, and the values that did: of the first comparison that is about metrics. Where
 * quantifiers stand before it, what they are about decides. docs/pmie.md
 */
import { type Node, TRUE } from './node.ts'
import { samplesText } from './value-text.ts'

/** One of them. */
export interface Binding {
  readonly host: string | undefined
  /** What %c stands for. */
  readonly connection: string | undefined
  readonly instance: string | undefined
  /** The values, newest first, as they show. */
  readonly value: string
}

/** Where to look for bindings in a condition; it depends on the condition alone. */
export interface BindingPlan {
  /** Its cells that are true count. */
  readonly truth: Node
  /** Its values show. */
  readonly shown: Node
}

/** Finds the parts of a condition that matter. */
export function planBindings(condition: Node): BindingPlan {
  let truth = condition
  let node = condition
  while (node.role !== 'relation' && node.args.length > 0) {
    const next = aboutMetrics(node.args)
    if (node.role === 'over') truth = next
    node = next
  }
  if (node.role !== 'relation') return { truth, shown: node }
  let shown = aboutMetrics(node.args)
  // Of an aggregate that is computed with another metric, the aggregate.
  while (shown.args.length === 2 && shown.args.every(fetches) && isAggregate(shown.args[0]!))
    shown = shown.args[0]!
  return { truth, shown }
}

/** The first of several nodes that fetches something. */
function aboutMetrics(nodes: readonly Node[]): Node {
  return nodes.find(fetches) ?? nodes[0]!
}

/** Only along a dimension do values lose it. */
function isAggregate({ role, args, domains }: Node): boolean {
  return role === 'arithmetic' && args.length === 1 && args[0]!.domains !== domains
}

function fetches(node: Node): boolean {
  return node.role === 'fetch' || node.args.some(fetches)
}

/** What made the condition true; nothing where no single host or instance did. */
export function findBindings({ truth, shown }: BindingPlan): Binding[] {
  const bindings: Binding[] = []
  if (truth.valid === 0) return bindings
  const { length } = truth.layout
  const byHost = shown.layout.length !== length && shown.layout.length !== 1
  for (let cell = 0; cell < length; cell++) {
    if (!isTrue(truth, cell)) continue
    const { host, inst } = truth.layout[cell]!
    const at = byHost
      ? shown.layout.findIndex((each) => each.host === host)
      : shown.layout.length === 1
        ? 0
        : cell
    const instance = inst ?? shown.layout[at]?.inst ?? picked(shown, at)
    bindings.push({
      host: host?.name,
      connection: host?.connection,
      instance,
      value: at < 0 || at >= shown.layout.length ? '?' : samplesText(shown, at),
    })
  }
  return bindings
}

function isTrue({ values, layout, samples }: Node, cell: number): boolean {
  for (let sample = 0; sample < samples; sample++)
    if (values[sample * layout.length + cell] === TRUE) return true
  return false
}

/** The instance that a minimum or maximum over instances is the value of. */
export function picked(node: Node, cell: number): string | undefined {
  const from = node.picks?.[cell]
  return from === undefined ? undefined : node.args[0]!.layout[from]?.inst
}

/** A piece of a message: text of the rule, or what is inserted for %h, %i, %v or %c. */
export interface MessagePiece {
  readonly text: string
  readonly isInserted: boolean
}

/** A piece of an argument: text, or the letter of what is inserted. */
type Piece = { readonly text: string } | { readonly letter: string }

/**
 * Makes the messages of an action: arguments joined, those with %h, %i, %v or %c repeated for every binding. Without any
 * binding they are left as they are.
 */
export function messageFormat(
  args: readonly string[],
): (bindings: readonly Binding[]) => readonly MessagePiece[] {
  const plain = [{ text: args.join(''), isInserted: false }]
  const parts = args.map((arg) => ({ arg, pieces: piecesOf(arg) }))
  if (parts.every(({ pieces }) => pieces === undefined)) return () => plain
  return (bindings) => {
    if (bindings.length === 0) return plain
    const message: MessagePiece[] = []
    for (const { arg, pieces } of parts) {
      if (pieces === undefined) message.push({ text: arg, isInserted: false })
      else for (const binding of bindings) for (const piece of pieces) message.push(bound(piece, binding))
    }
    return message
  }
}

/** Undefined for a text without placeholders. */
function piecesOf(arg: string): readonly Piece[] | undefined {
  const pieces = arg.split(/%([hivc])/).map((text, i): Piece => (i % 2 === 0 ? { text } : { letter: text }))
  return pieces.length === 1 ? undefined : pieces
}

function bound(piece: Piece, { host, connection, instance, value }: Binding): MessagePiece {
  if ('text' in piece) return { text: piece.text, isInserted: false }
  const { letter } = piece
  const found = letter === 'h' ? host : letter === 'i' ? instance : letter === 'c' ? connection : value
  return { text: found ?? `<%${letter} undefined>`, isInserted: true }
}
