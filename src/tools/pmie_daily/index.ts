/**
 * pmie_daily: rotates the logs of all pmie processes once a day, and compresses and removes old ones. pmie_daily(1)
 *
 *     pmie.log ─► pmie.log.YYYYMMDD of yesterday, pmie reopens its log ─► .gz ─► removed
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { wrapNames } from '../lib/admin/ages.ts'
import { dayBefore, dayName } from '../lib/admin/archive-names.ts'
import { compressAs, compressorFor } from '../lib/admin/compress.ts'
import { lockInstanceDir } from '../lib/admin/instance-dir.ts'
import { controlFiles, controlState, type Instance, instancesOf } from '../lib/admin/instances.ts'
import { sendMail } from '../lib/admin/mail.ts'
import { impersonatedOwner } from '../lib/admin/owner.ts'
import { openReporter, type Reporter } from '../lib/admin/reporter.ts'
import { type RunningEngine, realPath, runningEngines, waitUntil } from '../lib/admin/running.ts'
import { makeStateDirs } from '../lib/admin/state-dirs.ts'
import { handleEarlyExit, parseOptions } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { OPTIONS, type Settings, settingsOf } from './settings.ts'

/** Time limit for a pmie process to create its new log. */
const ROTATION_MS = 10_000
const DAY_MS = 86_400_000

interface Run {
  readonly settings: Settings
  readonly variables: Variables
  readonly reporter: Reporter
  readonly io: ToolIo
}

