/** Parsers of units, metrics and actions, which contain no expressions. docs/reference/pmie.md */
import type { ActionExpr, ActionName, ArithExpr } from './syntax.ts'
import type { TokenStream } from './token-stream.ts'

/** Limit of past samples: each takes memory for every instance. */
const MAX_SAMPLES = 1_000_000

/** Parses units after a number: `Kbytes`, `count / sec`, `msec^2`. */
export function parseUnits(tokens: TokenStream): number {
  let factor = 1
  while (tokens.token.type === 'unit') factor *= parseUnitPower(tokens)
  while (tokens.isOp('/')) {
    // A `/` divides units only if a unit follows.
    if (tokens.peek().type !== 'unit') break
    tokens.advance()
    factor /= parseUnitPower(tokens)
  }
  return factor
}

function parseUnitPower(tokens: TokenStream): number {
  const token = tokens.token
  if (token.type !== 'unit') return 1
  tokens.advance()
  let factor = token.unit.factor
  if (tokens.takeOp('^')) factor **= parseExponent(tokens)
  return factor
}

function parseExponent(tokens: TokenStream): number {
  const sign = tokens.takeOp('-') ? -1 : 1
  if (tokens.token.type !== 'number') throw tokens.error('number expected to follow ^')
  const { value } = tokens.token
  tokens.advance()
  return sign * value
}

/** Parses hosts, instances and samples after a metric's name: `:HOST #INSTANCE @N..M`. */
export function parseFetch(tokens: TokenStream, metric: string): ArithExpr {
  const hosts: string[] = []
  const instances: string[] = []
  while (tokens.takeOp(':')) hosts.push(parseName(tokens, 'host name expected to follow :'))
  while (tokens.takeOp('#')) instances.push(parseName(tokens, 'instance name expected to follow #'))
  let from = 0
  let to = 0
  if (tokens.takeOp('@')) {
    from = parseSample(tokens)
    to = tokens.takeOp('..') ? parseSample(tokens) : from
  }
  return {
    kind: 'fetch',
    metric,
    hosts,
    instances,
    from: Math.min(from, to),
    to: Math.max(from, to),
  }
}

function parseName(tokens: TokenStream, reason: string): string {
  const token = tokens.token
  if (token.type !== 'ident' && token.type !== 'unit') throw tokens.error(reason)
  tokens.advance()
  return token.text
}

function parseSample(tokens: TokenStream): number {
  const token = tokens.token
  if (token.type !== 'number' || !Number.isInteger(token.value) || token.value > MAX_SAMPLES)
    throw tokens.error('sample number(s) expected to follow @')
  tokens.advance()
  return token.value
}

/** Parses an action after its name: an optional holdoff time, then strings. */
export function parseAction(tokens: TokenStream, name: ActionName): ActionExpr {
  let holdoffSec = 0
  if (tokens.token.type === 'number') {
    holdoffSec = tokens.token.value
    tokens.advance()
    holdoffSec *= parseTimeUnit(tokens)
  }
  const args: string[] = []
  while (tokens.token.type === 'string') {
    args.push(tokens.token.text)
    tokens.advance()
  }
  if (args.length === 0) throw tokens.error(`(time interval optional) and string expected to follow ${name}`)
  return { kind: 'action', name, holdoffSec, args }
}

/** Parses an optional unit of time; returns its seconds. */
function parseTimeUnit(tokens: TokenStream): number {
  const token = tokens.token
  if (token.type !== 'unit') return 1
  if (!token.unit.isTime) throw tokens.error('')
  tokens.advance()
  return token.unit.factor
}
