/** The command line of pmlogger_check and pmie_check, and what both do for every instance. */
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { loadConfig, type Variables } from '../../../sys/config.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions } from '../options.ts'
import type { ToolIo } from '../tool.ts'
import { controlFiles, type Instance, instancesOf, type Service } from './instances.ts'
import { findProgram, runProgram } from './programs.ts'
import { openVoice, type Voice } from './voice.ts'

/** What is checked. */
export interface CheckTarget {
  readonly service: Service
  /** What stays unchanged when something is wrong. */
  readonly subject: string
  readonly options: OptionTable
  /** Starts or stops what has to be; rejects with what was wrong. */
  readonly check: (instance: Instance, run: CheckRun) => Promise<void>
  /** Afterwards, when everything went well or not. */
  readonly finish?: (run: CheckRun) => Promise<void>
}

/** One run. */
export interface CheckRun {
  readonly variables: Variables
  readonly voice: Voice
  readonly io: ToolIo
  readonly stops: boolean
  readonly isTerse: boolean
  readonly isQuick: boolean
  /** As given by -c. */
  readonly controlPath: string | undefined
}

/** The command line; `name` is that of the daemon, `others` are options of one of the commands alone. */
export function checkOptions(name: Service, others: OptionTable['rows'] = []): OptionTable {
  return {
    synopsis: '[options]',
    operands: 'none',
    rows: [
      { heading: 'Options' },
      { short: 'c', long: 'control', arg: 'FILE', help: 'read this control file, and no other' },
      { short: 'l', long: 'logfile', arg: 'FILE', help: 'write messages there' },
      { short: 'C', help: `do nothing where the service ${name} is not enabled` },
      { short: 'N', long: 'showme', help: 'show what would be done, and do nothing' },
      { short: 'p', long: 'skip-primary', help: `leave out the primary ${name}` },
      { short: 'P', long: 'only-primary', help: `only the primary ${name}` },
      ...others,
      { short: 's', long: 'stop', help: 'stop what runs instead of starting what does not' },
      { short: 'T', long: 'terse', help: 'say less' },
      { short: 'V', long: 'verbose', help: 'say what is done; more often for more' },
      HELP_ROW,
    ],
  }
}

/** Runs the command. Status 1 when something was wrong. */
export async function runCheck(target: CheckTarget, io: ToolIo): Promise<number> {
  const { options, service } = target
  const parsed = parseOptions(options, io)
  const { given, operands, problems } = parsed
  if (operands.length > 0) problems.push('too many arguments')
  const has = (name: string): boolean => given.some((option) => option.name === name)
  if (has('p') && has('P')) problems.push('-p and -P are mutually exclusive')
  const status = endEarly(options, parsed, io)
  if (status !== undefined) return status
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const { variables } = loadConfig(io.env)
  if (has('C') && !(await isEnabled(service, variables))) return 0
  const showsOnly = has('N')
  const log = last('l')
  const usual = join(variables['PCP_LOG_DIR']!, service, `${service}_check.log`)
  const voice = openVoice(io, {
    showsOnly,
    verbosity: has('T') ? 0 : given.filter(({ name }) => name === 'V').length,
    logPath: log === undefined ? (showsOnly ? undefined : usual) : resolve(io.cwd, log),
    subject: target.subject,
    warnsWithColon: false,
  })
  const controlPath = last('c')
  const run = { variables, voice, io, stops: has('s'), isTerse: has('T'), isQuick: has('q'), controlPath }
  const isWanted = ({ isPrimary }: Instance): boolean => (isPrimary ? !has('p') : !has('P'))
  try {
    return await checkAll(target, run, isWanted)
  } finally {
    voice.close()
  }
}

async function checkAll(
  target: CheckTarget,
  run: CheckRun,
  isWanted: (instance: Instance) => boolean,
): Promise<number> {
  const { service } = target
  const { variables, voice, io, controlPath } = run
  const path =
    controlPath ?? variables[service === 'pmie' ? 'PCP_PMIECONTROL_PATH' : 'PCP_PMLOGGERCONTROL_PATH']!
  const files = controlPath === undefined ? controlFiles(path) : [controlPath]
  if (files.length === 0 || statSync(resolve(io.cwd, path), { throwIfNoEntry: false }) === undefined) {
    voice.line(`${io.progname}: Error: cannot find control file (${path})`)
    voice.fail()
    return 1
  }
  voice.tell(2, `Start: ${new Date(io.now()).toString().slice(0, 24)}`)
  for (const file of files)
    for (const instance of instancesOf(file, { service, variables, hostName: hostname(), voice })) {
      if (io.signal.aborted) return 1
      if (instance.line.isStopped || !isWanted(instance)) continue
      try {
        await target.check(instance, run)
      } catch (error) {
        voice.error(instance.where, PcpError.from(error).message, instance.host)
      }
    }
  await target.finish?.(run)
  voice.tell(2, `End: ${new Date(io.now()).toString().slice(0, 24)}`)
  return voice.hasFailed ? 1 : 0
}

/** Is the service to be started with the system? Without a service manager it is. */
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