/** Maintains the logs of all instances in the control files. Exits with status 1 after errors. */
export const tool: Tool = {
  name: 'pmie_daily',
  summary: 'Rotate, compress and remove logs of pmie once a day',
  description: `
The log of every pmie in the control files is renamed with yesterday's date, and pmie begins a new one. Logs older than -k are
removed, those older than -x compressed.`,
  examples: [['pmie_daily -N -V', 'Show what would be done:']],
  seeAlso: ['pmie', 'pmie_check', 'pmiectl'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const settings = settingsOf(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const { variables } = loadConfig(io.env)
    const usual = join(variables['PCP_LOG_DIR']!, 'pmie', 'pmie_daily.log')
    const { logPath, showsOnly } = settings
    if (!showsOnly) makeStateDirs('pmie', variables)
    const reporter = openReporter(io, {
      showsOnly,
      verbosity: settings.verbosity,
      logPath: logPath === undefined ? (showsOnly ? undefined : usual) : resolve(io.cwd, logPath),
      subject: 'inference engine',
      warnsWithColon: true,
    })
    try {
      return await daily({ settings, variables, reporter, io })
    } finally {
      reporter.close()
    }
  },
}

async function daily(run: Run): Promise<number> {
  const { settings, variables, reporter, io } = run
  const given = settings.controlPath
  const path = given === undefined ? variables['PCP_PMIECONTROL_PATH']! : resolve(io.cwd, given)
  const files = given === undefined ? controlFiles(path) : [given]
  const state = controlState(path, { isNamed: given !== undefined, confPath: loadConfig(io.env).path })
  if (state === 'unused') {
    reporter.verbose(1, `No ${path}, and none in ${path}.d: nothing to do`)
    return 0
  }
  if (files.length === 0 || state === 'missing') {
    reporter.line(`${io.progname}: Error: cannot find control file (${given ?? path})`)
    return 1
  }
  for (const file of files)
    for (const instance of instancesOf(file, {
      service: 'pmie',
      variables,
      hostName: hostname(),
      reporter,
    })) {
      if (io.signal.aborted) return 1
      if (instance.line.isStopped) continue
      try {
        await maintain(instance, run)
      } catch (error) {
        fail(instance, reporter, io, PcpError.from(error).message)
      }
    }
  return reporter.hasFailed ? 1 : 0
}

function fail({ where, host }: Instance, reporter: Reporter, io: ToolIo, text: string): void {
  reporter.line(`${io.progname}: Error: ${text}`)
  reporter.line(`[${where.file}:${where.line}] ... inference engine for host "${host}" unchanged`)
  reporter.fail()
}

async function maintain(instance: Instance, run: Run): Promise<void> {
  const { reporter, io } = run
  const { host, path: log, where, variables } = instance
  const dir = dirname(log)
  reporter.verbose(2, `Check pmie -h ${host} ... in ${dir} ...`)
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PcpError('ENOENT', `directory (${dir}) of the log does not exist`)
  if (reporter.showsOnly) reporter.show(`cd ${dir}`)
  reporter.verbose(1, `\n=== daily maintenance of pmie log files for host ${host} ===\n`)
  const lock = reporter.showsOnly
    ? { release: () => {} }
    : await lockInstanceDir(`${log}.lock`, { reporter, where, io, variables })
  if (lock === undefined) return
  try {
    reporter.verbose(2, `Looking for logfile=${log}`)
    const engine = runningEngines(variables).find(({ logPath }) => logPath === realPath(log))
    if (engine === undefined) fail(instance, reporter, io, `no pmie instance running for host "${host}"`)
    else await rotate(log, engine, run)
    const old = oldLogs(log)
    remove(dir, old, run)
    await compress(instance, dir, old, run)
  } finally {
    lock.release()
  }
}

/** Renames the log and makes pmie create a new one. If yesterday's log exists, leaves the log alone. */
async function rotate(log: string, engine: RunningEngine, run: Run): Promise<void> {
  const { reporter, io, settings } = run
  const target = `${log}.${dayName(dayBefore(io.now()))}`
  if (reporter.showsOnly) {
    reporter.show(`mv ${log} ${target}`)
    reporter.show(`kill -HUP ${engine.pid}`)
    return
  }
  if (existsSync(target)) {
    reporter.verbose(1, `${target} already exists, ${log} stays in use`)
    return
  }
  if (!existsSync(log)) return
  if (settings.mailTo !== undefined)
    sendMail({ path: log, subject: `PCP pmie log of ${hostname()}`, to: settings.mailTo }, run.variables)
  renameSync(log, target)
  process.kill(engine.pid, 'SIGHUP')
  if (!(await waitUntil(ROTATION_MS, io.signal, () => existsSync(log)))) {
    renameSync(target, log)
    throw new PcpError('ETIMEDOUT', `pmie process ${engine.pid} has not begun a new log`)
  }
  reporter.verbose(1, `${log} -> ${target}`)
}

interface OldLog {
  readonly name: string
  /** Noon of its day, in milliseconds. */
  readonly dayMs: number
}

/** Returns the dated logs, oldest first. */
function oldLogs(log: string): OldLog[] {
  const prefix = `${basename(log)}.`
  return readdirSync(dirname(log))
    .sort()
    .flatMap((name) => {
      const match = name.startsWith(prefix)
        ? /^(\d{4})(\d\d)(\d\d)(?:\.|$)/.exec(name.slice(prefix.length))
        : null
      if (match === null) return []
      const [, year, month, day] = match
      return [{ name, dayMs: new Date(Number(year), Number(month) - 1, Number(day), 12).getTime() }]
    })
}

/** Returns the age of a log in days. */
function ageDays({ dayMs }: OldLog, io: ToolIo): number {
  const now = new Date(io.now())
  const noon = new Date(now.getFullYear(), now.getMonth(), now.getDate(), 12).getTime()
  return Math.round((noon - dayMs) / DAY_MS)
}

function remove(dir: string, logs: readonly OldLog[], { settings, reporter, io }: Run): void {
  const names = logs.filter((log) => ageDays(log, io) >= settings.cullDays).map(({ name }) => name)
  if (names.length === 0) return
  reporter.verbose(1, `Log files older than ${settings.cullDays} days being removed ...`)
  for (const line of wrapNames(names)) reporter.verbose(1, line)
  if (reporter.showsOnly) reporter.show(`rm -f ${names.join(' ')}`)
  else for (const name of names) rmSync(join(dir, name), { force: true })
}

async function compress(instance: Instance, dir: string, logs: readonly OldLog[], run: Run): Promise<void> {
  const { settings, reporter, io } = run
  const { compressDays, compressor: command, skipped } = settings
  if (compressDays === undefined) return
  const names = logs
    .filter(
      (log) => ageDays(log, io) >= compressDays && !skipped.test(log.name) && existsSync(join(dir, log.name)),
    )
    .map(({ name }) => name)
  if (names.length === 0) return
  reporter.verbose(1, `Log files older than ${compressDays} days being compressed ...`)
  for (const line of wrapNames(names)) reporter.verbose(1, line)
  if (reporter.showsOnly) {
    reporter.show(`${command ?? compressorFor(undefined, instance.variables)!.command} ${names.join(' ')}`)
    return
  }
  const compressor = compressorFor(command, instance.variables)
  if (compressor === undefined) throw new PcpError('ENOENT', `${command}: compression program not found`)
  const owner = impersonatedOwner(dir)
  await compressAs(dir, names, { compressor, owner, variables: instance.variables })
}
