/** POSIX extended regular expressions, in linear time. regcomp(3), docs/decisions/patterns.md */
import {
  ANY,
  type Assertion,
  type CharacterSet,
  compileNode,
  type Pattern,
  type PatternNode,
  PatternTooBig,
} from './pattern-machine.ts'

export type { Pattern } from './pattern-machine.ts'

/** Thrown for an invalid pattern, with the message of the C library. */
export class PatternError extends Error {}

type Ranges = readonly (readonly [number, number])[]

/** Returns ranges from their ends: `azAZ` is a to z and A to Z. */
const ranges = (ends: string): Ranges =>
  Array.from({ length: ends.length / 2 }, (_, i) => [ends.charCodeAt(2 * i), ends.charCodeAt(2 * i + 1)])

const CLASSES: Readonly<Record<string, Ranges>> = {
  alnum: ranges('AZaz09'),
  alpha: ranges('AZaz'),
  blank: ranges('  \t\t'),
  cntrl: ranges('\x00\x1f\x7f\x7f'),
  digit: ranges('09'),
  graph: ranges('!~'),
  lower: ranges('az'),
  print: ranges(' ~'),
  punct: ranges('!/:@[`{~'),
  space: ranges('\t\r  '),
  upper: ranges('AZ'),
  xdigit: ranges('09AFaf'),
}
const WORD = ranges('AZaz09__')
/** Classes by the letter after a backslash; a capital letter negates the class. */
const LETTERS: Readonly<Record<string, Ranges>> = { w: WORD, s: CLASSES['space']!, d: CLASSES['digit']! }
const PLACES: Readonly<Record<string, Assertion>> = {
  '<': 'word-start',
  '>': 'word-end',
  b: 'edge',
  B: 'inside',
  '`': 'start',
  "'": 'end',
}
const BOUND = /\{(\d*)(,?)(\d*)\}/y
const MAX_REPEATS = 32767
const MAX_DEPTH = 500

/** Compiles a pattern. With `hasEscapes` a backslash makes the next character literal; otherwise a backslash is literal itself. Throws PatternError. */
export function compilePattern(pattern: string, hasEscapes = false): Pattern {
  try {
    return compileNode(patternNode(pattern, hasEscapes))
  } catch (error) {
    if (error instanceof PatternTooBig) throw new PatternError('Regular expression too big', { cause: error })
    throw error
  }
}

/** Parses a pattern for `compileNode`. Throws PatternError. */
export function patternNode(pattern: string, hasEscapes = false): PatternNode {
  return new Parser(pattern, hasEscapes).run()
}

/** An open group: its alternatives so far. */
type Group = PatternNode[][]

class Parser {
  readonly #pattern: string
  readonly #hasEscapes: boolean
  #at = 0
  readonly #groups: Group[] = [[[]]]
  /** Whether there is something that `*` could repeat. */
  #hasAtom = false

  constructor(pattern: string, hasEscapes: boolean) {
    this.#pattern = pattern
    this.#hasEscapes = hasEscapes
  }

