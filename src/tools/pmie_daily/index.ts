/**
 * pmie_daily: once a day the logs of all rule engines begin anew, and the old ones are compressed and removed. pmie_daily(1)
 *
 *     pmie.log ─► pmie.log.YYYYMMDD of yesterday, pmie told to begin anew ─► .gz ─► gone
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { nameLines } from '../lib/admin/ages.ts'
import { dayBefore, dayName } from '../lib/admin/archive-names.ts'
import { compressAs, compressorFor } from '../lib/admin/compress.ts'
import { controlFiles, type Instance, instancesOf } from '../lib/admin/instances.ts'
import { sendMail } from '../lib/admin/mail.ts'
import { ownerToActFor } from '../lib/admin/owner.ts'
import { lockPlace } from '../lib/admin/place.ts'
import { type RunningEngine, realPath, runningEngines, until } from '../lib/admin/running.ts'
import { openVoice, type Voice } from '../lib/admin/voice.ts'
import { endEarly, parseOptions } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { OPTIONS, type Settings, settingsOf } from './settings.ts'

/** Time that an engine may take to begin its new log. */
const ROTATION_MS = 10_000
const DAY_MS = 86_400_000

interface Run {
  readonly settings: Settings
  readonly variables: Variables
  readonly voice: Voice
  readonly io: ToolIo
}

/** Looks after the logs of all instances in the control files. Status 1 when something was wrong. */
export const tool: Tool = {
  name: 'pmie_daily',
  summary: 'Rotate, compress and remove the logs of rule engines once a day',
  description: `
The log of every pmie in the control files is renamed to carry yesterday's date, and pmie begins a new one. Logs of dates that are
older than -k are removed, those older than -x compressed.`,
  examples: [['pmie_daily -N -V', 'What would be done:']],
  seeAlso: ['pmie', 'pmie_check', 'pmiectl'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const settings = settingsOf(parsed)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const { variables } = loadConfig(io.env)
    const usual = join(variables['PCP_LOG_DIR']!, 'pmie', 'pmie_daily.log')
    const { logPath, showsOnly } = settings
    const voice = openVoice(io, {
      showsOnly,
      verbosity: settings.verbosity,
      logPath: logPath === undefined ? (showsOnly ? undefined : usual) : resolve(io.cwd, logPath),
      subject: 'inference engine',
      warnsWithColon: true,
    })
    try {
      return await daily({ settings, variables, voice, io })
    } finally {
      voice.close()
    }
  },
}

async function daily(run: Run): Promise<number> {
  const { settings, variables, voice, io } = run
  const given = settings.controlPath
  const path = given === undefined ? variables['PCP_PMIECONTROL_PATH']! : resolve(io.cwd, given)
  const files = given === undefined ? controlFiles(path) : [given]
  if (files.length === 0 || !existsSync(path)) {
    voice.line(`${io.progname}: Error: cannot find control file (${given ?? path})`)
    return 1
  }
  for (const file of files)
    for (const instance of instancesOf(file, { service: 'pmie', variables, hostName: hostname(), voice })) {
      if (io.signal.aborted) return 1
      if (instance.line.isStopped) continue
      try {
        await maintain(instance, run)
      } catch (error) {
        fail(instance, voice, io, PcpError.from(error).message)
      }
    }
  return voice.hasFailed ? 1 : 0
}

function fail({ where, host }: Instance, voice: Voice, io: ToolIo, text: string): void {
  voice.line(`${io.progname}: Error: ${text}`)
  voice.line(`[${where.file}:${where.line}] ... inference engine for host "${host}" unchanged`)
  voice.fail()
}

