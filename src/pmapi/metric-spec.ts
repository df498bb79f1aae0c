/** Metric specifications: `[source] metric [instances]`. pmParseMetricSpec(3) */
import { PcpError } from '../model/errors.ts'

/** A parsed metric specification. */
export interface MetricSpec {
  readonly kind: 'host' | 'archive' | 'local'
  /** Host specification or archive name; '@' for a local context; undefined if the text has no source. */
  readonly source: string | undefined
  readonly metric: string
  /** External names; empty for all instances. */
  readonly instances: readonly string[]
}

const BLANK = /\s/

/**
 * Parses `metric`, `host:metric`, `archive/metric`, `@:metric`, each with an optional `[instance,...]`. A backslash
 * quotes the next character. Throws PM_ERR_GENERIC with a two-line message: the text, and a caret below the error.
 */
export function parseMetricSpec(text: string): MetricSpec {
  const fail = (at: number, what: string): never => {
    throw new PcpError('PM_ERR_GENERIC', `${text}\n${' '.repeat(at)}^ -- ${what}\n`)
  }
  const skipBlanks = (at: number): number => {
    let i = at
    while (i < text.length && BLANK.test(text[i]!)) i++
    return i
  }
  const start = skipBlanks(0)
  const { end, split } = outline(text, start)

  let kind: MetricSpec['kind'] = 'host'
  let source: string | undefined
  let from = start
  if (split >= 0) {
    source = unquote(text.slice(start, split).trimEnd())
    kind = text[split] === '/' ? 'archive' : source === '@' ? 'local' : 'host'
    if (source === '') fail(start, `${kind} name expected`)
    from = skipBlanks(split + 1)
  }

  let to = from
  for (; to < end && !BLANK.test(text[to]!); to++) {
    if (text[to] === '\\') to++
    else if (text[to] === ']' || text[to] === ',') fail(to, 'unexpected character in metric name')
  }
  to = Math.min(to, end)
  const metric = unquote(text.slice(from, to))
  if (metric === '') fail(from, 'performance metric name expected')
  const after = skipBlanks(to)
  if (after >= text.length) return { kind, source, metric, instances: [] }
  if (text[after] !== '[') fail(after, 'unexpected extra characters')
  const { instances, next } = parseInstances(text, after + 1, fail)
  const rest = skipBlanks(next)
  if (rest < text.length) fail(rest, 'unexpected extra characters')
  return { kind, source, metric, instances }
}

/** Returns the end of the part before `[`, and the index of its last unquoted `:` or `/`, or -1. */
function outline(text: string, start: number): { end: number; split: number } {
  let split = -1
  for (let i = start; i < text.length; i++) {
    const char = text[i]
    if (char === '\\') i++
    else if (char === '[') return { end: i, split }
    else if (char === ':' || char === '/') split = i
  }
  return { end: text.length, split }
}

function parseInstances(
  text: string,
  start: number,
  fail: (at: number, what: string) => never,
): { instances: string[]; next: number } {
  const instances: string[] = []
  let i = start
  while (i < text.length && text[i] !== ']') {
    if (text[i] === ',' || BLANK.test(text[i]!)) {
      i++
      continue
    }
    const quoted = text[i] === '"'
    if (quoted) i++
    let name = ''
    while (i < text.length && !endsName(text[i]!, quoted)) {
      if (text[i] === '\\' && i + 1 < text.length) i++
      name += text[i++]
    }
    if (quoted) {
      if (i >= text.length) fail(i, 'closing " and ] expected')
      i++
    }
    if (name !== '') instances.push(name)
  }
  if (i >= text.length) fail(i, 'closing ] expected')
  return { instances, next: i + 1 }
}

function endsName(char: string, quoted: boolean): boolean {
  return quoted ? char === '"' : char === ']' || char === ',' || BLANK.test(char)
}

function unquote(text: string): string {
  return text.replace(/\\(.)/gs, '$1')
}
