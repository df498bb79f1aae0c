/** Loads and examines the agent that a command line names: a module in a process of its own, or a program by its PDUs. */
import { basename } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { CheckedModule } from '../../../pmcd/check-agent.ts'
import type { Variables } from '../../../sys/config.ts'
import type { ToolIo } from '../../lib/tool.ts'
import { type AgentRequest, commandAt, moduleAt } from './request.ts'

/** An examined agent, and how it is run. */
export interface ExaminedAgent {
  readonly checked: CheckedModule
  readonly run:
    | { readonly file: string; readonly kind: AgentRequest['kind'] }
    | { readonly argv: readonly string[] }
}

/** Time for everything that an agent does in a check. */
const LIMIT_MS = 10_000
/** Domain that a program is asked about if none is given: it states its own in its arguments. */
const ANY_DOMAIN = 0

/** Examines the agent of the operands. Rejects with the reason if it cannot be loaded or started. */
export async function examine(
  request: AgentRequest,
  variables: Variables,
  io: ToolIo,
): Promise<ExaminedAgent> {
  const { operands, kind, isCommand } = request
  if (operands.length === 0)
    throw new PcpError('PM_ERR_ARG', `a file is required: ${io.progname} ... agent.mjs`)
  if (isCommand) return examineCommand(request, io)
  if (operands.length > 1)
    throw new PcpError(
      'PM_ERR_ARG',
      `Unexpected "${operands[1]}": name one file, or a program with --command`,
    )
  const file = moduleAt(operands[0]!, io)
  const { isAgentModule } = await import('../../../pmcd/agent-module.ts')
  if (!isAgentModule(file))
    throw new PcpError(
      'PM_ERR_ARG',
      `${file} is not a module (.mjs, .js, .cjs, .mts, .ts): add a program with --command`,
    )
  const { checkAgent } = await import('../../../pmcd/check-agent.ts')
  const checked = await checkAgent(
    {
      place: { kind: 'module', path: file, entry: 'agent' },
      variables: { ...variables },
      ...(request.domain === undefined ? {} : { domain: request.domain }),
      isBrief: false,
    },
    { print: (text) => io.stderr.write(text), limitMs: LIMIT_MS, signal: io.signal },
  )
  return { checked, run: { file, kind } }
}

/** Starts the program as a collector does. */
async function examineCommand(request: AgentRequest, io: ToolIo): Promise<ExaminedAgent> {
  const argv = commandAt(request.operands, io)
  const name = request.name ?? nameOf(argv)
  const { examineCommandAgent } = await import('../../../pmcd/check-command.ts')
  const found = await examineCommandAgent(
    { name, argv },
    { print: (text) => io.stderr.write(text), limitMs: LIMIT_MS, signal: io.signal },
  )
  const [first] = found.ids
  const domain = request.domain ?? (first === undefined ? undefined : first >>> 22)
  const stated = domain === undefined || domain === ANY_DOMAIN ? {} : { domain }
  return { checked: { name, ...stated, ...found }, run: { argv } }
}

/** Returns the name of a program's file without pmda and its ending; that of the script after an interpreter. */
function nameOf([program = '', ...args]: readonly string[]): string {
  const script = args.find((word) => word.startsWith('/')) ?? program
  const name = basename(script)
    .replace(/\.\w+$/, '')
    .replace(/^pmda(?=.)/, '')
    .replaceAll(/\W/g, '_')
  if (/^[A-Za-z]/.test(name)) return name
  throw new PcpError('PM_ERR_ARG', `No name follows from ${script}: give one with --name`)
}
