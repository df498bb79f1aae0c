/**
 * Installing and removing agents: names, help files, what an agent brings for other parts, the line in pmcd.conf, then the
 * collector, and a look whether the metrics came or went. Whatever fails, everything is as it was. docs/agents.md
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
import type { CollectorControl } from './collector.ts'
import { changeConf } from './conf-text.ts'
import { Journal } from './journal.ts'
import { extraFiles, type Subject } from './subject.ts'

/** Where and how to install. */
export interface InstallSettings {
  readonly variables: Variables
  readonly collector: CollectorControl
  /** Look for the metrics in the end. */
  readonly checks: boolean
  /** Hears what is being done, without newline at the end of what will be continued. */
  readonly say: (text: string) => void
  /** Hears what somebody should know of. */
  readonly warn: (text: string) => void
  /** Notes what was done to pmcd.conf among the notices of the host. */
  readonly notice: (text: string) => void
  /** Hears of each change of a file before it is made. */
  readonly onChange?: (what: string) => void
  readonly signal: AbortSignal
}

/** What was put in place, kept until it is removed. */
interface Manifest {
  readonly name: string
  readonly domain: number
  readonly names: readonly string[]
  /** Files that are removed with the agent. */
  readonly files: readonly string[]
}

const LOCK_MS = 120_000

/** Puts an agent in place. Rejects with why that failed, when everything is as it was. Doing it again is harmless. */
export async function installAgent(subject: Subject, settings: InstallSettings): Promise<void> {
  const { variables, warn, notice } = settings
  const { name, domain, rest } = subject
  const notices: string[] = []
  await transact(settings, async (journal, reload) => {
    const old = readManifest(name, variables)
    const files: string[] = []
    settings.say('Updating the Performance Metrics Name Space ...\n')
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
    settings.say('Updating the PMCD control file, and notifying PMCD ...\n')
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
    if (!isRunning) settings.say('PMCD is not running: it will have the agent when it starts\n')
    else if (settings.checks) await checkAppeared(subject, settings)
  })
  for (const each of notices) notice(each)
}

/** Where the names of one agent are kept: by its name, but for that of the whole name space. */
function namesFile(agent: string): string {
  return agent === 'root' ? 'root_agent' : agent
}

/** Takes away what `installAgent` put in place; false when it is not there. Rejects when that fails, as `installAgent`. */
export async function removeAgent(name: string, settings: InstallSettings): Promise<boolean> {
  const { variables, notice } = settings
  const old = readManifest(name, variables)
  if (old === undefined) return false
  await transact(settings, async (journal, reload) => {
    settings.say('Culling the Performance Metrics Name Space ...\n')
    changeNames(journal, settings, (pmns) => {
      for (const each of old.names) pmns.remove(each)
    })
    for (const file of old.files) {
      journal.remove(file)
      // Directories that were made for them: only what is empty goes.
      if (dirname(file).endsWith(`/${name}`)) journal.removeDir(dirname(file))
    }
    settings.say('Updating the PMCD control file, and notifying PMCD ...\n')
    const path = variables['PCP_PMCDCONF_PATH']!
    journal.write(path, changeConf(readConf(path), old).text)
    journal.remove(manifestPath(name, variables))
    const isRunning = await reload()
    if (isRunning && settings.checks) await checkGone(name, old.names, settings)
  })
  notice(`PMDA cull: from ${variables['PCP_PMCDCONF_PATH']}: ${name} ${old.domain}`)
  return true
}

