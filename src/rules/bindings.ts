/** Finds the hosts and instances that made a condition true, with their values. docs/reference/pmie.md */
import { type Node, TRUE } from './node.ts'
import { samplesText } from './value-text.ts'

/** A host or instance with its values. */
export interface Binding {
  readonly host: string | undefined
  /** The text for %c. */
  readonly connection: string | undefined
  readonly instance: string | undefined
  /** The formatted values, newest first. */
  readonly value: string
}

/** Where a condition's bindings are found; depends only on the condition. */
export interface BindingPlan {
  /** Its true cells are bindings; all cells if it is numeric. */
  readonly truth: Node
  /** Supplies the values. */
  readonly shown: Node
}

/** Finds the parts of a condition that supply bindings: the outermost node with hosts and instances, and the numbers in it. */
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

/** Returns an operator's main operand: the first with several values, else the first that fetches. */
function primary(nodes: readonly Node[]): Node {
  const about = nodes.filter(fetches)
  return about.find((node) => sizeOf(node) > 1) ?? about[0]!
}

function sizeOf({ domains: { hosts, instances, samples = 1 } }: Node): number {
  return (hosts === undefined ? 1 : (instances ?? hosts)) * samples
}

/** Returns whether a node aggregates: only aggregates remove a dimension. */
function isAggregate({ role, args, domains }: Node): boolean {
  return role === 'arithmetic' && args.length === 1 && args[0]!.domains !== domains
}

function fetches(node: Node): boolean {
  return node.role === 'fetch' || node.args.some(fetches)
}

/** Returns the bindings of a true condition; empty if no single host or instance made it true, undefined if unknown. */
export function findBindings({ truth, shown }: BindingPlan): Binding[] | undefined {
  if (truth.valid === 0) return undefined
  const bindings: Binding[] = []
  for (const [cell, { host, inst }] of truth.layout.entries()) {
    if (truth.kind === 'truth' && truth.values[cell] !== TRUE) continue
    const at = placeIn(shown, truth, cell)
    const instance = inst ?? shown.layout[at]?.inst ?? aggregatedInstance(shown, at)
    bindings.push({
      host: host?.name,
      connection: host?.connection,
      instance,
      value: at < 0 ? '?' : samplesText(shown, at),
    })
  }
  return bindings
}

/** Returns the cell of `shown` for a cell of `truth`; -1 if there is none. */
function placeIn(shown: Node, truth: Node, cell: number): number {
  if (shown.layout.length === truth.layout.length) return cell
  if (shown.layout.length === 1) return 0
  const { host, inst } = truth.layout[cell]!
  return shown.layout.findIndex((each) => each.host === host && (inst === undefined || each.inst === inst))
}

/** Returns the instance that supplied a minimum or maximum over instances. */
export function aggregatedInstance(node: Node, cell: number): string | undefined {
  const from = node.picks?.[cell]
  return from === undefined ? undefined : node.args[0]!.layout[from]?.inst
}

/** A piece of a message: the rule's text, or the value of %h, %i, %v or %c. */
export interface MessagePart {
  readonly text: string
  readonly isInserted: boolean
}

/** A piece of an argument: text, or a placeholder's letter. */
type Piece = { readonly text: string } | { readonly letter: string }

/** Yields the pieces of a message for these bindings. */
export type MessagePieces = (bindings: readonly Binding[] | undefined) => Iterable<MessagePart>

/**
 * Compiles an action's arguments into a function that builds its message. Arguments with %h, %i, %v or %c are repeated for every
 * binding and omitted without bindings; if bindings are unknown they stay unchanged.
 */
export function messageFormat(args: readonly string[]): MessagePieces {
  const plain = [{ text: args.join(''), isInserted: false }]
  const parts = args.map((arg) => ({ arg, pieces: piecesOf(arg) }))
  if (parts.every(({ pieces }) => pieces === undefined)) return () => plain
  return function* (bindings) {
    if (bindings === undefined) {
      yield* plain
      return
    }
    for (const { arg, pieces } of parts) {
      if (pieces === undefined) yield { text: arg, isInserted: false }
      else for (const binding of bindings) for (const piece of pieces) yield bound(piece, binding)
    }
  }
}

/** Returns the text of a message; of a longer one at least its first `most` characters. */
export function messageText(pieces: Iterable<MessagePart>, most: number = Number.POSITIVE_INFINITY): string {
  let message = ''
  for (const { text } of pieces) {
    message += text
    if (message.length >= most) break
  }
  return message
}

/** Splits an argument at placeholders; undefined if it has none. */
function piecesOf(arg: string): readonly Piece[] | undefined {
  const pieces = arg.split(/%([hivc])/).map((text, i): Piece => (i % 2 === 0 ? { text } : { letter: text }))
  return pieces.length === 1 ? undefined : pieces
}

function bound(piece: Piece, { host, connection, instance, value }: Binding): MessagePart {
  if ('text' in piece) return { text: piece.text, isInserted: false }
  const { letter } = piece
  const found = letter === 'h' ? host : letter === 'i' ? instance : letter === 'c' ? connection : value
  return { text: found ?? `<%${letter} undefined>`, isInserted: true }
}
