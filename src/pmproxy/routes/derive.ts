/** /pmapi/derive: derived metrics of a context. docs/reference/pmproxy.md, pmAddDerivedMetric(3) */
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { json } from '../http/reply.ts'
import { textBody } from '../http/request.ts'
import type { ApiRoute } from './session.ts'

/** Maximum definitions of a request, and characters of an expression. */
const MOST_DEFINITIONS = 1000
const MOST_EXPRESSION = 16_384

interface Definition {
  readonly name: string
  readonly expression: string
  /** Its position in a list, from 0. */
  readonly line?: number
}

export const derive: ApiRoute = {
  needs: ['name', 'expr'],
  takesBody: true,
  act: async ({ web, start, query, request, services }) => {
    const name = query.get('name')
    const expression = query.get('expr')
    const body = expression === undefined ? await textBody(request) : ''
    const context = await web.makePrivate()
    web.memo.clear()
    for (const each of definitions(name, expression, body)) {
      if (each.expression.length > MOST_EXPRESSION)
        throw new PcpError('E2BIG', `An expression has more than ${MOST_EXPRESSION} characters`)
      services.contexts.addDerivedSize(web, each.expression.length)
      await define(context, each, request.signal).catch((error: unknown) => {
        services.contexts.addDerivedSize(web, -each.expression.length)
        throw error
      })
    }
    return json(`{${start}"success":true}`)
  },
}

function definitions(
  name: string | undefined,
  expression: string | undefined,
  body: string,
): readonly Definition[] {
  const text = expression ?? body
  if (text === '' && (name === undefined || expression === undefined))
    throw new PcpError('PM_ERR_ARG', 'invalid derive parameters')
  return name === undefined ? parseLines(text) : [{ name, expression: text }]
}

/** Parses lines `name = expression`. Each must be terminated, so that a truncated text cannot define something else. */
function parseLines(text: string): readonly Definition[] {
  const found: Definition[] = []
  const lines = text.replace(/^[ \t]*#.*(?:\n|\r|$)/gm, '\n').match(/[^\n\r&;]+[\n\r&;]?/g) ?? []
  lines.forEach((line, number) => {
    const part = line.replace(/[\n\r&;]$/, '').trim()
    if (part === '') return
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals).trim()
    const failed = (why: string): PcpError =>
      new PcpError(
        'PM_ERR_BADDERIVE',
        `failed to parse derived metric "${name}" on line ${number} - ${why}\n`,
      )
    if (!/[\n\r&;]$/.test(line)) throw failed('incomplete expression')
    if (equals < 0) throw failed('missing =')
    if (found.length >= MOST_DEFINITIONS) throw failed('too many definitions')
    found.push({ name, expression: part.slice(equals + 1).trim(), line: number })
  })
  return found
}

async function define(
  context: Context,
  { name, expression, line }: Definition,
  signal: AbortSignal,
): Promise<void> {
  try {
    await context.addDerived(name, expression, { signal })
  } catch (error) {
    const known = PcpError.from(error)
    // Unusable definitions are removed; a later attempt may succeed.
    if (known.reason === 'unbound' || known.reason === 'unknown-operand') context.removeDerived(name)
    const where =
      line === undefined
        ? ''
        : `failed to create derived metric "${name}" on line ${line} from: ${expression}\n`
    const message = `${where}${known.reason === 'duplicate-name' ? takenText(name) : known.message}`
    throw new PcpError(known.code, message, { status: known.status, cause: error })
  }
}

/** Returns PCP's message for a name in use, which clients match. */
function takenText(name: string): string {
  return `Error: pmAddDerivedMetric("${name}", ...): returns -12409\nDuplicate per-context derived metric name\n`
}
