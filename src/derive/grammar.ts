/**
 * Tables of the grammar: precedence, and tokens that cannot follow others. docs/reference/derived-metrics.md, pmRegisterDerived(3)
 *
 *     weakest   ? :          left to right: a?b:c?d:e is (a?b:c)?d:e
 *               && ||        one level
 *               !
 *               < <= == >= > !=
 *               + - and unary minus
 *     strongest * /
 */
import type { TokenKind } from './tokens.ts'

/** Precedence of `? :`, the weakest. */
export const TERNARY = 1
/** Precedence of `&&` and `||`. */
export const BOOLEAN = 2
/** Precedence of `!`. */
export const NOT = 3
const RELATION = 4
/** Precedence of `+`, `-` and unary minus. */
export const SUM = 5
const PRODUCT = 6

/** Precedence of operators; other tokens end an expression. */
export const PRECEDENCE: Readonly<Partial<Record<TokenKind, number>>> = {
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

/** Names of tokens in the reference's messages. */
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

/** Tokens that cannot start an expression, but which the reference reports only after reading one more token. */
export const INVALID_AT_START: ReadonlySet<TokenKind> = new Set<TokenKind>(
  (['+', '*', '/', ')', '<', '<=', '==', '>=', '>', '!=', '&&', '||', '?', ':'] as const).slice(),
)
/** Tokens that are an error immediately after a name; others first end the expression that consists of the name. */
export const NOT_AFTER_NAME: ReadonlySet<TokenKind> = new Set<TokenKind>(
  (['name', 'integer', 'real', 'string', 'function', 'key', 'pattern', '!', '='] as const).slice(),
)
/** Tokens allowed as the value of a property. */
export const VALUE_KINDS: ReadonlySet<TokenKind> = new Set<TokenKind>(
  (['integer', 'real', 'name', 'string'] as const).slice(),
)

/** Types allowed in `anon()`, by type code. */
export const ANON_TYPES: readonly string[] = ['32', 'U32', '64', 'U64', 'FLOAT', 'DOUBLE'].map(
  (name) => `PM_TYPE_${name}`,
)
