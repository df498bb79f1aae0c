/**
 * Patterns that take time in proportion to the text, whatever they are: all the ways a pattern could go on are followed at once, one
 * character at a time. JavaScript's own expressions try one way after the other, which may take for ever.
 * docs/decisions/patterns.md
 */

/** One character of these ranges of code points, both ends included; or of none of them. */
export interface CharacterSet {
  readonly kind: 'set'
  readonly ranges: readonly (readonly [low: number, high: number])[]
  readonly isNegated: boolean
}

/** Where a pattern may only go on at the start or end of the text, or by words. */
export type Place = 'start' | 'end' | 'edge' | 'inside' | 'word-start' | 'word-end'

/** What a pattern is made of. */
export type PatternNode =
  | CharacterSet
  | { readonly kind: 'place'; readonly place: Place }
  | { readonly kind: 'sequence'; readonly of: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly of: readonly PatternNode[] }
  /** `most` may be Infinity. */
  | {
      readonly kind: 'repeat'
      readonly of: PatternNode
      readonly least: number
      readonly most: number
    }

/** Any character. */
export const ANY: CharacterSet = { kind: 'set', ranges: [], isNegated: true }

/** A compiled pattern. */
export interface Pattern {
  /** Is it found in the text? */
  test(text: string): boolean
}

/** The pattern has too many steps, a bound counting as often as it says. */
export class PatternTooBig extends Error {}

/** Steps of a pattern: each may be looked at once a character. */
const MOST_STEPS = 10_000

type Step =
  | { readonly op: 'set'; readonly has: (code: number) => boolean }
  | { readonly op: 'place'; readonly place: Place }
  /** Goes on at both places; the same one twice is a jump. */
  | { readonly op: 'fork'; a: number; b: number }
  | { readonly op: 'match' }

/** Compiles a pattern. Throws PatternTooBig. */
export function compileNode(node: PatternNode): Pattern {
  const steps: Step[] = []
  emit(node, steps)
  add(steps, { op: 'match' })
  return new Machine(steps)
}

function add<S extends Step>(steps: Step[], step: S): S {
  if (steps.length >= MOST_STEPS) throw new PatternTooBig()
  steps.push(step)
  return step
}

const fork = (steps: Step[]): Step & { op: 'fork' } => add(steps, { op: 'fork', a: 0, b: 0 })

function emit(node: PatternNode, steps: Step[]): void {
  switch (node.kind) {
    case 'set':
      add(steps, { op: 'set', has: memberTest(node) })
      return
    case 'place':
      add(steps, { op: 'place', place: node.place })
      return
    case 'sequence':
      for (const each of node.of) emit(each, steps)
      return
    case 'choice':
      emitChoice(node.of, steps)
      return
    case 'repeat':
      for (let i = 0; i < node.least; i++) {
        const before = steps.length
        emit(node.of, steps)
        // Nothing, however often.
        if (steps.length === before) return
      }
      if (node.most === Number.POSITIVE_INFINITY) emitLoop(node.of, steps)
      else emitOptional(node.of, node.most - node.least, steps)
  }
}

function emitChoice(of: readonly PatternNode[], steps: Step[]): void {
  const ends: (Step & { op: 'fork' })[] = []
  for (const each of of.slice(0, -1)) {
    const choice = fork(steps)
    choice.a = steps.length
    emit(each, steps)
    ends.push(fork(steps))
    choice.b = steps.length
  }
  const last = of.at(-1)
  // A choice of nothing is found nowhere.
  if (last === undefined) add(steps, { op: 'set', has: () => false })
  else emit(last, steps)
  for (const end of ends) end.a = end.b = steps.length
}

function emitLoop(of: PatternNode, steps: Step[]): void {
  const loop = fork(steps)
  const start = steps.length
  loop.a = start
  emit(of, steps)
  const back = fork(steps)
  back.a = start
  back.b = loop.b = steps.length
}

function emitOptional(of: PatternNode, count: number, steps: Step[]): void {
  const exits: (Step & { op: 'fork' })[] = []
  for (let i = 0; i < count; i++) {
    const exit = fork(steps)
    exit.a = steps.length
    exits.push(exit)
    emit(of, steps)
  }
  for (const exit of exits) exit.b = steps.length
}

function memberTest({ ranges, isNegated }: CharacterSet): (code: number) => boolean {
  const [only] = ranges
  if (only === undefined) return () => isNegated
  const [low, high] = only
  if (ranges.length === 1 && low === high && !isNegated) return (code) => code === low
  return (code) => ranges.some(([from, to]) => code >= from && code <= to) !== isNegated
}

class Machine implements Pattern {
  readonly #steps: readonly Step[]
  /** The steps to look at for the present character and for the next one, and at which character a step was added last. */
  #now: Int32Array
  #next: Int32Array
  readonly #seen: Int32Array
  readonly #stack: Int32Array

  constructor(steps: readonly Step[]) {
    this.#steps = steps
    this.#now = new Int32Array(steps.length)
    this.#next = new Int32Array(steps.length)
    this.#seen = new Int32Array(steps.length)
    this.#stack = new Int32Array(steps.length + 1)
  }

  test(text: string): boolean {
    this.#seen.fill(-1)
    let count = 0
    let before = -1
    for (let at = 0; ; ) {
      const code = text.codePointAt(at) ?? -1
      // A pattern may begin anywhere.
      count = this.#enter(0, this.#now, count, at, before, code)
      if (count < 0) return true
      if (code < 0) return false
      const following = at + (code > 0xffff ? 2 : 1)
      const after = text.codePointAt(following) ?? -1
      let reached = 0
      for (let i = 0; i < count; i++) {
        const place = this.#now[i]!
        const step = this.#steps[place]!
        if (step.op !== 'set' || !step.has(code)) continue
        reached = this.#enter(place + 1, this.#next, reached, following, code, after)
        if (reached < 0) return true
      }
      ;[this.#now, this.#next] = [this.#next, this.#now]
      count = reached
      before = code
      at = following
    }
  }

  /** Adds a step, and those it leads to without a character, to a list of `count`; returns the new count, or -1 for a match. */
  #enter(first: number, list: Int32Array, count: number, at: number, before: number, after: number): number {
    const stack = this.#stack
    const seen = this.#seen
    let depth = 0
    let added = count
    const push = (place: number): void => {
      if (seen[place] === at) return
      seen[place] = at
      stack[depth++] = place
    }
    push(first)
    while (depth > 0) {
      const place = stack[--depth]!
      const step = this.#steps[place]!
      if (step.op === 'match') return -1
      if (step.op === 'set') list[added++] = place
      else if (step.op === 'fork') {
        push(step.b)
        push(step.a)
      } else if (isAt(step.place, before, after)) push(place + 1)
    }
    return added
  }
}

/** Is between these two characters, -1 for none, such a place? */
function isAt(place: Place, before: number, after: number): boolean {
  if (place === 'start') return before < 0
  if (place === 'end') return after < 0
  const [left, right] = [isWord(before), isWord(after)]
  if (place === 'edge') return left !== right
  if (place === 'inside') return left === right
  return place === 'word-start' ? !left && right : left && !right
}

function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f
  )
}
