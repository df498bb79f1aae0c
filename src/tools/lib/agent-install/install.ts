/**
 * Installs and removes agents: names, help files, extra files, the line in pmcd.conf, then a reload of the collector and
 * a check of the metrics. Any failure restores the previous state. docs/reference/agent-toolkit.md
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { isDynamicRoot, PM_ID_NULL, type Pmid } from '../../../model/ids.ts'
import { encodeHelp } from '../../../pmda/help-file.ts'
import { loadPmns } from '../../../pmns/load.ts'
import { Pmns } from '../../../pmns/tree.ts'
import type { Variables } from '../../../sys/config.ts'
import { takeLock } from '../../../sys/file-lock.ts'
import { defaultPmnsPath, pmnsFiles } from '../../../sys/pmns-files.ts'
import { type AgentPackage, extraFiles } from './agent-package.ts'
import type { CollectorControl } from './collector.ts'
import { changeConf } from './conf-text.ts'
import { Journal } from './journal.ts'

/** Options of an installation. */
export interface InstallSettings {
  readonly variables: Variables
  readonly collector: CollectorControl
  /** Check the metrics afterwards. */
  readonly checks: boolean
  /** Receives progress messages, without a newline if the line will be continued. */
  readonly progress: (text: string) => void
  /** Receives warnings. */
  readonly warn: (text: string) => void
  /** Records the change of pmcd.conf in the host's notices file. */
  readonly notice: (text: string) => void
  /** Called before each change of a file. */
  readonly onChange?: (what: string) => void
  readonly signal: AbortSignal
}

/** The installed parts of an agent, recorded until it is removed. */
interface Manifest {
  readonly name: string
  readonly domain: number
  readonly names: readonly string[]
  /** Files to remove with the agent. */
  readonly files: readonly string[]
}

const LOCK_MS = 120_000

/** Installs an agent, or updates one. A failure restores the previous state and rejects with the reason. */
export async function installAgent(subject: AgentPackage, settings: InstallSettings): Promise<void> {
  const { variables, warn, notice } = settings
  const { name, domain, rest } = subject
  const notices: string[] = []
  await transact(settings, async (journal, reload) => {
    const old = readManifest(name, variables)
    const files: string[] = []
    settings.progress('Updating the Performance Metrics Name Space ...\n')
    changeNames(journal, settings, (pmns) => {
      for (const each of old?.names ?? []) pmns.remove(each)
      addNames(pmns, subject, warn)
    })
    const put = (path: string, content: string | Uint8Array): void => {
      journal.write(path, content)
      files.push(path)
    }
    const own = new Pmns()
    addNames(own, subject, () => {})
    put(join(variables['PCP_VAR_DIR']!, 'pmns', namesFile(name)), own.toString())
    putHelp(subject, old, settings, put)
    for (const { from, to } of extraFiles(subject, variables)) put(to, readFileSync(from))
    for (const file of old?.files ?? []) if (!files.includes(file)) journal.remove(file)
    settings.progress('Updating the PMCD control file, and notifying PMCD ...\n')
    const path = variables['PCP_PMCDCONF_PATH']!
    const conf = changeConf(readConf(path), { name, domain }, { name, domain, rest })
    for (const line of conf.displaced) {
      warn(`Warning: removed from ${path}: ${line}`)
      notices.push(`PMDA cull: from ${path}: ${line.trim().split(/\s+/).slice(0, 2).join(' ')}`)
    }
    journal.write(path, conf.text)
    const names = subject.names.map(([each]) => each)
    journal.write(manifestPath(name, variables), manifestText({ name, domain, names, files }))
    const isRunning = await reload()
    notices.push(`PMDA add: to ${path}: ${name} ${domain} ${rest.replaceAll('\t', ' ')}`)
    if (!isRunning) await explainNoReload(settings)
    else if (settings.checks) await checkAppeared(subject, settings)
  })
  for (const each of notices) notice(each)
}

