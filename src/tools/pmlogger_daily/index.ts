/**
 * pmlogger_daily: rotates the archives of all recorders once a day, and merges, compresses and removes old ones.
 *
 *     rotate ─► cull ─► rewrite, merge a day ─► callbacks ─► compress ─► callbacks ─► autosave
 *
 * pmlogger_daily(1). Compression and culling use exact ages, and culling removes whole archives: docs/explanation/differences.md
 */
import { rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { recover } from '../../archive-store/transaction.ts'
import { PcpError } from '../../model/errors.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { lockInstanceDir } from '../lib/admin/instance-dir.ts'
import { controlFiles, controlState, type Instance, instancesOf } from '../lib/admin/instances.ts'
import { impersonatedOwner, runAs } from '../lib/admin/owner.ts'
import { findProgram } from '../lib/admin/programs.ts'
import { openReporter, type Reporter } from '../lib/admin/reporter.ts'
import { makeStateDirs } from '../lib/admin/state-dirs.ts'
import { handleEarlyExit, parseOptions } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { autosave, prepareAutosave } from './autosave.ts'
import { compressArchives } from './compress.ts'
import { cull } from './cull.ts'
import { isDoneToday, rotateNotices, traceLog, writeStamp } from './day.ts'
import type { DirectoryJob } from './job.ts'
import { mergeArchives } from './merge.ts'
import { renewRollups } from './rollups.ts'
import { rotate } from './rotate.ts'
import { assign, OPTIONS, type Policy, policyProblem, type Settings, settingsOf } from './settings.ts'

/** Maintains the archives of all instances in the control files. Exits with status 1 after errors. */
export const tool: Tool = {
  name: 'pmlogger_daily',
  summary: 'Rotate, merge, compress and remove archives once a day',
  description: `
For every recorder in the control files: begins a new archive; removes archives older than -k; rewrites the archives of past days, if
there are rules (a file pmlogrewrite beside them, or rules for the host), and merges those of each day into YYYYMMDD; compresses
archives older than -x. Errors are in PCP_LOG_DIR/pmlogger/pmlogger_daily.log, which is empty if all is well.

Control files may set for the instances after them: $PCP_CULLAFTER, $PCP_COMPRESSAFTER, $PCP_COMPRESS, $PCP_COMPRESSREGEX;
$PCP_MERGE_CALLBACK and $PCP_COMPRESS_CALLBACK, commands called with the path of every merged or compressed archive, where each
assignment adds a command; $PCP_AUTOSAVE_DIR, the destination of finished archives, with DATEYYYY, DATEMM and DATEDD for their date.`,
  examples: [
    ['pmlogger_daily -N -V', 'Show what would be done:'],
    [
      'pmlogger_daily -k 90 -x 3 -d 50G',
      'Keep three months, compressed after three days, and at most 50 GB per host:',
    ],
  ],
  seeAlso: ['pmlogger', 'pmlogger_check', 'pmlogger_merge', 'pmlogger_rewrite', 'pmlogctl'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const settings = settingsOf(parsed, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const problem = policyProblem(settings.policy, io.env)
    if (problem !== undefined) {
      io.stderr.write(`${problem}\n`)
      return 1
    }
    const { variables } = loadConfig(io.env)
    const logDir = join(variables['PCP_LOG_DIR']!, 'pmlogger')
    if (settings.polls && isDoneToday(logDir, io)) return 0
    if (!settings.showsOnly) makeStateDirs('pmlogger', variables)
    const reporter = openReporter(io, {
      showsOnly: settings.showsOnly,
      verbosity: settings.verbosity,
      logPath: logPathOf(settings, logDir, io),
      subject: 'logging',
      warnsWithColon: true,
      locatesLockWarnings: true,
    })
    try {
      return await daily(settings, { variables, logDir, reporter, io })
    } finally {
      reporter.close()
    }
  },
}

function logPathOf(settings: Settings, logDir: string, io: ToolIo): string | undefined {
  if (settings.logPath !== undefined) return resolve(io.cwd, settings.logPath)
  if (settings.showsOnly) return undefined
  if (settings.traceDays !== undefined) return traceLog(logDir, settings.traceDays, io)
  return join(logDir, settings.onlyCompresses ? 'pmlogger_daily-K.log' : 'pmlogger_daily.log')
}

interface Run {
  readonly variables: Variables
  readonly logDir: string
  readonly reporter: Reporter
  readonly io: ToolIo
}

/** Created by packages when new agents change the metadata of their metrics; all archives are then rewritten. */
const NEED_REWRITE = '.NeedRewrite'

async function daily(asked: Settings, run: Run): Promise<number> {
  const { variables, logDir, reporter, io } = run
  const wish = join(logDir, NEED_REWRITE)
  const isWished =
    !asked.onlyCompresses &&
    asked.rewrites !== 'none' &&
    statSync(wish, { throwIfNoEntry: false }) !== undefined
  if (isWished) reporter.verbose(2, `All archives are rewritten: there is ${wish}`)
  const settings: Settings = isWished ? { ...asked, rewrites: 'all' } : asked
  const given = settings.controlPath
  const path = given === undefined ? variables['PCP_PMLOGGERCONTROL_PATH']! : resolve(io.cwd, given)
  const files = given === undefined ? controlFiles(path) : [given]
  if (!settings.onlyCompresses) {
    writeStamp(logDir, reporter, io)
    await rotateNotices(settings, run)
  }
  const state = controlState(path, { isNamed: given !== undefined, confPath: loadConfig(io.env).path })
  if (state === 'unused') {
    reporter.verbose(1, `No ${path}, and none in ${path}.d: nothing to do`)
    return 0
  }
  if (files.length === 0 || state === 'missing') {
    reporter.line(`${io.progname}: Error: cannot find control file (${given ?? path})`)
    reporter.fail()
    return 1
  }
  const begun = withReport(settings, run)
  for (const file of files) {
    let policy = begun
    const instances = instancesOf(file, {
      service: 'pmlogger',
      variables,
      hostName: hostname(),
      reporter,
      onAssigned: (assigned) => {
        policy = assign(policy, assigned, reporter)
      },
    })
    for (const instance of instances) {
      if (io.signal.aborted) return 1
      await guarded(instance, reporter, () => maintain(instance, policy, settings, run))
    }
  }
  if (isWished && reporter.showsOnly) reporter.show(`rm -f ${wish}`)
  else if (isWished) rmSync(wish, { force: true })
  return reporter.hasFailed ? 1 : 0
}

/** Adds the daily report as a callback for merged archives, if the program is installed. */
function withReport(settings: Settings, { variables, reporter }: Run): Policy {
  const { policy } = settings
  if (!settings.reports || settings.onlyCompresses) return policy
  const program = findProgram('pmlogger_daily_report', variables)
  if (program === undefined) return policy
  reporter.verbose(1, 'Add merge callback for: pmlogger_daily_report')
  return { ...policy, mergeCallbacks: [`${program} -a`, ...policy.mergeCallbacks] }
}

/** Runs an action; a failure in one directory does not affect the others. */
async function guarded(instance: Instance, reporter: Reporter, action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    reporter.error(instance.where, PcpError.from(error).message, instance.host)
  }
}

async function maintain(
  instance: Instance,
  policy: Policy,
  settings: Settings,
  { reporter, io }: Run,
): Promise<void> {
  const { isStopped } = instance.line
  if (instance.isPushed ? settings.pushed === 'not' : settings.pushed === 'only') return
  if (isStopped) return
  const { where, host } = instance
  const dir = instance.path
  const what = settings.onlyCompresses ? 'compressing PCP archives' : 'daily maintenance of PCP archives'
  reporter.verbose(1, `\n=== ${what} for host ${host} ===\n`)
  reporter.verbose(2, `Check pmlogger -h ${host} ... in ${dir} ...`)
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    reporter.error(where, `archive directory (${dir}) does not exist`, host)
    return
  }
  if (reporter.showsOnly) {
    reporter.show(`cd ${dir}`)
    reporter.show('get mutex lock')
  }
  const lock = reporter.showsOnly
    ? { release: () => {} }
    : await lockInstanceDir(join(dir, 'lock'), { reporter, where, io, variables: instance.variables })
  if (lock === undefined) return
  try {
    const logger = await rotate(instance, dir, { settings, reporter, io })
    const owner = impersonatedOwner(dir)
    const current =
      logger === undefined ? undefined : logger.archive.slice(logger.archive.lastIndexOf('/') + 1)
    await tidy({ instance, dir, settings, policy, reporter, io, owner, current })
  } finally {
    lock.release()
  }
}

/** Completes or undoes transactions of killed commands. */
async function recoverPlace({ dir, owner, reporter, instance }: DirectoryJob): Promise<void> {
  if (reporter.showsOnly) return
  try {
    await runAs(owner, () => recover(resolve(dir)))
  } catch (error) {
    reporter.error(
      instance.where,
      PcpError.from(error, 'cannot complete an interrupted transaction').message,
      instance.host,
    )
  }
}

/** Does the work of one directory. The compressing part alone (-K) often finds no files, and recovers all the same. */
async function tidy(job: DirectoryJob): Promise<void> {
  await recoverPlace(job)
  await maintainFiles(job)
  // Commands of an earlier, killed run may have ended in the meantime.
  await recoverPlace(job)
}

async function maintainFiles(job: DirectoryJob): Promise<void> {
  const { onlyCompresses } = job.settings
  if (!onlyCompresses) {
    prepareAutosave(job)
    await cull(job)
    if (!(await mergeArchives(job))) return
  }
  await compressArchives(job)
  if (!onlyCompresses) await autosave(job)
  await renewRollups(job)
}
