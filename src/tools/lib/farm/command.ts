/** The command line of pmlogctl and pmiectl, and their lock. */
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { loadConfig } from '../../../sys/config.ts'
import { type FileLock, holderOf, takeLock } from '../../../sys/file-lock.ts'
import { makeDir } from '../../../sys/make-dir.ts'
import { splitWords } from '../admin/shell-words.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, type ParsedOptions, parseOptions } from '../options.ts'
import type { ToolIo } from '../tool.ts'
import { ACTIONS, applyToAll } from './change.ts'
import { createAll, createWhereWanted } from './create.ts'
import { readFarm } from './farm-files.ts'
import type { FarmKind } from './kinds.ts'
import { beginRun, type FarmOptions, type FarmRun } from './run.ts'
import { selectInstances } from './selection.ts'
import { primaryServiceState } from './service-manager.ts'
import { statusTable } from './status.ts'

/** Returns the option table. */
export function farmOptions({ service, checker }: FarmKind): OptionTable {
  return {
    synopsis: '[options] create|cond-create|start|stop|restart|check|status|destroy [host ...]',
    operands: 'host',
    rows: [
      { heading: 'Options' },
      { short: 'a', long: 'all', help: 'all instances of a host with several ones' },
      { short: 'c', long: 'class', arg: 'NAME', kind: 'none', help: 'instances of this class' },
      { short: 'C', long: 'checkargs', arg: 'ARGS', kind: 'none', help: `arguments for ${checker}` },
      { short: 'f', long: 'force', help: 'destroy even if the class has no policy' },
      { short: 'i', long: 'ident', arg: 'IDENT', kind: 'none', help: 'name of the instance to create' },
      { short: 'm', long: 'migrate', help: `create, check: move processes to the service ${service}_farm` },
      { short: 'N', long: 'showme', help: 'show commands without running them' },
      { short: 'p', long: 'policy', arg: 'FILE', help: 'policy of the class' },
      { short: 'V', long: 'verbose', help: 'show progress; twice for more detail' },
      HELP_ROW,
    ],
  }
}

/** Runs pmlogctl or pmiectl. */
export async function runFarm(kind: FarmKind, options: OptionTable, io: ToolIo): Promise<number> {
  const parsed = parseOptions(options, io)
  const [command, ...hosts] = parsed.operands
  const asksForHelp = parsed.given.some(({ option }) => option.long === 'help')
  if (command === undefined && parsed.problems.length === 0 && !asksForHelp)
    parsed.problems.push('a command is missing')
  const early = handleEarlyExit(options, parsed, io)
  if (early !== undefined) return early
  const wanted = optionsFrom(parsed)
  const { variables } = loadConfig(io.env)
  const run = beginRun({ kind, variables, hostName: hostname() }, wanted, io)
  try {
    return await perform(command!, hosts, run)
  } catch (error) {
    if (!(error instanceof PcpError) && (error as { code?: unknown }).code === undefined) throw error
    run.error(messageOf(error))
    return 1
  } finally {
    run.scratch.close()
  }
}

/** Returns Node's message without the code before it and the system call after it. */
function messageOf(error: unknown): string {
  const { path } = error as { path?: unknown }
  const { text, message } = PcpError.from(error)
  return error instanceof PcpError || typeof path !== 'string' ? message : `${path}: ${text}`
}

function optionsFrom({ given }: ParsedOptions): FarmOptions {
  const has = (name: string): boolean => given.some((option) => option.name === name)
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  return {
    isAll: has('a'),
    className: last('c'),
    checkArgs: given.filter(({ name }) => name === 'C').flatMap(({ value }) => splitWords(value)),
    isForced: has('f'),
    ident: last('i'),
    migrates: has('m'),
    showsOnly: has('N'),
    policyPath: last('p'),
    verbosity: given.filter(({ name }) => name === 'V').length,
  }
}

async function perform(command: string, hosts: readonly string[], run: FarmRun): Promise<number> {
  const { error, ident, showsOnly } = run
  const isCreation = command === 'create' || command === 'cond-create'
  if (!isCreation && command !== 'status' && ACTIONS[command] === undefined) {
    error(`command "${command}" not known`)
    return 1
  }
  if (ident !== undefined && !isCreation) {
    error('-i option may only be used with create or cond-create commands')
    return 1
  }
  if (command === 'status') return status(hosts, run)
  if (!showsOnly && process.geteuid?.() !== 0) {
    error('you must be root (uid 0) to change the Performance Co-Pilot logger setup')
    return 1
  }
  const lock = showsOnly ? undefined : await lockFarm(run)
  if (lock === undefined && !showsOnly) return 1
  try {
    if (command === 'create') return await createAll(hosts, run)
    if (command === 'cond-create') return await createWhereWanted(hosts, run)
    return await applyToAll(command, hosts, run)
  } finally {
    lock?.release()
    if (lock !== undefined) run.verbose(2, 'Lock released')
  }
}

async function status(hosts: readonly string[], run: FarmRun): Promise<number> {
  const { kind, variables, className, warn, io, verbosity } = run
  const all = readFarm(run)
  const chosen = selectInstances(all, { kind, className, hosts }, warn)
  if (all.length === 0) return 0
  const state = await primaryServiceState(kind.service, variables)
  const running = kind.running(variables)
  const options = { kind, running, isVerbose: verbosity > 0, primaryState: () => state }
  io.stdout.write(statusTable(chosen.length === 0 ? all : chosen, options))
  return 0
}

/** Longest wait for another command's lock. */
const LOCK_MS = 10_000

/** Takes the lock. If another command holds it, reports that and resolves to undefined. */
async function lockFarm(run: FarmRun): Promise<FileLock | undefined> {
  const { kind, variables, io, warn, error, verbose } = run
  const path = join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', kind.service, 'lock')
  makeDir(dirname(path), 0o755)
  const list = (): void => {
    const { spawnSync } = process.getBuiltinModule('node:child_process')
    io.stdout.write(spawnSync('/bin/ls', ['-l', path], { encoding: 'utf8' }).stdout ?? '')
  }
  const options = {
    limitMs: LOCK_MS,
    nowMs: io.now,
    signal: io.signal,
    onStale: (why: string) => {
      const pid = holderOf(path)?.split(':').at(-1)
      warn(pid === undefined ? why : `${why} (PID ${pid})`)
      list()
    },
  }
  const lock = await takeLock(path, options)
  if (lock !== undefined) {
    verbose(2, `Lock acquired: ${path}`)
    return lock
  }
  warn(`is another ${kind.command} job running concurrently?`)
  list()
  error(`failed to acquire exclusive lock (${path}) ...`)
  return undefined
}