/** The file name of an agent's names; `root` is the name of the whole name space's file. */
function namesFile(agent: string): string {
  return agent === 'root' ? 'root_agent' : agent
}

/** Removes what `installAgent` installed; resolves to false if it is not installed. Rejects as `installAgent` does. */
export async function removeAgent(name: string, settings: InstallSettings): Promise<boolean> {
  const { variables, notice } = settings
  const old = readManifest(name, variables)
  if (old === undefined) return false
  await transact(settings, async (journal, reload) => {
    settings.progress('Culling the Performance Metrics Name Space ...\n')
    changeNames(journal, settings, (pmns) => {
      for (const each of old.names) pmns.remove(each)
    })
    for (const file of old.files) {
      journal.remove(file)
      // Remove the directories made for the agent, if they are empty.
      if (dirname(file).endsWith(`/${name}`)) journal.removeDir(dirname(file))
    }
    settings.progress('Updating the PMCD control file, and notifying PMCD ...\n')
    const path = variables['PCP_PMCDCONF_PATH']!
    journal.write(path, changeConf(readConf(path), old).text)
    journal.remove(manifestPath(name, variables))
    const isRunning = await reload()
    if (isRunning && settings.checks) await checkGone(name, old.names, settings)
  })
  notice(`PMDA cull: from ${variables['PCP_PMCDCONF_PATH']}: ${name} ${old.domain}`)
  return true
}

