/**
 * pmlogger: records the metrics of a collector into an archive, or with --farm of many collectors. pmlogger(1), docs/reference/pmlogger.md
 *
 * Unlike the reference, it ignores SIGUSR2 with a warning instead of an error if the archive's name has no time conversion, and keeps
 * running on a full disk.
 */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { toSeconds } from '../base/timestamp.ts'
import type { Context } from '../pmapi/context.ts'
import { sendWhoami } from '../pmapi/whoami.ts'
import type { ProcessSettings, ShareSettings } from '../pmlogger/process-settings.ts'
import {
  intervalMs,
  parseSizeLimit,
  parseSync,
  type SizeLimit,
  SPOOL_LIMITS,
  type SpoolLimits,
  syncMsOf,
} from '../pmlogger/sizes.ts'
import { loadConfig } from '../sys/config.ts'
import { setProcessName } from '../sys/native/process-name.ts'
import { processZone } from '../sys/zones.ts'
import { FOREVER } from '../time/arithmetic.ts'
import { makeZone } from '../time/zone.ts'
import { handleEarlyExit, type OptionTable } from './lib/options.ts'
import { openContext } from './lib/source.ts'
import { type ParsedStandard, parseStandard, STANDARD, type StandardOptions } from './lib/standard.ts'
import type { Tool, ToolIo } from './lib/tool.ts'
import { samplingWindow } from './lib/window.ts'

const TABLE: OptionTable = {
  synopsis: '[options] archive',
  rows: [
    { heading: 'What to record' },
    { short: 'c', long: 'config', arg: 'FILE', help: 'configuration [standard input]' },
    { short: 'C', long: 'check', help: 'only check the configuration' },
    STANDARD.host,
    { short: 'o', long: 'local-PMDA', help: 'load agents into this process, without a collector' },
    STANDARD.specLocal,
    STANDARD.namespace,
    {
      short: 't',
      long: 'interval',
      arg: 'DELTA',
      help: 'interval of metrics logged by default [60 seconds]',
    },
    { long: 'farm', arg: 'FILE', help: 'record the collectors listed in FILE, each into an archive' },
    {
      long: 'share',
      arg: 'WHERE',
      help: 'share them with other recorders: a directory, or redis://HOST',
    },
    { long: 'share-as', arg: 'NAME', help: 'name of this recorder [name of this host]' },
    { long: 'lease', arg: 'DELTA', help: 'time after which others take over [20 seconds]' },
    { heading: 'Archive' },
    { short: 'd', long: 'directory', arg: 'DIR', help: 'directory of the archive' },
    { short: 'H', long: 'labelhost', arg: 'NAME', help: 'name of the host in the archive' },
    { short: 'V', long: 'version', arg: 'N', help: 'version of the archive, 2 or 3' },
    {
      short: 'v',
      long: 'volsize',
      arg: 'SIZE',
      help: 'begin a new volume after SIZE (records, bytes or time)',
    },
    { long: 'sync', arg: 'DELTA', help: 'longest time until values are synced to disk [10 seconds]' },
    { short: 'y', help: "use this host's time zone for the archive" },
    { heading: 'Pushing to a server, with http://HOST:PORT as archive' },
    { long: 'credentials', arg: 'FILE', help: 'file with USER:PASSWORD or a token for the server' },
    { long: 'spool-size', arg: 'SIZE', help: 'drop the oldest records beyond this many bytes [1 GB]' },
    { long: 'spool-age', arg: 'DELTA', help: 'drop records older than this [7 days]' },
    { heading: 'When to end' },
    { short: 's', long: 'size', arg: 'SIZE', help: 'end after SIZE (records, bytes or time)' },
    STANDARD.finish,
    { short: 'p', long: 'PID', arg: 'PID', help: 'end when this process ends' },
    { short: 'L', long: 'linger', help: 'keep running even with nothing to log' },
    { heading: 'Service' },
    { short: 'P', long: 'primary', help: 'run as the primary logger of this host' },
    { short: 'l', long: 'log', arg: 'FILE', help: 'log file [pmlogger.log], - for standard error' },
    { short: 'm', long: 'note', arg: 'TEXT', help: 'note shown in lists of loggers' },
    { short: 'N', long: 'notify', help: 'notify the service manager when ready' },
    { short: 'I', long: 'pmlc-ipc-version', arg: 'N', help: 'version of the control protocol, 2 or 3' },
    { short: 'U', long: 'username', arg: 'USER', help: 'account to switch to when started by root' },
    { short: 'x', arg: 'FD', help: 'read commands of a recording session from this file descriptor' },
    { short: 'r', long: 'report', help: 'log the size of each group of metrics' },
    { short: 'u', help: 'ignored: records are always written immediately' },
    STANDARD.debug,
    STANDARD.help,
  ],
}

const DEFAULT_DELTA_MS = 60_000
const LEASE_MS = 20_000
/** Shorter leases end on busy machines, longer ones delay taking over. */
const LEASE_LIMITS_MS = { least: 500, most: 600_000 }

