/**
 * The tables of the grammar: what binds how strongly, and what cannot follow what. docs/derived.md, pmRegisterDerived(3)
 *
 *     weakest   ? :          left to right: a?b:c?d:e is (a?b:c)?d:e
 *               && ||        one level
 *               !
 *               < <= == >= > !=
 *               + - and unary minus
 *     strongest * /
 */
import type { TokenKind } from './tokens.ts'

/** Strength of `? :`, the weakest. */
export const TERNARY = 1
/** Strength of `&&` and `||`. */
export const BOOLEAN = 2
/** Strength of `!`. */
export const NOT = 3
const RELATION = 4
/** Strength of `+`, `-` and unary minus. */
export const SUM = 5
const PRODUCT = 6

/** How strongly an operator binds; other tokens end an expression. */
export const STRENGTH: Readonly<Partial<Record<TokenKind, number>>> = {
  '?': TERNARY,
  '&&': BOOLEAN,
  '||': BOOLEAN,
  '<': RELATION,
  '<=': RELATION,
  '==': RELATION,
  '>=': RELATION,
  '>': RELATION,
  '!=': RELATION,
  '+': SUM,
  '-': SUM,
  '*': PRODUCT,
  '/': PRODUCT,
}

/** What the reference calls a token in its messages. */
export const TOKEN_NAMES: Readonly<Partial<Record<TokenKind, string>>> = {
  '+': 'PLUS',
  '-': 'MINUS',
  '*': 'STAR',
  '/': 'SLASH',
  '<': 'LT',
  '<=': 'LEQ',
  '==': 'EQ',
  '>=': 'GEQ',
  '>': 'GT',
  '!=': 'NEQ',
  '&&': 'AND',
  '||': 'OR',
}

/** What nobody can begin with, but the reference looks one token further before it says so. */
export const NO_BEGINNING: ReadonlySet<TokenKind> = new Set<TokenKind>(
  (['+', '*', '/', ')', '<', '<=', '==', '>=', '>', '!=', '&&', '||', '?', ':'] as const).slice(),
)
/** After a name these make no sense at once; other tokens first end the expression that the name is. */
export const NOT_AFTER_NAME: ReadonlySet<TokenKind> = new Set<TokenKind>(
  (['name', 'integer', 'real', 'string', 'function', 'key', 'pattern', '!', '='] as const).slice(),
)
/** What may stand for the value of a stated property. */
export const VALUE_KINDS: ReadonlySet<TokenKind> = new Set<TokenKind>(
  (['integer', 'real', 'name', 'string'] as const).slice(),
)

/** What `anon()` may be given, by type code. */
export const ANON_TYPES: readonly string[] = ['32', 'U32', '64', 'U64', 'FLOAT', 'DOUBLE'].map(
  (name) => `PM_TYPE_${name}`,
)
