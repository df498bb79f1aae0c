/** pmlogger_check: every recorder of the control files runs, or is stopped. pmlogger_check(1) */

import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { removeLeftovers } from '../../pmlogger/run-files.ts'
import { tmpDirOf } from '../../sys/config.ts'
import { type CheckRun, checkOptions, runCheck } from '../lib/admin/check-options.ts'
import { refreshConfig } from '../lib/admin/generated.ts'
import type { Instance } from '../lib/admin/instances.ts'
import { pcpAccount } from '../lib/admin/owner.ts'
import { lockPlace, makePlace } from '../lib/admin/place.ts'
import { findProgram, runProgram } from '../lib/admin/programs.ts'
import { endProcess, type RunningLogger, realPath, runningLoggers } from '../lib/admin/running.ts'
import { startInstance } from '../lib/admin/start-daemon.ts'
import type { Tool } from '../lib/tool.ts'

const OPTIONS = checkOptions('pmlogger', [
  { short: 'q', long: 'quick', help: 'do not compress archives in the end' },
])

/** Names of archives: pmlogger fills in when it begins one. */
const ARCHIVE = '%Y%m%d.%H.%M'

/** Starts the recorders that do not run. Status 1 when something was wrong. */
export const tool: Tool = {
  name: 'pmlogger_check',
  summary: 'Start the recorders that should run and do not',
  description: `
For every line of the control files: makes the directory, looks whether a pmlogger writes there, and starts one if not. A
configuration that is missing, or that pmlogconf has made, is made anew before. In the end archives are compressed as pmlogger_daily -K
does. Run it as often as recorders may be missed for, by a timer or by cron.`,
  examples: [
    ['pmlogger_check -N -V', 'What would be started:'],
    ['pmlogger_check -s', 'Stop all recorders:'],
  ],
  seeAlso: ['pmlogger', 'pmlogger_daily', 'pmlogctl'],
  options: OPTIONS,
  endsInOrder: true,
  run: (io) => {
    const places = new Set<string>()
    return runCheck(
      {
        service: 'pmlogger',
        subject: 'logging',
        options: OPTIONS,
        check: (instance, run) => check(instance, run, places),
        finish: async (checked) => {
          if (!checked.voice.showsOnly) await removeLeftovers(checked.variables)
          await compress(checked)
        },
      },
      io,
    )
  },
}

async function check(instance: Instance, run: CheckRun, places: Set<string>): Promise<void> {
  const { voice, io, variables } = run
  const { where, host, place: dir, isPrimary } = instance
  voice.tell(2, `Checking for: pmlogger ${isPrimary ? '-P ' : ''}-h ${host} ... in ${dir} ...`)
  if (!hasPlace(instance, run)) return
  if (voice.showsOnly) voice.show(`cd ${dir}`)
  const place = realPath(dir)
  if (places.has(place)) {
    voice.error(where, `Cannot start more than one pmlogger instance for archive directory "${dir}"`, host)
    return
  }
  places.add(place)
  const lock = voice.showsOnly
    ? { release: () => {} }
    : await lockPlace(join(dir, 'lock'), { voice, where, io, variables: instance.variables })
  if (lock === undefined) return
  try {
    const find = (): RunningLogger | undefined =>
      runningLoggers(variables).find((logger) => (isPrimary ? logger.isPrimary : logger.dir === place))
    const logger = find()
    if (run.stops) await stop(instance, logger, run)
    else if (logger === undefined) await start(instance, () => find()?.pid, run)
    else if (isPrimary) voice.tell(2, `primary pmlogger process ${logger.pid} identified, OK`)
    else voice.tell(3, `pmlogger process ${logger.pid} identified, it writes ${logger.archive}`)
  } finally {
    lock.release()
  }
}