/** Options that cannot be used with a farm, with the alternative. */
const NOT_OF_FARMS: readonly (readonly [name: string, instead: string])[] = [
  ['c', 'each line of the farm file names a configuration'],
  ['h', 'each line of the farm file names a host'],
  ['H', 'use label=NAME in the farm file'],
  ['o', 'a farm records collectors'],
  ['P', 'a farm cannot be the primary logger'],
  ['I', 'a farm has no control port'],
  ['m', 'a farm has no port map that could show notes'],
  ['x', 'a recording session has one archive'],
  ['credentials', 'a farm records into directories'],
  ['spool-size', 'a farm records into directories'],
  ['spool-age', 'a farm records into directories'],
]

export const tool: Tool = {
  name: 'pmlogger',
  summary: 'record performance metrics into archives',
  options: TABLE,
  shutsDownOnSignal: true,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const parsed = parseStandard(TABLE, io)
  const settings = settingsOf(parsed, io)
  // Here -V is the version of the archive.
  const given = parsed.given.filter(({ name }) => name !== 'V')
  const early = handleEarlyExit(TABLE, { ...parsed, given }, io)
  if (early !== undefined) return early
  setProcessName(tool.name, io.args)
  const { standard } = parsed
  const opened = async (source: StandardOptions, signal: AbortSignal): Promise<Context> => {
    const context = await openContext(source, { ...io, signal })
    void sendWhoami(context, [io.progname, ...io.args], { signal })
    return context
  }
  if (settings.farmPath !== undefined) {
    const { runFarm } = await import('../pmlogger/farm.ts')
    const open = (host: string, signal: AbortSignal) =>
      opened({ ...standard, source: 'host', hosts: [host] }, signal)
    return runFarm(settings.farmPath, settings, { ...io, open })
  }
  const { runLogger } = await import('../pmlogger/process.ts')
  const isLocal = parsed.given.some(({ name }) => name === 'o')
  const source = isLocal ? ({ ...standard, source: 'local' } as const) : standard
  return runLogger(settings, { ...io, open: (signal) => opened(source, signal) })
}

/** Checks every option; adds errors to `problems`. */
function settingsOf({ given, operands, problems, standard }: ParsedStandard, io: ToolIo): ProcessSettings {
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const has = (name: string): boolean => last(name) !== undefined
  const { variables } = loadConfig(io.env)
  const limit = (name: string, what: string): SizeLimit | undefined => {
    const text = last(name)
    const found = text === undefined ? undefined : parseSizeLimit(text)
    if (text !== undefined && found === undefined)
      problems.push(`illegal size argument '${text}' for ${what} size`)
    return found
  }
  const number = (name: string, isFine: (n: number) => boolean, problem: (text: string) => string) => {
    const text = last(name)
    if (text === undefined) return undefined
    if (/^\d+$/.test(text) && isFine(Number(text))) return Number(text)
    problems.push(problem(text))
    return undefined
  }
  if (has('P') && standard.hosts.length > 0)
    problems.push(
      '-P and -h are mutually exclusive; use -P only when running\npmlogger on the same (local) host as the PMCD to which it connects.',
    )
  if (has('o') && standard.hosts.length > 0)
    problems.push(
      '-o and -h are mutually exclusive; use -o only when running\npmlogger on the same (local) host as the DSO PMDA(s) being used.',
    )
  for (const [name, instead] of has('farm') ? NOT_OF_FARMS : [])
    if (name === 'h' ? standard.hosts.length > 0 : has(name))
      problems.push(`${name.length > 1 ? '-' : ''}-${name} cannot be used with --farm: ${instead}`)
  const needsArchive = !has('C') && !has('farm')
  if (needsArchive && operands.length < 1 && !has('?')) problems.push('insufficient arguments')
  if (operands.length > (needsArchive ? 1 : 0) && !has('C')) problems.push('too many arguments')
  const installed = variables['PCP_ARCHIVE_VERSION'] === '2' ? 2 : 3
  const version = number(
    'V',
    (n) => n === 2 || n === 3,
    () => '-V requires a version number of 2 or 3',
  )
  const controlVersion = number(
    'I',
    (n) => n === 2 || n === 3,
    (text) =>
      /^\d+$/.test(text)
        ? `unsupported pmlc IPC version (${text})`
        : `non-numeric pmlc IPC version (${text})`,
  )
  const watchedPid = number(
    'p',
    (n) => n > 0,
    (text) => `invalid process identifier (${text})`,
  )
  const directory = last('d')
  return {
    ...defined({
      configName: last('c') === '-' ? undefined : last('c'),
      farmPath: last('farm'),
      share: shareOf(last, problems, io),
      directory: directory === undefined ? undefined : resolve(io.cwd, expandShell(directory, io)),
      labelHost: last('H'),
      note: last('m'),
      watchedPid,
      endLimit: limit('s', 'exit'),
      volumeLimit: limit('v', 'volume'),
      endAtMs: endOf(standard, problems, io),
      controlFd: number(
        'x',
        () => true,
        () => '-x requires a non-negative numeric argument',
      ),
      username: last('U'),
      credentialFile: last('credentials'),
      spoolLimits: spoolLimits(last('spool-size'), last('spool-age'), problems),
    }),
    checksOnly: has('C'),
    archive: operands[0] ?? '',
    source: has('o') ? 'local context' : (standard.hosts[0] ?? 'local:'),
    controlVersion: controlVersion ?? 3,
    logName: last('l') ?? 'pmlogger.log',
    lingers: has('L'),
    notifies: has('N'),
    isPrimary: has('P'),
    reports: has('r'),
    defaultDeltaMs: defaultDelta(last('t') ?? io.env['PMLOGGER_INTERVAL'], problems),
    syncMs: syncDelta(last('sync'), problems) ?? syncMsOf(io.env),
    version: (version ?? installed) === 2 ? 2 : 3,
    usesOwnZone: has('y'),
  }
}

