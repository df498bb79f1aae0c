/** Random expressions of derived metrics over the data set, and reasons for different results of the reference. */
import type { Random } from './random.ts'

/** An expression, and the parts of the grammar it uses. */
export interface DerivedCase {
  readonly text: string
  readonly covers: ReadonlySet<string>
}

const POOLS: readonly (readonly string[])[] = [
  [
    'g.s32.i',
    'g.s32.d',
    'g.u32.i',
    'g.u32.d',
    'g.s64.i',
    'g.s64.d',
    'g.u64.i',
    'g.u64.d',
    'g.flt.i',
    'g.dbl.d',
  ],
  ['g.s32.c', 'g.u32.c', 'g.s64.c', 'g.u64.c', 'g.flt.c', 'g.dbl.c'],
  ['m.a.val', 'm.a.s32', 'm.a.flt', 'm.one', 'm.c.val'],
  ['u.byte', 'u.kbyte', 'u.gbyte', 'm.a.kb'],
  ['u.msec', 'u.sec', 'c.msec', 'c.sec', 'm.a.msec'],
  ['u.count', 'u.kcount', 'c.count', 'm.a.cnt', 's.never'],
]
const ODD = ['no.such', 'g.str', 'm.a.str', 'm.b.val']
const OPERATORS = ['+', '-', '*', '/', '<', '<=', '==', '>=', '>', '!=', '&&', '||']
const UNITS = ['Kbyte', 'byte', 'sec', 'millisec', 'count', 'count x 10^3', 'Mbyte/sec']
const PATTERNS = ['o', '^t', 'one|two', '[a-o]ne', 'x']

/** Generates expressions, mostly of metrics that can be combined. */
export class DerivedCases {
  readonly #random: Random
  #covers = new Set<string>()
  #pool: readonly string[] = POOLS[0]!

  constructor(random: Random) {
    this.#random = random
  }

  make(): DerivedCase {
    const random = this.#random
    this.#covers = new Set()
    this.#pool = random.pick(POOLS)
    let text = this.#expression(random.int(0, 3))
    if (random.chance(0.1)) text = this.#spoiled(text)
    return { text, covers: this.#covers }
  }

  #cover(what: string): void {
    this.#covers.add(what)
  }

  #metric(): string {
    return this.#random.chance(0.03) ? this.#random.pick(ODD) : this.#random.pick(this.#pool)
  }

  #expression(depth: number): string {
    const random = this.#random
    if (depth === 0) return this.#leaf()
    const inner = (): string => this.#expression(depth - 1)
    switch (random.int(0, 11)) {
      case 0:
      case 1:
      case 2:
      case 3: {
        const operator = random.pick(OPERATORS)
        this.#cover(operator)
        return `${inner()} ${operator} ${inner()}`
      }
      case 4:
        this.#cover('negation')
        return `-${inner()}`
      case 5:
        this.#cover('!')
        return `!${inner()}`
      case 6:
        this.#cover('( )')
        return `(${inner()})`
      case 7:
        this.#cover('? :')
        return `${inner()} ? ${inner()} : ${inner()}`
      case 8:
        return this.#functionOfExpression(inner())
      default:
        return this.#leaf()
    }
  }

  #functionOfExpression(inner: string): string {
    const random = this.#random
    const name = random.pick([
      'scalar',
      'rescale',
      'matchinst',
      'matchinst',
      'delta',
      'rate',
      'instant',
      'topk',
      'bottomk',
      'quantile',
      'novalue',
    ])
    this.#cover(`${name}(expression)`)
    switch (name) {
      case 'rescale':
        return `rescale(${inner}, "${random.pick(UNITS)}")`
      case 'matchinst':
        return `matchinst(${random.chance(0.3) ? '!' : ''}/${random.pick(PATTERNS)}/, ${inner.replaceAll('/', '*')})`
      case 'topk':
      case 'bottomk':
        return `${name}(2, ${inner})`
      case 'quantile':
        return `quantile(0.5, ${inner})`
      case 'novalue':
        return `(${inner} > 1 ? ${inner} : novalue())`
      default:
        return `${name}(${inner})`
    }
  }

  #leaf(): string {
    const random = this.#random
    const kind = random.int(0, 14)
    if (kind < 5) {
      this.#cover('metric')
      return this.#metric()
    }
    switch (kind) {
      case 5:
        this.#cover('integer')
        return random.pick(['0', '1', '2', '10', '4294967295'])
      case 6:
        this.#cover('real')
        return random.pick(['0.5', '2.', '.25', '0.0'])
      case 7: {
        this.#cover('mkconst')
        const type = random.pick(['32', 'u32', '64', 'u64', 'float', 'double'])
        return `mkconst(${random.int(0, 9)}, type=${type}, semantics=${random.pick(['instant', 'counter', 'discrete'])})`
      }
      case 8:
        this.#cover('defined')
        return `defined(${this.#metric()})`
      case 9:
        this.#cover('anon')
        return `anon(PM_TYPE_${random.pick(['32', 'U64', 'DOUBLE'])})`
      case 10:
        this.#cover('[ ]')
        return `${this.#metric()}[${random.pick(['one', 'two', 'three', 'three bis', 'none'])}]`
      case 11: {
        const name = random.pick(['delta', 'rate', 'instant'])
        this.#cover(name)
        return `${name}(${this.#metric()})`
      }
      case 12:
        this.#cover('matchinst')
        return `matchinst(/${random.pick(PATTERNS)}/, ${this.#metric()})`
      default: {
        const name = random.pick(['avg', 'count', 'max', 'min', 'sum'])
        this.#cover(name)
        return `${name}(${this.#metric()})`
      }
    }
  }

  /** Removes, adds or replaces a token. */
  #spoiled(text: string): string {
    const random = this.#random
    this.#cover('syntax error')
    const tokens = text.match(
      /[A-Za-z][\w.]*\(?|[\d.]+|"[^"]*"|\[[^\]]*\]|\/\^?[\w|[\]-]+\/|&&|\|\||[<>=!]=|\S/g,
    )!
    const at = random.int(0, tokens.length - 1)
    const other = random.pick(['+', '(', ')', '1', 'g.u32.i', '<', '?', ':', ',', '!', '&&'])
    tokens.splice(at, random.int(0, 1), ...(random.chance(0.5) ? [other] : []))
    return tokens.join(' ')
  }
}

