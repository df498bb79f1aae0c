/**
 * Pattern matching in time proportional to the text, for any pattern: all alternatives are followed in parallel, one character at a
 * time. JavaScript's regular expressions backtrack, which may take exponential time.
 * docs/decisions/patterns.md
 */

/** One character within these ranges of code points, ends included, or outside all of them if negated. */
export interface CharacterSet {
  readonly kind: 'set'
  readonly ranges: readonly (readonly [low: number, high: number])[]
  readonly isNegated: boolean
}

/** Zero-width assertions: start or end of the text, or a position relative to words. */
export type Assertion = 'start' | 'end' | 'edge' | 'inside' | 'word-start' | 'word-end'

/** Syntax tree of a pattern. */
export type PatternNode =
  | CharacterSet
  | { readonly kind: 'place'; readonly place: Assertion }
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
  /** Bound on the work for each character of a text. */
  readonly steps: number
  /** Returns whether the pattern matches anywhere in the text. */
  test(text: string): boolean
}

/** Thrown for a pattern with too many steps, counting bounded repetitions out, or with too deeply nested groups. */
export class PatternTooBig extends Error {}

/** Most steps of a pattern; each may be visited once per character. */
const MOST_STEPS = 10_000
/** Deepest nesting. Each level is a call; the stack has room for a few times as many. */
const MOST_DEPTH = 2500

type MemberTest = (code: number) => boolean
type Step =
  | { readonly op: 'set'; readonly has: MemberTest }
  | { readonly op: 'place'; readonly place: Assertion }
  /** Continues at both places; a jump if they are equal. */
  | { readonly op: 'fork'; a: number; b: number }
  | { readonly op: 'match' }

/** Compiles a pattern. Throws PatternTooBig. */
export function compileNode(node: PatternNode): Pattern {
  return new Machine(new Emitter().run(node))
}

type Fork = Step & { op: 'fork' }

class Emitter {
  readonly #steps: Step[] = []
  /** Repetitions of a set share one test. */
  readonly #tests = new Map<CharacterSet, MemberTest>()
  #depth = 0

  run(node: PatternNode): readonly Step[] {
    this.#emit(node)
    this.#add({ op: 'match' })
    return this.#steps
  }

  #add<S extends Step>(step: S): S {
    if (this.#steps.length >= MOST_STEPS) throw new PatternTooBig()
    this.#steps.push(step)
    return step
  }

  #fork(): Fork {
    return this.#add({ op: 'fork', a: 0, b: 0 })
  }

  #emit(node: PatternNode): void {
    if (++this.#depth > MOST_DEPTH) throw new PatternTooBig()
    if (node.kind === 'set') this.#add({ op: 'set', has: this.#testOf(node) })
    else if (node.kind === 'place') this.#add({ op: 'place', place: node.place })
    else if (node.kind === 'sequence') for (const each of node.of) this.#emit(each)
    else if (node.kind === 'choice') this.#choice(node.of)
    else this.#repeat(node)
    this.#depth--
  }

  #testOf(set: CharacterSet): MemberTest {
    const known = this.#tests.get(set)
    if (known !== undefined) return known
    const made = memberTest(set)
    this.#tests.set(set, made)
    return made
  }

  #repeat({ of, least, most }: PatternNode & { kind: 'repeat' }): void {
    for (let i = 0; i < least; i++) {
      const before = this.#steps.length
      this.#emit(of)
      // It emits no steps, however often it is repeated.
      if (this.#steps.length === before) return
    }
    if (most === Number.POSITIVE_INFINITY) this.#loop(of)
    else this.#optional(of, most - least)
  }

  #choice(of: readonly PatternNode[]): void {
    const ends: Fork[] = []
    for (const each of of.slice(0, -1)) {
      const choice = this.#fork()
      choice.a = this.#steps.length
      this.#emit(each)
      ends.push(this.#fork())
      choice.b = this.#steps.length
    }
    const last = of.at(-1)
    // A choice among nothing never matches.
    if (last === undefined) this.#add({ op: 'set', has: () => false })
    else this.#emit(last)
    for (const end of ends) end.a = end.b = this.#steps.length
  }

  #loop(of: PatternNode): void {
    const loop = this.#fork()
    const start = this.#steps.length
    loop.a = start
    this.#emit(of)
    const back = this.#fork()
    back.a = start
    back.b = loop.b = this.#steps.length
  }

  #optional(of: PatternNode, count: number): void {
    const exits: Fork[] = []
    for (let i = 0; i < count; i++) {
      const exit = this.#fork()
      exit.a = this.#steps.length
      exits.push(exit)
      this.#emit(of)
    }
    for (const exit of exits) exit.b = this.#steps.length
  }
}

/** Tests membership by binary search: a set may be as long as a pattern. */
function memberTest({ ranges, isNegated }: CharacterSet): MemberTest {
  const [only] = ranges
  if (only === undefined) return () => isNegated
  const [low, high] = only
  if (ranges.length === 1 && low === high && !isNegated) return (code) => code === low
  const bounds = boundsOf(ranges)
  return (code) => {
    let from = 0
    let to = bounds.length
    while (from < to) {
      const middle = (from + to) >> 1
      if (bounds[middle]! <= code) from = middle + 1
      else to = middle
    }
    return (from % 2 === 1) !== isNegated
  }
}

/** Returns the boundaries at which membership changes. */
function boundsOf(ranges: CharacterSet['ranges']): number[] {
  const bounds: number[] = []
  for (const [low, high] of [...ranges].sort(([a], [b]) => a - b)) {
    if (high < low) continue
    const end = bounds.at(-1) ?? -1
    if (low > end) bounds.push(low, high + 1)
    else bounds[bounds.length - 1] = Math.max(end, high + 1)
  }
  return bounds
}

class Machine implements Pattern {
  readonly #steps: readonly Step[]
  /** Steps to visit for the present and for the next character, and the character at which each step was last added. */
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

  get steps(): number {
    return this.#steps.length
  }

  test(text: string): boolean {
    this.#seen.fill(-1)
    let count = 0
    let before = -1
    for (let at = 0; ; ) {
      const code = text.codePointAt(at) ?? -1
      // A match may start anywhere.
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

  /** Adds a step, and all it leads to without consuming a character, to a list of `count`. Returns the new count, or -1 for a match. */
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

/** Returns whether an assertion holds between two characters, -1 for none. */
function isAt(place: Assertion, before: number, after: number): boolean {
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