  run(): PatternNode {
    while (this.#at < this.#pattern.length) this.#step(this.#pattern[this.#at]!)
    if (this.#groups.length > 1) throw new PatternError('Unmatched ( or \\(')
    return whole(this.#groups[0]!)
  }

  #step(character: string): void {
    switch (character) {
      case '(':
        if (this.#groups.length > MAX_DEPTH) throw new PatternError('Regular expression too big')
        this.#groups.push([[]])
        this.#pass(false)
        return
      case ')':
        // Without an open group it is literal, as in the C library.
        if (this.#groups.length === 1) this.#literal()
        else this.#emit(whole(this.#groups.pop()!), true)
        return
      case '|':
        this.#groups.at(-1)!.push([])
        this.#pass(false)
        return
      case '^':
        this.#emit({ kind: 'place', place: 'start' }, false)
        return
      case '$':
        this.#emit({ kind: 'place', place: 'end' }, false)
        return
      case '*':
        this.#repeat(0, Number.POSITIVE_INFINITY)
        return
      case '+':
        this.#repeat(1, Number.POSITIVE_INFINITY)
        return
      case '?':
        this.#repeat(0, 1)
        return
      case '{':
        this.#bound()
        return
      case '[':
        this.#bracket()
        return
      case '.':
        this.#emit(ANY, true)
        return
      case '\\':
        if (this.#hasEscapes) this.#escape()
        else this.#literal()
        return
      default:
        this.#literal()
    }
  }

  #literal(): void {
    const code = this.#pattern.codePointAt(this.#at)!
    if (code > 0xffff) this.#at++
    this.#emit(characters([[code, code]]), true)
  }

  #escape(): void {
    const letter = this.#pattern[++this.#at]
    if (letter === undefined) throw new PatternError('Trailing backslash')
    if (letter >= '1' && letter <= '9') throw new PatternError('Invalid back reference')
    const place = PLACES[letter]
    const members = LETTERS[letter.toLowerCase()]
    if (place !== undefined) this.#emit({ kind: 'place', place }, false)
    else if (members === undefined) this.#literal()
    else this.#emit(characters(members, letter < 'a'), true)
  }

  #emit(node: PatternNode, isAtom: boolean): void {
    this.#groups.at(-1)!.at(-1)!.push(node)
    this.#pass(isAtom)
  }

  #pass(isAtom: boolean): void {
    this.#hasAtom = isAtom
    this.#at++
  }

  #repeat(least: number, most: number): void {
    if (!this.#hasAtom) throw new PatternError('Invalid preceding regular expression')
    const sequence = this.#groups.at(-1)!.at(-1)!
    sequence.push(repeated(sequence.pop()!, least, most))
    this.#at++
  }

  /** Parses a bound such as `{2,3}`. */
  #bound(): void {
    BOUND.lastIndex = this.#at
    const bound = BOUND.exec(this.#pattern)
    if (bound === null) {
      throw new PatternError(
        this.#pattern.indexOf('}', this.#at) < 0 ? 'Unmatched \\{' : 'Invalid content of \\{\\}',
      )
    }
    const [text, low, comma, high] = bound
    const least = Number(low || 0)
    const most = high === '' ? least : Number(high)
    if ((low === '' && comma === '') || least > most) throw new PatternError('Invalid content of \\{\\}')
    if (most > MAX_REPEATS) throw new PatternError('Regular expression too big')
    this.#repeat(least, comma !== '' && high === '' ? Number.POSITIVE_INFINITY : most)
    this.#at += text.length - 1
  }

  #bracket(): void {
    const pattern = this.#pattern
    let at = this.#at + 1
    const isNegated = pattern[at] === '^'
    if (isNegated) at++
    const found: (readonly [number, number])[] = []
    for (let first = true; first || pattern[at] !== ']'; first = false) {
      if (at >= pattern.length) throw new PatternError('Invalid regular expression')
      const named = /^\[:([a-z]*):\]/.exec(pattern.slice(at, at + 40))
      if (named !== null) {
        const members = Object.hasOwn(CLASSES, named[1]!) ? CLASSES[named[1]!] : undefined
        if (members === undefined) throw new PatternError('Invalid character class name')
        found.push(...members)
        at += named[0].length
        continue
      }
      const low = member(pattern, at)
      at += low.size
      const isRange = pattern[at] === '-' && at + 1 < pattern.length && pattern[at + 1] !== ']'
      const high = isRange ? member(pattern, at + 1) : low
      if (high.code < low.code) throw new PatternError('Invalid range end')
      found.push([low.code, high.code])
      if (isRange) at += 1 + high.size
    }
    this.#at = at
    this.#emit(characters(found, isNegated), true)
  }
}

/** Parses a bracket member, also `[.x.]` and `[=x=]`. Returns its code point and its length in the pattern. */
function member(pattern: string, at: number): { readonly code: number; readonly size: number } {
  const [text, , name = ''] = /^\[([.=])(.*?)\1\]/su.exec(pattern.slice(at, at + 40)) ?? []
  const code = (text === undefined ? pattern : name).codePointAt(text === undefined ? at : 0)
  const size = code !== undefined && code > 0xffff ? 2 : 1
  if (text === undefined) return { code: code!, size }
  // Collating elements of several characters, which locales define, are not supported.
  if (code === undefined || name.length > size) throw new PatternError('Invalid collation character')
  return { code, size: text.length }
}

function characters(members: Ranges, isNegated = false): CharacterSet {
  return { kind: 'set', ranges: members, isNegated }
}

/** Repeats a node. Nested repetitions such as `a+?` are merged, so that no pattern nests deeply that way. */
function repeated(node: PatternNode, least: number, most: number): PatternNode {
  const isSimple = (low: number, high: number): boolean =>
    low <= 1 && (high === 1 || high === Number.POSITIVE_INFINITY)
  if (node.kind !== 'repeat' || !isSimple(least, most)) return { kind: 'repeat', of: node, least, most }
  if (node.most === 0) return node
  if (!isSimple(node.least, node.most)) return { kind: 'repeat', of: node, least, most }
  return { ...node, least: node.least * least, most: Math.max(node.most, most) }
}

function whole(alternatives: Group): PatternNode {
  const of = alternatives.map(
    (each): PatternNode => (each.length === 1 ? each[0]! : { kind: 'sequence', of: each }),
  )
  return of.length === 1 ? of[0]! : { kind: 'choice', of }
}