/** Release 6 accepts only names here, or does not know the word at all. */
const LATER = /\b(?:delta|rate|instant)\((?!\s*[a-z][\w.]*\s*\))|novalue|topk|bottomk|quantile|\)\s*\[/

/** A guard may consist only of a number or `defined(...)`. */
const IS_CONSTANT_GUARD = /(?:\b\d+|defined\([\w.]+\)|\)) *\?/
const IS_COMPARISON = /[<>]|[=!]=/
const COMPARED = 'numbers can be compared with any units'
const CHOSEN = 'only the branch selected by a constant is bound'

function areSemantic(ours: string, theirs: string): boolean {
  return ours.startsWith('error\tSemantic') && theirs.startsWith('error\tSemantic')
}

/** Returns the reason of a difference, if known. `ours` and `theirs` are lines of derived-calls.c. */
export function reasonFor(text: string, ours: string, theirs: string): string | undefined {
  if (theirs === 'crash') return 'the reference ends'
  const bothFail = ours.startsWith('error\t') && theirs.startsWith('error\t')
  if (LATER.test(text) && (bothFail || theirs.startsWith('error\t'))) return 'only since release 7'
  if (theirs.startsWith('error\tSemantic') && !bothFail) {
    if (IS_CONSTANT_GUARD.test(text)) return CHOSEN
    if (theirs.includes('Dimensions are not the same') && IS_COMPARISON.test(text)) return COMPARED
  }
  if (theirs === 'lost' && ours.startsWith('error\tSemantic')) return 'an unknown operand is named'
  if (theirs === 'lost') return IS_CONSTANT_GUARD.test(text) ? CHOSEN : undefined
  if (bothFail) {
    const isAboutMkconst = ours.includes('metadata keyword expected') && caretOf(ours) === caretOf(theirs)
    if (isAboutMkconst) return 'mkconst names the expected token'
    if (!areSemantic(ours, theirs)) return undefined
    if (IS_CONSTANT_GUARD.test(text)) return CHOSEN
    return theirs.includes('Dimensions are not the same') && IS_COMPARISON.test(text) ? COMPARED : undefined
  }
  if (IS_CONSTANT_GUARD.test(text)) return CHOSEN
  const [ourDesc] = ours.split('\t')
  const [theirDesc] = theirs.split('\t')
  if (ourDesc !== theirDesc) return descReason(text, ourDesc!, theirDesc!)
  if (/!(?!=)/.test(text)) return '! has the bytes of its type'
  const isExtreme = /^(?:max|min)\([\w.]+\)$/.test(text)
  if (/\b(?:max|min)\(/.test(text) && (!isExtreme || areMissing(ours, theirs)))
    return 'no values have no extreme'
  if (/\?/.test(text) && /\bm\./.test(text)) return 'branches go together by instance'
  if (/\brate\(|\bdelta\(/.test(text)) return 'what went back has a negative change, or none'
  if (/rescale/.test(text)) return 'what does not fit in the new scale has no value'
  if (/\bu\.|\bc\.|m\.a\.(?:kb|msec|cnt)/.test(text) && /[*/]/.test(text)) return 'scales are applied exactly'
  return undefined
}

/** Returns whether the only difference is that our values are missing. */
function areMissing(ours: string, theirs: string): boolean {
  const cells = theirs.split('\t')
  return ours.split('\t').every((cell, i) => cell === '' || cell === cells[i])
}

/** Returns the caret's position in the third line of an error message. */
function caretOf(complaint: string): number | undefined {
  return complaint.split('\\n')[2]?.indexOf('^')
}

function descReason(text: string, ours: string, theirs: string): string | undefined {
  const [type, , sem, ...units] = ours.split(' ')
  const [otherType, , otherSem, ...otherUnits] = theirs.split(' ')
  if (
    /mkconst/.test(text) &&
    type === otherType &&
    sem === otherSem &&
    units.join(' ') !== otherUnits.join(' ')
  )
    return 'the units have the scale of the values'
  return undefined
}