/** Returns the settings of --share. */
function shareOf(
  last: (name: string) => string | undefined,
  problems: string[],
  io: ToolIo,
): ShareSettings | undefined {
  const place = last('share')
  const given = ['share', 'share-as', 'lease'].find((name) => last(name) !== undefined)
  if (given !== undefined && last('farm') === undefined)
    problems.push(`--${given} can only be used with --farm`)
  if (place === undefined) {
    if (given !== undefined) problems.push(`--${given} can only be used with --share`)
    return undefined
  }
  const name = last('share-as') ?? hostname()
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(name))
    problems.push(`illegal --share-as argument '${name}': use letters, digits, '.', '_' and '-'`)
  const lease = last('lease')
  const leaseMs = lease === undefined ? LEASE_MS : intervalMs(/^\d+$/.test(lease) ? `${lease} sec` : lease)
  if (leaseMs === undefined || leaseMs < LEASE_LIMITS_MS.least || leaseMs > LEASE_LIMITS_MS.most)
    problems.push(`illegal --lease argument '${lease}': use 0.5 seconds to 10 minutes`)
  const isUrl = /^[a-z]+:\/\//.test(place)
  return { place: isUrl ? place : resolve(io.cwd, place), name, leaseMs: leaseMs ?? LEASE_MS }
}

function defaultDelta(text: string | undefined, problems: string[]): number {
  if (text === undefined) return DEFAULT_DELTA_MS
  const ms = intervalMs(/^\d+$/.test(text) ? `${text} sec` : text)
  if (ms !== undefined) return ms
  problems.push('illegal -t argument')
  return DEFAULT_DELTA_MS
}

/** Returns the limits of a spool; undefined without options. */
function spoolLimits(
  sizeText: string | undefined,
  ageText: string | undefined,
  problems: string[],
): SpoolLimits | undefined {
  if (sizeText === undefined && ageText === undefined) return undefined
  const size = sizeText === undefined ? undefined : parseSizeLimit(sizeText)
  if (sizeText !== undefined && size?.kind !== 'bytes')
    problems.push(`illegal --spool-size argument '${sizeText}': use a number of bytes such as 500MB`)
  const age = ageText === undefined ? undefined : parseSizeLimit(ageText)
  if (ageText !== undefined && age?.kind !== 'time')
    problems.push(`illegal --spool-age argument '${ageText}': use a time such as '3 days'`)
  return {
    bytes: size?.kind === 'bytes' ? size.bytes : SPOOL_LIMITS.bytes,
    ageMs: age?.kind === 'time' ? age.ms : SPOOL_LIMITS.ageMs,
  }
}

function syncDelta(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined
  const ms = parseSync(text)
  if (ms === undefined) problems.push(`illegal --sync argument '${text}': use an interval, or 0`)
  return ms
}

/** Returns -T in milliseconds since the epoch; undefined without it. */
function endOf(standard: ParsedStandard['standard'], problems: string[], io: ToolIo): number | undefined {
  if (standard.window.finish === undefined) return undefined
  const { name, bytes } = processZone(io.env)
  try {
    const { finish } = samplingWindow(standard, undefined, makeZone(name, bytes), io)
    return finish === FOREVER ? undefined : toSeconds(finish) * 1000
  } catch (error) {
    problems.push((error as Error).message.trimEnd())
    return undefined
  }
}

/** Expands a directory with the shell, because PCP's scripts pass commands and variables in it. */
function expandShell(directory: string, io: ToolIo): string {
  if (!/[$`~*?]/.test(directory)) return directory
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  const text = execFileSync('/bin/sh', ['-c', `echo ${directory}`], {
    cwd: io.cwd,
    env: io.env,
    encoding: 'utf8',
  })
  return text.trimEnd()
}

/** Copies settings with a value, omitting undefined ones. */
function defined<T extends object>(settings: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never
}
