/** Agents of a local context: the table, and the -K specifications that edit it. pmSpecLocalPMDA(3) */
import { PcpError } from '../model/errors.ts'

/** A row of the table: an agent as a shared object, which this package replaces with its own. */
export interface LocalAgentRow {
  readonly domain: number
  /** As given: absolute, or relative to the directory of agents; `.so` is optional. */
  readonly path: string
  /** Name of the initialisation function. */
  readonly entry: string
}

/** One change of the table. */
export type LocalEdit =
  | ({ readonly op: 'add' } & LocalAgentRow)
  | { readonly op: 'del'; readonly domain?: number; readonly path?: string }
  | { readonly op: 'clear' }

const MAX_DOMAIN = 510

/**
 * Parses `add,DOMAIN,PATH,ENTRY`, `del,DOMAIN`, `del,,PATH`, `del,DOMAIN,PATH`, `clear`, or several of these separated by
 * `|`. Throws PM_ERR_CONV with PCP's message. @see pmSpecLocalPMDA(3)
 */
export function parseLocalSpec(text: string): readonly LocalEdit[] {
  return text.split('|').map(parseEdit)
}

function parseEdit(text: string): LocalEdit {
  const [op, rest] = cut(text)
  switch (op) {
    case 'clear':
      return rest === undefined ? { op } : fail('unexpected text after clear op in spec')
    case 'add':
    case 'del':
      return rest === undefined
        ? fail('expected , after op in spec')
        : op === 'add'
          ? parseAdd(rest)
          : parseDel(rest)
    default:
      return /^(?:add|del)/.test(text)
        ? fail('expected , after op in spec')
        : fail(text.startsWith('clear') ? 'unexpected text after clear op in spec' : 'bad op in spec')
  }
}

function parseAdd(text: string): LocalEdit {
  const [number, afterDomain = ''] = cut(text)
  if (number === '') fail('missing domain in spec')
  const domain = parseDomain(number)
  const [path, entry = ''] = cut(afterDomain)
  if (path === '') fail('missing dso-path in spec')
  if (entry === '') fail('missing init-routine in spec')
  return { op: 'add', domain, path, entry }
}

/** Like PCP, ignores text after the path. */
function parseDel(text: string): LocalEdit {
  const [number, afterDomain] = cut(text)
  if (number === '' && afterDomain === undefined) fail('missing domain in spec')
  const [path] = cut(afterDomain ?? '')
  if (number === '' && path === '') fail('missing domain and dso-path in spec')
  return {
    op: 'del',
    ...(number === '' ? {} : { domain: parseDomain(number) }),
    ...(path === '' ? {} : { path }),
  }
}

function parseDomain(text: string): number {
  const domain = /^\s*\+?\d+$/.test(text) ? Number(text) : -1
  return domain >= 0 && domain <= MAX_DOMAIN ? domain : fail('bad domain in spec')
}

/** Splits a text at its first comma. */
function cut(text: string): readonly [head: string, tail: string | undefined] {
  const comma = text.indexOf(',')
  return comma < 0 ? [text, undefined] : [text.slice(0, comma), text.slice(comma + 1)]
}

function fail(message: string): never {
  throw new PcpError('PM_ERR_CONV', message)
}

/** Applies an edit to the table, in which the first working row of a domain counts. PM_ERR_INDOM if there is no row to remove. */
export function editLocalAgents(rows: readonly LocalAgentRow[], edit: LocalEdit): readonly LocalAgentRow[] {
  switch (edit.op) {
    case 'clear':
      return []
    case 'add': {
      const { domain, path, entry } = edit
      return [...rows, { domain, path, entry }]
    }
    case 'del': {
      const isMeant = ({ domain, path }: LocalAgentRow): boolean =>
        domain === edit.domain || path === edit.path
      const left = rows.filter((row) => !isMeant(row))
      // PCP uses the error for instance domains here, with the name of its function.
      if (left.length === rows.length)
        throw new PcpError('PM_ERR_INDOM', `__pmLocalPMDA: ${new PcpError('PM_ERR_INDOM').text}`)
      return left
    }
  }
}
