/** The verbs of pcp-ts agent that concern a running instance. */
import { AGENTS } from '../../../agents/registry.ts'
import { PcpError } from '../../../model/errors.ts'
import {
  addOwnAgent,
  type OwnInstance,
  ownAgents,
  removeOwnAgent,
} from '../../lib/agent-install/own-agents.ts'
import { kindOf, subjectOf } from '../../lib/agent-install/own-line.ts'
import type { AgentState } from '../../lib/agent-install/own-state.ts'
import type { ToolIo } from '../../lib/tool.ts'
import { examine } from './examine.ts'
import { count, printExamined, printTable } from './report.ts'
import { type AgentRequest, instanceOf, instanceVariables, shown } from './request.ts'

/** Runs a verb; resolves to the exit status. */
export type Verb = (request: AgentRequest, io: ToolIo) => Promise<number>

export const add: Verb = async (request, io) => {
  const instance = await instanceOf(request.dir, io)
  await addTo(instance, request, io)
  return 0
}

/** Examines an agent and adds it to an instance. Prints what is wrong with single metrics, which does not keep it out. */
export async function addTo(
  instance: OwnInstance,
  request: AgentRequest,
  io: ToolIo,
  isStarting = false,
): Promise<void> {
  const { checked, run } = await examine(request, instance.variables, io)
  const { name, names, problems, domain: stated } = checked
  for (const problem of problems) io.stderr.write(`${io.progname}: Warning: ${problem}\n`)
  const { domain, state, isRunning } = await addOwnAgent(
    { name, requested: request.domain, stated, names, run },
    instance,
  )
  const place = 'argv' in run ? 'command' : run.kind
  const metrics = count(state?.metrics ?? names.length, 'metric')
  io.stdout.write(`agent ${name}: ${place}, domain ${domain}, ${metrics}\n`)
  if (!isRunning && !isStarting)
    io.stdout.write('No collector runs: pcp-ts start starts the agent with the others\n')
}

export const remove: Verb = async ({ operands, dir }, io) => {
  const [which] = operands
  if (which === undefined || operands.length > 1)
    throw new PcpError('PM_ERR_ARG', 'name one agent to remove, or its file: pcp-ts agent list shows them')
  const { name, domain } = await removeOwnAgent(which, await instanceOf(dir, io)).catch((error: unknown) => {
    const known = AGENTS.some((each) => each.name === which)
    throw known
      ? new PcpError('EINVAL', `"${which}" is an agent of pcp-ts: leave it out with start --agents`)
      : error
  })
  io.stdout.write(`agent ${name}, domain ${domain}: removed\n`)
  return 0
}

export const list: Verb = async ({ operands, dir }, io) => {
  if (operands.length > 0) throw new PcpError('PM_ERR_ARG', `Unexpected "${operands[0]}"`)
  const { variables, collector } = await instanceOf(dir, io)
  const lines = ownAgents(variables)
  const isRunning = await collector.isRunning()
  const states = (await collector.agents()) ?? []
  const byDomain = new Map(states.map((state) => [state.domain, state]))
  const rows = lines.map((line) => {
    const state = byDomain.get(line.domain)
    byDomain.delete(line.domain)
    const unknown = isRunning ? 'not started' : 'not running'
    return row(line.name, line.domain, kindOf(line), state, unknown, subjectOf(line))
  })
  const others = [...byDomain.values()].map((state) =>
    row(state.name, state.domain, 'built in', state, '', ''),
  )
  printTable(
    [['name', 'domain', 'kind', 'state', 'metrics', 'file', 'last failure'], ...rows, ...others],
    io.stdout,
  )
  if (!isRunning) io.stdout.write(`No collector runs for ${variables['PCP_PMCDCONF_PATH']}\n`)
  return rows.some((each) => each[3] === 'failed') ? 1 : 0
}

function row(
  name: string,
  domain: number,
  kind: string,
  state: AgentState | undefined,
  unknown: string,
  subject: string,
): readonly string[] {
  const word =
    state === undefined ? unknown : state.status === 0 ? 'ok' : state.isConnected ? 'not ready' : 'failed'
  const metrics = state === undefined ? '-' : String(state.metrics)
  return [name, String(domain), kind, word, metrics, subject || '-', state?.failure || '-']
}

export const check: Verb = async (request, io) => {
  const named = await ownFile(request, io)
  const examined = await examine(named, await instanceVariables(request.dir, io), io)
  printExamined(examined, io.stdout)
  if ('file' in examined.run && examined.checked.problems.length === 0)
    io.stdout.write(`Add it to a running instance: pcp-ts agent add ${shown(examined.run.file, io)}\n`)
  return examined.checked.problems.length === 0 ? 0 : 1
}

/** An agent that was added can be checked by its name. */
async function ownFile(request: AgentRequest, io: ToolIo): Promise<AgentRequest> {
  const [which] = request.operands
  if (which === undefined || request.isCommand || /[./]/.test(which)) return request
  const line = ownAgents(await instanceVariables(request.dir, io)).find(({ name }) => name === which)
  if (line === undefined) return request
  if (line.kind === 'pipe') return { ...request, operands: line.argv, isCommand: true, name: line.name }
  return { ...request, operands: [subjectOf(line)], domain: line.domain }
}
