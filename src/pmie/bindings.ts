/** Which hosts and instances made a condition true, and the values that did. docs/pmie.md */
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
  /** Its cells that are true count; where it is a number, all of them. */
  readonly truth: Node
  /** Its values show. */
  readonly shown: Node
}

/** Finds the parts of a condition that matter: the outermost that has hosts and instances, and the numbers in it. */
export function planBindings(condition: Node): BindingPlan {
  let truth = condition
  while (!hasInstances(truth) && !isAggregate(truth) && fetches(truth)) truth = primary(truth.args)
  let shown = truth
  while (shown.kind === 'truth' && fetches(shown)) shown = primary(shown.args)
  return { truth, shown }
}

function hasInstances({ domains }: Node): boolean {
  return domains.hosts !== undefined && domains.instances !== undefined
}

/** The operand that an operator is about: the first with several values, else the first that fetches something. */
function primary(nodes: readonly Node[]): Node {
  const about = nodes.filter(fetches)
  return about.find((node) => sizeOf(node) > 1) ?? about[0]!
}

function sizeOf({ domains: { hosts, instances, samples = 1 } }: Node): number {
  return (hosts === undefined ? 1 : (instances ?? hosts)) * samples
}

/** Only along a dimension do values lose it. */
function isAggregate({ role, args, domains }: Node): boolean {
  return role === 'arithmetic' && args.length === 1 && args[0]!.domains !== domains
}

function fetches(node: Node): boolean {
  return node.role === 'fetch' || node.args.some(fetches)
}

/** The bindings of a condition that is true: none where no single host or instance made it so, undefined where they are not known. */
export function findBindings({ truth, shown }: BindingPlan): Binding[] | undefined {
  if (truth.valid === 0) return undefined
  const bindings: Binding[] = []
  for (const [cell, { host, inst }] of truth.layout.entries()) {
    if (truth.kind === 'truth' && truth.values[cell] !== TRUE) continue
    const at = placeIn(shown, truth, cell)
    const instance = inst ?? shown.layout[at]?.inst ?? picked(shown, at)
    bindings.push({
      host: host?.name,
      connection: host?.connection,
      instance,
      value: at < 0 ? '?' : samplesText(shown, at),
    })
  }
  return bindings
}

/** The cell of `shown` for one of `truth`; -1: none. */
function placeIn(shown: Node, truth: Node, cell: number): number {
  if (shown.layout.length === truth.layout.length) return cell
  if (shown.layout.length === 1) return 0
  const { host, inst } = truth.layout[cell]!
  return shown.layout.findIndex((each) => each.host === host && (inst === undefined || each.inst === inst))
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
 * Makes the messages of an action: arguments joined, those with %h, %i, %v or %c repeated for every binding, and left out where
 * there is none. They stay as they are where bindings are not known.
 */
export function messageFormat(
  args: readonly string[],
): (bindings: readonly Binding[] | undefined) => readonly MessagePiece[] {
  const plain = [{ text: args.join(''), isInserted: false }]
  const parts = args.map((arg) => ({ arg, pieces: piecesOf(arg) }))
  if (parts.every(({ pieces }) => pieces === undefined)) return () => plain
  return (bindings) => {
    if (bindings === undefined) return plain
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