async function maintain(instance: Instance, run: Run): Promise<void> {
  const { voice, io } = run
  const { host, place: log, where, variables } = instance
  const dir = dirname(log)
  voice.tell(2, `Check pmie -h ${host} ... in ${dir} ...`)
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PcpError('ENOENT', `directory (${dir}) of the log does not exist`)
  if (voice.showsOnly) voice.show(`cd ${dir}`)
  voice.tell(1, `\n=== daily maintenance of pmie log files for host ${host} ===\n`)
  const lock = voice.showsOnly
    ? { release: () => {} }
    : await lockPlace(`${log}.lock`, { voice, where, io, variables })
  if (lock === undefined) return
  try {
    voice.tell(2, `Looking for logfile=${log}`)
    const engine = runningEngines(variables).find(({ logPath }) => logPath === realPath(log))
    if (engine === undefined) fail(instance, voice, io, `no pmie instance running for host "${host}"`)
    else await rotate(log, engine, run)
    const old = oldLogs(log)
    remove(dir, old, run)
    await compress(instance, dir, old, run)
  } finally {
    lock.release()
  }
}

/** Renames the log and has pmie begin another one; where yesterday's is there already, its text comes first. */
async function rotate(log: string, engine: RunningEngine, run: Run): Promise<void> {
  const { voice, io, settings } = run
  const target = `${log}.${dayName(dayBefore(io.now()))}`
  if (voice.showsOnly) {
    voice.show(`mv ${log} ${target}`)
    voice.show(`kill -HUP ${engine.pid}`)
    return
  }
  if (existsSync(target)) {
    voice.tell(1, `${target} is there already, ${log} goes on`)
    return
  }
  if (!existsSync(log)) return
  if (settings.mailTo !== undefined)
    sendMail({ path: log, subject: `PCP pmie log of ${hostname()}`, to: settings.mailTo }, run.variables)
  renameSync(log, target)
  process.kill(engine.pid, 'SIGHUP')
  if (!(await until(ROTATION_MS, io.signal, () => existsSync(log)))) {
    renameSync(target, log)
    throw new PcpError('ETIMEDOUT', `pmie process ${engine.pid} has not begun a new log`)
  }
  voice.tell(1, `${log} -> ${target}`)
}

interface OldLog {
  readonly name: string
  /** Noon of its day. */
  readonly dayMs: number
}

/** Logs with a date, oldest first. */
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

/** Days between now and the day of a log. */
function ageDays({ dayMs }: OldLog, io: ToolIo): number {
  const now = new Date(io.now())
  const noon = new Date(now.getFullYear(), now.getMonth(), now.getDate(), 12).getTime()
  return Math.round((noon - dayMs) / DAY_MS)
}

function remove(dir: string, logs: readonly OldLog[], { settings, voice, io }: Run): void {
  const names = logs.filter((log) => ageDays(log, io) >= settings.cullDays).map(({ name }) => name)
  if (names.length === 0) return
  voice.tell(1, `Log files older than ${settings.cullDays} days being removed ...`)
  for (const line of nameLines(names)) voice.tell(1, line)
  if (voice.showsOnly) voice.show(`rm -f ${names.join(' ')}`)
  else for (const name of names) rmSync(join(dir, name), { force: true })
}

async function compress(instance: Instance, dir: string, logs: readonly OldLog[], run: Run): Promise<void> {
  const { settings, voice, io } = run
  const { compressDays, compressor: command, skipped } = settings
  if (compressDays === undefined) return
  const names = logs
    .filter(
      (log) => ageDays(log, io) >= compressDays && !skipped.test(log.name) && existsSync(join(dir, log.name)),
    )
    .map(({ name }) => name)
  if (names.length === 0) return
  voice.tell(1, `Log files older than ${compressDays} days being compressed ...`)
  for (const line of nameLines(names)) voice.tell(1, line)
  if (voice.showsOnly) {
    voice.show(`${command ?? compressorFor(undefined, instance.variables)!.command} ${names.join(' ')}`)
    return
  }
  const compressor = compressorFor(command, instance.variables)
  if (compressor === undefined) throw new PcpError('ENOENT', `${command}: compression program not found`)
  const owner = ownerToActFor(dir)
  await compressAs(dir, names, { compressor, owner, variables: instance.variables })
}
