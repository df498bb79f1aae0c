/** The command line of pmlogger_check and pmie_check, and the work they share. */
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { loadConfig, type Variables } from '../../../sys/config.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from '../options.ts'
import type { ToolIo } from '../tool.ts'
import { controlFiles, controlState, type Instance, instancesOf, type Service } from './instances.ts'
import { findProgram, runProgram } from './programs.ts'
import { openReporter, type Reporter } from './reporter.ts'
import { makeStateDirs } from './state-dirs.ts'

/** The parts in which the two commands differ. */
export interface CheckTarget {
  readonly service: Service
  /** What error messages report as unchanged: `logging` or `automated performance reasoning`. */
  readonly subject: string
  readonly options: OptionTable
  /** Starts or stops an instance as its control line wants; rejects with the reason of a failure. */
  readonly check: (instance: Instance, run: CheckRun) => Promise<void>
  /** Runs after all instances, failures included. */
  readonly finish?: (run: CheckRun) => Promise<void>
}

/** One run. */
export interface CheckRun {
  readonly variables: Variables
  readonly reporter: Reporter
  readonly io: ToolIo
  readonly stops: boolean
  readonly isTerse: boolean
  readonly isQuick: boolean
  /** As given by -c. */
  readonly controlPath: string | undefined
}

/** Returns the option table; `name` is the daemon, `others` are options of only one of the commands. */
export function checkOptions(name: Service, others: OptionTable['rows'] = []): OptionTable {
  return {
    synopsis: '[options]',
    operands: 'none',
    rows: [
      { heading: 'Options' },
      { short: 'c', long: 'control', arg: 'FILE', help: 'read only this control file' },
      { short: 'l', long: 'logfile', arg: 'FILE', help: 'write messages to FILE' },
      { short: 'C', help: `do nothing unless the service ${name} is enabled` },
      { short: 'N', long: 'showme', help: 'show commands without running them' },
      { short: 'p', long: 'skip-primary', help: `leave out the primary ${name}` },
      { short: 'P', long: 'only-primary', help: `only the primary ${name}` },
      ...others,
      { short: 's', long: 'stop', help: 'stop running instances instead of starting missing ones' },
      { short: 'T', long: 'terse', help: 'print fewer messages' },
      { short: 'V', long: 'verbose', help: 'show progress; repeat for more detail' },
      HELP_ROW,
    ],
  }
}

/** Runs the command. Resolves to status 1 if anything failed. */
export async function runCheck(target: CheckTarget, io: ToolIo): Promise<number> {
  const { options, service } = target
  const parsed = parseOptions(options, io)
  const { given, operands, problems } = parsed
  if (operands.length > 0) problems.push('too many arguments')
  const has = (name: string): boolean => given.some((option) => option.name === name)
  if (has('p') && has('P')) problems.push('-p and -P are mutually exclusive')
  const status = handleEarlyExit(options, parsed, io)
  if (status !== undefined) return status
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const { variables } = loadConfig(io.env)
  if (has('C') && !(await isEnabled(service, variables))) return 0
  const showsOnly = has('N')
  const log = last('l')
  const usual = join(variables['PCP_LOG_DIR']!, service, `${service}_check.log`)
  if (!showsOnly) makeStateDirs(service, variables)
  const reporter = openReporter(io, {
    showsOnly,
    verbosity: has('T') ? 0 : given.filter(({ name }) => name === 'V').length,
    logPath: log === undefined ? (showsOnly ? undefined : usual) : resolve(io.cwd, log),
    subject: target.subject,
    warnsWithColon: false,
  })
  const controlPath = last('c')
  const run = { variables, reporter, io, stops: has('s'), isTerse: has('T'), isQuick: has('q'), controlPath }
  const isWanted = ({ isPrimary }: Instance): boolean => (isPrimary ? !has('p') : !has('P'))
  try {
    return await checkAll(target, run, isWanted)
  } finally {
    reporter.close()
  }
}

async function checkAll(
  target: CheckTarget,
  run: CheckRun,
  isWanted: (instance: Instance) => boolean,
): Promise<number> {
  const { service } = target
  const { variables, reporter, io, controlPath } = run
  const path =
    controlPath ?? variables[service === 'pmie' ? 'PCP_PMIECONTROL_PATH' : 'PCP_PMLOGGERCONTROL_PATH']!
  const files = controlPath === undefined ? controlFiles(path) : [controlPath]
  const state = controlState(resolve(io.cwd, path), {
    isNamed: controlPath !== undefined,
    confPath: loadConfig(io.env).path,
  })
  if (state === 'unused') {
    reporter.verbose(1, `No ${path}, and none in ${path}.d: nothing to check`)
    return 0
  }
  if (files.length === 0 || state === 'missing') {
    reporter.line(`${io.progname}: Error: cannot find control file (${path})`)
    reporter.fail()
    return 1
  }
  reporter.verbose(2, `Start: ${new Date(io.now()).toString().slice(0, 24)}`)
  for (const file of files)
    for (const instance of instancesOf(file, { service, variables, hostName: hostname(), reporter })) {
      if (io.signal.aborted) return 1
      if (instance.line.isStopped || !isWanted(instance)) continue
      try {
        await target.check(instance, run)
      } catch (error) {
        reporter.error(instance.where, PcpError.from(error).message, instance.host)
      }
    }
  await target.finish?.(run)
  reporter.verbose(2, `End: ${new Date(io.now()).toString().slice(0, 24)}`)
  return reporter.hasFailed ? 1 : 0
}

/** Does the system start the service at boot? True without a service manager. */
async function isEnabled(service: Service, variables: Variables): Promise<boolean> {
  const program = findProgram('systemctl', variables)
  if (program === undefined || statSync('/run/systemd/system', { throwIfNoEntry: false }) === undefined)
    return true
  return (
    (await runProgram(program, ['is-enabled', '-q', service], {
      cwd: '/',
      env: variables,
      write: () => {},
    })) === 0
  )
}
