/**
 * Adds agents to a running pcp-ts start, and removes them: changes its pmcd.conf under a lock, makes the collector reread it,
 * and checks the result. A failure restores the file. docs/how-to/add-an-agent.md
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import type { AgentConfig } from '../../../routing/pmcd-conf.ts'
import type { Variables } from '../../../sys/config.ts'
import { type FileLock, takeLock } from '../../../sys/file-lock.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { trustedPath } from '../../../sys/trusted-path.ts'
import type { CollectorControl } from './collector.ts'
import { changeConf } from './conf-text.ts'
import { Journal } from './journal.ts'
import { chooseDomain, lineOf, type OwnKind, ownLines, subjectOf } from './own-line.ts'
import type { AgentState, OwnCollector } from './own-state.ts'

/** An agent to add. */
export interface OwnAgent {
  readonly name: string
  /** --domain. */
  readonly requested: number | undefined
  /** Domain of the agent's declaration. */
  readonly stated: number | undefined
  /** Metrics that it reports; empty if unknown before it runs. */
  readonly names: readonly string[]
  readonly run: { readonly file: string; readonly kind: OwnKind } | { readonly argv: readonly string[] }
}

/** The instance. */
export interface OwnInstance {
  readonly variables: Variables
  readonly control: Pick<CollectorControl, 'reload'>
  readonly collector: OwnCollector
  readonly signal: AbortSignal
}

/** The result of a change. */
export interface Changed {
  readonly domain: number
  /** State of the agent in the running collector; undefined if none runs, or it was removed. */
  readonly state: AgentState | undefined
  readonly isRunning: boolean
}

const LOCK_MS = 30_000
const ADVICE = 'an agent runs as your account, so only you or root may be able to change its files'

/** Adds an agent, or loads it again. Rejects with the reason if it does not start; the former state is then restored. */
export async function addOwnAgent(agent: OwnAgent, instance: OwnInstance): Promise<Changed> {
  const { name, run, names } = agent
  for (const path of 'file' in run ? [run.file] : run.argv.filter((word) => word.startsWith('/')).slice(0, 2))
    requireTrust(path)
  return changing(instance, async (path, journal) => {
    const text = readConf(path)
    const lines = ownLines(text, path)
    const former = lines.find((line) => line.name === name)
    const rest = lineOf(run)
    refuseOther(former, agent, path)
    const others = lines.filter((line) => line !== former)
    const domain = chooseDomain(name, agent, others, former)
    const without = former === undefined ? text : changeConf(text, former).text
    const next = changeConf(without, { name, domain }, { name, domain, rest }).text
    const isRunning = await instance.collector.isRunning()
    if (isRunning) await refuseTakenNames(name, names, former?.domain ?? domain, instance)
    // The same line would leave the agent that runs untouched.
    if (former !== undefined && isRunning) {
      await apply(journal, path, without, instance)
      await instance.collector.awaitGone(former.domain)
    }
    await apply(journal, path, next, instance)
    const reports = isRunning && (await instance.collector.agents()) !== undefined
    const state = reports ? await instance.collector.awaitAgent(domain) : undefined
    if (reports && state?.isConnected !== true)
      throw new PcpError(
        'PM_ERR_NOAGENT',
        `Agent "${name}" did not start: ${state?.failure || 'no reason was given; see pmcd.log'}`,
      )
    return { domain, state, isRunning }
  })
}

/** Removes an agent by its name, or the file or command that it runs. Throws ENOENT if there is none. */
export async function removeOwnAgent(
  which: string,
  instance: OwnInstance,
): Promise<Changed & { readonly name: string }> {
  return changing(instance, async (path, journal) => {
    const text = readConf(path)
    const line = findLine(ownLines(text, path), which)
    if (line === undefined)
      throw new PcpError('ENOENT', `No own agent is called "${which}": pcp-ts agent list shows them`)
    const { name, domain } = line
    const isRunning = await instance.collector.isRunning()
    await apply(journal, path, changeConf(text, line).text, instance)
    if (isRunning) await instance.collector.awaitGone(domain)
    return { name, domain, state: undefined, isRunning }
  })
}

/** Returns the line of an agent's name, or of its file or command. */
export function findLine(lines: readonly AgentConfig[], which: string): AgentConfig | undefined {
  return lines.find((line) => line.name === which) ?? lines.find((line) => subjectOf(line) === which)
}

/** Returns the own agents of an instance. */
export function ownAgents(variables: Variables): readonly AgentConfig[] {
  const path = confPath(variables)
  return ownLines(readConf(path), path)
}

function refuseOther(former: AgentConfig | undefined, { name, run }: OwnAgent, path: string): void {
  if (former === undefined) return
  const subject = 'file' in run ? run.file : run.argv.join(' ')
  if (subjectOf(former) !== subject)
    throw new PcpError(
      'EEXIST',
      `${path} has an agent "${name}" already, ${subjectOf(former)}: remove it first, or give yours another name`,
    )
}

/** Two agents with one name would hide each other's metrics. */
async function refuseTakenNames(
  name: string,
  names: readonly string[],
  domain: number,
  { collector }: OwnInstance,
): Promise<void> {
  const other = await collector.ownerOf(names, domain)
  if (other !== undefined)
    throw new PcpError(
      'EEXIST',
      `Agent "${name}": metric ${other.metric} belongs to agent "${other.agent}": rename it`,
    )
}

async function apply(journal: Journal, path: string, text: string, { control }: OwnInstance): Promise<void> {
  journal.write(path, text)
  await control.reload()
}

async function changing<T>(
  instance: OwnInstance,
  change: (path: string, journal: Journal) => Promise<T>,
): Promise<T> {
  const path = confPath(instance.variables)
  makeDir(dirname(path))
  requireTrust(path)
  const lock = await lockOf(path, instance.signal)
  const journal = new Journal()
  try {
    return await change(path, journal)
  } catch (error) {
    if (!journal.hasChanges) throw error
    const failures = [...journal.rollBack()]
    await instance.control.reload().catch((failure: Error) => failures.push(failure))
    if (failures.length === 0) throw error
    const what = failures.map(({ message }) => message).join('; ')
    throw new PcpError(
      'PM_ERR_GENERIC',
      `${PcpError.from(error).message}; undoing the change failed: ${what}`,
      {
        cause: error,
      },
    )
  } finally {
    lock.release()
  }
}

async function lockOf(path: string, signal: AbortSignal): Promise<FileLock> {
  const lock = await takeLock(`${path}.edit`, { limitMs: LOCK_MS, signal })
  if (lock === undefined) throw new PcpError('EBUSY', `Another command is changing ${path}: try again`)
  return lock
}

function requireTrust(path: string): void {
  try {
    trustedPath(path, ADVICE)
  } catch (error) {
    throw PcpError.from(error)
  }
}

function confPath(variables: Variables): string {
  return variables['PCP_PMCDCONF_PATH']!
}

function readConf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