/** Runs changes under a lock, and takes them back when they fail: files first, then the collector is told again. */
async function transact(
  settings: InstallSettings,
  change: (journal: Journal, reload: () => Promise<boolean>) => Promise<void>,
): Promise<void> {
  const { variables, collector, signal } = settings
  const root = defaultPmnsPath(variables)
  // The lock of commands that edit the name space; where there is no directory for one there is nothing to edit.
  const isNew = !existsSync(dirname(root))
  const lock = isNew ? undefined : await takeLock(`${root}.edit`, { limitMs: LOCK_MS, signal })
  if (lock === undefined && !isNew) throw new PcpError('EBUSY', `Somebody else changes ${root}: try again`)
  const journal = new Journal(settings.onChange)
  let wasTold = false
  const reload = (): Promise<boolean> => {
    wasTold = true
    return collector.reload()
  }
  try {
    await change(journal, reload)
  } catch (error) {
    const failures = [...journal.rollBack()]
    if (wasTold) await collector.reload().catch((failure: Error) => failures.push(failure))
    if (failures.length === 0) throw error
    const what = failures.map(({ message }) => message).join('; ')
    throw new PcpError('PM_ERR_GENERIC', `${PcpError.from(error).message}; taking it back failed: ${what}`, {
      cause: error,
    })
  } finally {
    lock?.release()
  }
}

/** Changes the name space. Where there is no file of it, the collector takes names from its agents. */
function changeNames(
  journal: Journal,
  { variables, say }: InstallSettings,
  change: (pmns: Pmns) => void,
): void {
  const path = defaultPmnsPath(variables)
  if (!existsSync(path)) {
    say(`No name space ${path}: the collector takes names from its agents\n`)
    return
  }
  const pmns = loadPmns(path, pmnsFiles(variables), {})
  change(pmns)
  journal.write(path, pmns.toString())
}

/** The agent's names in place of older ones; PM_ERR_PMNS when one would be both a metric and above metrics. */
function addNames(pmns: Pmns, { name: agent, names }: Subject, warn: (text: string) => void): void {
  for (const [name, id] of names) {
    const old: Pmid | undefined = pmns.idOf(name)
    if (old === id) continue
    if (old !== undefined && old !== PM_ID_NULL)
      warn(`Warning: ${name} was another metric, and is now ${agent}'s`)
    if (old !== undefined && old !== PM_ID_NULL) pmns.remove(name)
    pmns.add(name, id)
  }
}

/** Help files that somebody else made stay: their agent is theirs. */
function putHelp(
  { name, help }: Subject,
  old: Manifest | undefined,
  { variables, say }: InstallSettings,
  put: (path: string, content: Uint8Array) => void,
): void {
  if (help.length === 0) return
  const base = join(variables['PCP_PMDAS_DIR']!, name, 'help')
  const paths = [`${base}.pag`, `${base}.dir`]
  if (paths.some((path) => existsSync(path) && old?.files.includes(path) !== true)) {
    say(`Help files ${base}.* are another agent's and stay\n`)
    return
  }
  const { dir, pag } = encodeHelp(help)
  put(paths[0]!, pag)
  put(paths[1]!, dir)
}

async function checkAppeared(
  { name, names: all }: Subject,
  { collector, say }: InstallSettings,
): Promise<void> {
  say(`Check ${name} metrics have appeared ... `)
  const fixed = all.flatMap(([each, id]) => (isDynamicRoot(id) ? [] : [each]))
  if (fixed.length === 0) {
    const found = await collector.find(
      all.map(([each]) => each),
      'any',
    )
    say(`${found?.metrics ?? 0} metrics and ${found?.values ?? 0} values\n`) // they come and go
    return
  }
  const found = await collector.find(fixed, 'there')
  if (found === undefined || found.unknown > 0)
    throw new PcpError(
      'PM_ERR_NAME',
      `The collector does not know ${found?.unknown ?? fixed.length} metrics of ${name}`,
    )
  const { metrics, values, warnings } = found
  say(`${warnings > 0 ? `${warnings} warnings, ` : ''}${metrics} metrics and ${values} values\n`)
  if (warnings === metrics)
    throw new PcpError('PM_ERR_NOAGENT', `The agent ${name} does not answer: its log and pmcd.log say why`)
}

async function checkGone(
  name: string,
  names: readonly string[],
  { collector, say, warn }: InstallSettings,
): Promise<void> {
  say(`Check ${name} metrics have gone away ... `)
  const found = await collector.find(names, 'gone')
  say(found === undefined ? 'OK\n' : '\n')
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

/** What an earlier installation put in place; undefined when there was none. PM_ERR_CONV for a file that tells nothing. */
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