/** Makes the directory where it is missing; false when there is none. */
function hasPlace({ where, host, place: dir }: Instance, { voice, stops, variables }: CheckRun): boolean {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return true
  if (stops) return false
  if (voice.showsOnly) {
    voice.show(`mkdir -p ${dir}`)
    return true
  }
  const owner = pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
  if (!makePlace(dir, { owner, voice, variables })) {
    voice.error(where, `cannot create directory (${dir}) for PCP archive files`, host)
    return false
  }
  voice.warning(where, `creating directory (${dir}) for PCP archive files`)
  return true
}

async function stop(
  { host }: Instance,
  logger: RunningLogger | undefined,
  { voice, io }: CheckRun,
): Promise<void> {
  if (logger === undefined) return
  voice.tell(1, `Terminating pmlogger process ${logger.pid} for host "${host}"`)
  if (voice.showsOnly) voice.show(`kill -TERM ${logger.pid}`)
  else if (!(await endProcess(logger.pid, io.signal)))
    throw new Error(`pmlogger process ${logger.pid} does not end`)
}

async function start(instance: Instance, find: () => number | undefined, run: CheckRun): Promise<void> {
  const { voice } = run
  const { where, host, isPrimary, place: dir, args } = instance
  if (isPrimary && voice.verbosity >= 2) await tellMaps(run)
  if (isPrimary && !voice.showsOnly && !(await hasCollector(instance))) {
    voice.tell(1, 'pmcd not running, skip primary pmlogger')
    return
  }
  await refreshConfig(instance, {
    dir,
    voice,
    generator: {
      program: 'pmlogconf',
      folder: 'pmlogger',
      args: (path, from) => ['-c', '-q', '-h', from, path],
    },
  })
  const socks = instance.usesSocks && findProgram('pmsocks', instance.variables)
  if (instance.usesSocks && socks === undefined)
    voice.warning(where, `no pmsocks available, ${voice.showsOnly ? 'would run' : 'run'} without`)
  const command = [
    'pmlogger',
    ...(isPrimary ? ['-P'] : ['-h', host]),
    ...args,
    '-m',
    'pmlogger_check',
    ARCHIVE,
  ]
  const [program, ...rest] = typeof socks === 'string' ? ['pmsocks', ...command] : command
  const logPath = resolve(dir, logOf(args) ?? 'pmlogger.log')
  await startInstance(instance, { program: program!, args: rest, cwd: dir, logPath, find }, run)
}

/** What there is in place of the file of a primary recorder. */
async function tellMaps({ voice, variables }: CheckRun): Promise<void> {
  const dir = join(tmpDirOf(variables), 'pmlogger')
  voice.line(`${dir}/primary: missing?`)
  voice.line(`Contents of ${dir}`)
  await runProgram('/bin/ls', ['-l', dir], { cwd: '/', env: variables, write: voice.part })
}

/** The log that -l names. */
function logOf(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => arg === '-l' || arg === '--log' || /^(?:-l.|--log=)/.test(arg))
  if (at === -1) return undefined
  return /^(?:-l|--log)$/.test(args[at]!) ? args[at + 1] : args[at]!.replace(/^(?:--log=|-l)/, '')
}

/** Is there a collector on this host, or soon? */
async function hasCollector({ variables }: Instance): Promise<boolean> {
  const program = findProgram('pmcd_wait', variables)
  if (program === undefined) return true // pmlogger itself tells when there is none
  const options = { cwd: '/', env: variables, write: () => {} }
  return (await runProgram(program, ['-t', '5sec'], options)) === 0
}

/** Volumes that are full need not wait for the night. */
async function compress({ variables, voice, io, stops, isQuick, controlPath }: CheckRun): Promise<void> {
  if (stops || isQuick || voice.showsOnly) return
  const program = findProgram('pmlogger_daily', variables)
  if (program === undefined) return
  voice.tell(2, 'Doing compression ...')
  const control = controlPath === undefined ? [] : ['-c', controlPath]
  await runProgram(program, ['-K', ...control], { cwd: io.cwd, env: io.env, write: () => {} })
}