/** Runs changes under a lock. If they fail, restores the files and then reloads the collector. */
async function transact(
  settings: InstallSettings,
  change: (journal: Journal, reload: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const { variables, collector, signal } = settings
  const root = defaultPmnsPath(variables)
  // The lock of the commands that edit the name space. A missing directory means there is nothing to edit.
  const isNew = !existsSync(dirname(root))
  const lock = isNew ? undefined : await takeLock(`${root}.edit`, { limitMs: LOCK_MS, signal })
  if (lock === undefined && !isNew)
    throw new PcpError('EBUSY', `Another command is changing ${root}: try again`)
  const journal = new Journal(settings.onChange)
  let wasReloaded = false
  const reload = (): Promise<boolean> => {
    wasReloaded = true
    return collector.reload()
  }
  try {
    await change(journal, reload)
  } catch (error) {
    const failures = [...journal.rollBack()]
    if (wasReloaded) await collector.reload().catch((failure: Error) => failures.push(failure))
    if (failures.length === 0) throw error
    const what = failures.map(({ message }) => message).join('; ')
    throw new PcpError(
      'PM_ERR_GENERIC',
      `${PcpError.from(error).message}; undoing the changes failed: ${what}`,
      {
        cause: error,
      },
    )
  } finally {
    lock?.release()
  }
}

/** Changes the name space file. Without one our collector takes names from its agents, and PCP's does not start. */
function changeNames(
  journal: Journal,
  { variables, progress }: InstallSettings,
  change: (pmns: Pmns) => void,
): void {
  const path = defaultPmnsPath(variables)
  if (!existsSync(path)) {
    progress(`No name space ${path}: the collector takes names from its agents\n`)
    return
  }
  const pmns = loadPmns(path, pmnsFiles(variables), {})
  change(pmns)
  journal.write(path, pmns.toString())
}

/** Replaces older names with the agent's. Throws PM_ERR_PMNS if a name would be both a metric and a node above metrics. */
function addNames(pmns: Pmns, { name: agent, names }: AgentPackage, warn: (text: string) => void): void {
  for (const [name, id] of names) {
    const old: Pmid | undefined = pmns.idOf(name)
    if (old === id) continue
    if (old !== undefined && old !== PM_ID_NULL)
      warn(`Warning: ${name} was another metric, and is now ${agent}'s`)
    if (old !== undefined && old !== PM_ID_NULL) pmns.remove(name)
    pmns.add(name, id)
  }
}

/** Writes help files, but never replaces those that another installation made. */
function putHelp(
  { name, help }: AgentPackage,
  old: Manifest | undefined,
  { variables, progress }: InstallSettings,
  put: (path: string, content: Uint8Array) => void,
): void {
  if (help.length === 0) return
  const base = join(variables['PCP_PMDAS_DIR']!, name, 'help')
  const paths = [`${base}.pag`, `${base}.dir`]
  if (paths.some((path) => existsSync(path) && old?.files.includes(path) !== true)) {
    progress(`Help files ${base}.* belong to another agent and are kept\n`)
    return
  }
  const { dir, pag } = encodeHelp(help)
  put(paths[0]!, pag)
  put(paths[1]!, dir)
}

/** Reports why no collector was signalled. That of `npm start` has no PID file and never reads pmcd.conf. */
async function explainNoReload({ variables, collector, progress, warn }: InstallSettings): Promise<void> {
  const socket = await collector.listeningSocket()
  if (socket === undefined) {
    progress('PMCD is not running: it will start the agent when it starts\n')
    return
  }
  const conf = variables['PCP_PMCDCONF_PATH']
  warn(
    `Warning: the collector on ${socket} has no PID file: it was not signalled, and does not have the agent`,
  )
  warn(`pmcd -f with ${conf} takes the agent after a SIGHUP; see docs/how-to/add-an-agent.md`)
}

async function checkAppeared(
  { name, names: all }: AgentPackage,
  { collector, progress }: InstallSettings,
): Promise<void> {
  progress(`Check ${name} metrics have appeared ... `)
  const fixed = all.flatMap(([each, id]) => (isDynamicRoot(id) ? [] : [each]))
  if (fixed.length === 0) {
    const found = await collector.find(
      all.map(([each]) => each),
      'any',
    )
    progress(`${found?.metrics ?? 0} metrics and ${found?.values ?? 0} values\n`) // they come and go
    return
  }
  const found = await collector.find(fixed, 'there')
  if (found === undefined || found.unknown > 0)
    throw new PcpError(
      'PM_ERR_NAME',
      `The collector does not know ${found?.unknown ?? fixed.length} metrics of ${name}`,
    )
  const { metrics, values, warnings } = found
  progress(`${warnings > 0 ? `${warnings} warnings, ` : ''}${metrics} metrics and ${values} values\n`)
  if (warnings === metrics)
    throw new PcpError('PM_ERR_NOAGENT', `The agent ${name} does not answer: see its log and pmcd.log`)
}

async function checkGone(
  name: string,
  names: readonly string[],
  { collector, progress, warn }: InstallSettings,
): Promise<void> {
  progress(`Check ${name} metrics have gone away ... `)
  const found = await collector.find(names, 'gone')
  progress(found === undefined ? 'OK\n' : '\n')
  if (found !== undefined) warn(`Warning: the collector still knows ${found.metrics} of them`)
}

function readConf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

function manifestPath(name: string, variables: Variables): string {
  return join(variables['PCP_VAR_DIR']!, 'config', 'pmda-install', `${name}.json`)
}

function manifestText(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** Reads the record of an earlier installation; undefined without one. Throws PM_ERR_CONV for a damaged file. */
function readManifest(name: string, variables: Variables): Manifest | undefined {
  const path = manifestPath(name, variables)
  if (!existsSync(path)) return undefined
  try {
    const { domain, names, files } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Manifest>
    const areTexts = (list: unknown): list is readonly string[] =>
      Array.isArray(list) && list.every((each) => typeof each === 'string')
    if (typeof domain === 'number' && areTexts(names) && areTexts(files))
      return { name, domain, names, files }
  } catch (error) {
    throw new PcpError('PM_ERR_CONV', `${path} is damaged: correct or remove it`, { cause: error })
  }
  throw new PcpError('PM_ERR_CONV', `${path} is damaged: correct or remove it`)
}
