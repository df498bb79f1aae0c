/**
 * pmlogger_daily: once a day the archives of all recorders begin anew, and the old ones are merged, compressed and removed.
 *
 *     rotate ─► cull ─► rewrite, merge a day ─► callbacks ─► compress ─► callbacks ─► autosave
 *
 * pmlogger_daily(1). Compressing and culling go by exact ages, and culling takes archives as a whole: docs/differences.md
 */
import { rmSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { recover } from '../../archive-store/transaction.ts'
import { PcpError } from '../../model/errors.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { controlFiles, type Instance, instancesOf } from '../lib/admin/instances.ts'
import { actingAs, ownerToActFor } from '../lib/admin/owner.ts'
import { lockPlace } from '../lib/admin/place.ts'
import { findProgram } from '../lib/admin/programs.ts'
import { openVoice, type Voice } from '../lib/admin/voice.ts'
import { endEarly, parseOptions } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { autosave, prepareAutosave } from './autosave.ts'
import { compressArchives } from './compress.ts'
import { cull } from './cull.ts'
import { isDoneToday, tendNotices, traceLog, writeStamp } from './day.ts'
import type { Job } from './job.ts'
import { mergeArchives } from './merge.ts'
import { rotate } from './rotate.ts'
import { assign, OPTIONS, type Policy, policyProblem, type Settings, settingsOf } from './settings.ts'

/** Looks after the archives of all instances in the control files. Status 1 when something was wrong. */
export const tool: Tool = {
  name: 'pmlogger_daily',
  summary: 'Rotate, merge, compress and remove archives once a day',
  description: `
For every recorder in the control files: it begins a new archive; archives older than -k are removed; those of each day before today
are rewritten where there are rules (a file pmlogrewrite beside them, or those of the host) and merged into YYYYMMDD; what is older
than -x is compressed. What went wrong is in PCP_LOG_DIR/pmlogger/pmlogger_daily.log, which is empty when all is well.

Control files may change for the instances below them: $PCP_CULLAFTER, $PCP_COMPRESSAFTER, $PCP_COMPRESS, $PCP_COMPRESSREGEX;
$PCP_MERGE_CALLBACK and $PCP_COMPRESS_CALLBACK, commands that get the path of every archive merged or compressed, each
assignment adding one; $PCP_AUTOSAVE_DIR, where finished archives of days go, with DATEYYYY, DATEMM and DATEDD for their date.`,
  examples: [
    ['pmlogger_daily -N -V', 'What would be done:'],
    [
      'pmlogger_daily -k 90 -x 3 -d 50G',
      'Three months, compressed after three days, and at most 50 GB a host:',
    ],
  ],
  seeAlso: ['pmlogger', 'pmlogger_check', 'pmlogger_merge', 'pmlogger_rewrite', 'pmlogctl'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const settings = settingsOf(parsed, io)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const problem = policyProblem(settings.policy, io.env)
    if (problem !== undefined) {
      io.stderr.write(`${problem}\n`)
      return 1
    }
    const { variables } = loadConfig(io.env)
    const logDir = join(variables['PCP_LOG_DIR']!, 'pmlogger')
    if (settings.polls && isDoneToday(logDir, io)) return 0
    const voice = openVoice(io, {
      showsOnly: settings.showsOnly,
      verbosity: settings.verbosity,
      logPath: logPathOf(settings, logDir, io),
      subject: 'logging',
      warnsWithColon: true,
      notesPlace: true,
    })
    try {
      return await daily(settings, { variables, logDir, voice, io })
    } finally {
      voice.close()
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
  readonly voice: Voice
  readonly io: ToolIo
}

/** What packages leave in the log directory when new agents describe their metrics in another way: all archives are rewritten. */
const NEED_REWRITE = '.NeedRewrite'

async function daily(asked: Settings, run: Run): Promise<number> {
  const { variables, logDir, voice, io } = run
  const wish = join(logDir, NEED_REWRITE)
  const isWished =
    !asked.onlyCompresses &&
    asked.rewrites !== 'none' &&
    statSync(wish, { throwIfNoEntry: false }) !== undefined
  if (isWished) voice.tell(2, `All archives are rewritten: there is ${wish}`)
  const settings: Settings = isWished ? { ...asked, rewrites: 'all' } : asked
  const given = settings.controlPath
  const path = given === undefined ? variables['PCP_PMLOGGERCONTROL_PATH']! : resolve(io.cwd, given)
  const files = given === undefined ? controlFiles(path) : [given]
  if (!settings.onlyCompresses) {
    writeStamp(logDir, voice, io)
    await tendNotices(settings, run)
  }
  if (files.length === 0 || statSync(path, { throwIfNoEntry: false }) === undefined) {
    voice.line(`${io.progname}: Error: cannot find control file (${given ?? path})`)
    voice.fail()
    return 1
  }
  const begun = withReport(settings, run)
  for (const file of files) {
    let policy = begun
    const instances = instancesOf(file, {
      service: 'pmlogger',
      variables,
      hostName: hostname(),
      voice,
      onAssigned: (assigned) => {
        policy = assign(policy, assigned, voice)
      },
    })
    for (const instance of instances) {
      if (io.signal.aborted) return 1
      await guarded(instance, voice, () => maintain(instance, policy, settings, run))
    }
  }
  if (isWished && voice.showsOnly) voice.show(`rm -f ${wish}`)
  else if (isWished) rmSync(wish, { force: true })
  return voice.hasFailed ? 1 : 0
}

/** The daily report is a callback for merged archives, where there is such a program. */
function withReport(settings: Settings, { variables, voice }: Run): Policy {
  const { policy } = settings
  if (!settings.reports || settings.onlyCompresses) return policy
  const program = findProgram('pmlogger_daily_report', variables)
  if (program === undefined) return policy
  voice.tell(1, 'Add merge callback for: pmlogger_daily_report')
  return { ...policy, mergeCallbacks: [`${program} -a`, ...policy.mergeCallbacks] }
}

/** One directory that fails does not keep the others from being looked after. */
async function guarded(instance: Instance, voice: Voice, action: () => Promise<void>): Promise<void> {
  try {
    await action()
  } catch (error) {
    voice.error(instance.where, PcpError.from(error).message, instance.host)
  }
}

async function maintain(
  instance: Instance,
  policy: Policy,
  settings: Settings,
  { voice, io }: Run,
): Promise<void> {
  const { isStopped } = instance.line
  if (instance.isPushed ? settings.pushed === 'not' : settings.pushed === 'only') return
  if (isStopped) return
  const { where, host } = instance
  const dir = instance.place
  const what = settings.onlyCompresses ? 'compressing PCP archives' : 'daily maintenance of PCP archives'
  voice.tell(1, `\n=== ${what} for host ${host} ===\n`)
  voice.tell(2, `Check pmlogger -h ${host} ... in ${dir} ...`)
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) {
    voice.error(where, `archive directory (${dir}) does not exist`, host)
    return
  }
  if (voice.showsOnly) {
    voice.show(`cd ${dir}`)
    voice.show('get mutex lock')
  }
  const lock = voice.showsOnly
    ? { release: () => {} }
    : await lockPlace(join(dir, 'lock'), { voice, where, io, variables: instance.variables })
  if (lock === undefined) return
  try {
    const logger = await rotate(instance, dir, { settings, voice, io })
    const owner = ownerToActFor(dir)
    const current =
      logger === undefined ? undefined : logger.archive.slice(logger.archive.lastIndexOf('/') + 1)
    await tidy({ instance, dir, settings, policy, voice, io, owner, current })
  } finally {
    lock.release()
  }
}

/** Completes or undoes what commands have begun that were killed. */
async function recoverPlace({ dir, owner, voice, instance }: Job): Promise<void> {
  if (voice.showsOnly) return
  try {
    await actingAs(owner, () => recover(resolve(dir)))
  } catch (error) {
    voice.error(instance.where, PcpError.from(error, 'cannot complete earlier work').message, instance.host)
  }
}

async function tidy(job: Job): Promise<void> {
  if (!job.settings.onlyCompresses) {
    await recoverPlace(job)
    prepareAutosave(job)
    cull(job)
    if (!(await mergeArchives(job))) return
  }
  await compressArchives(job)
  if (job.settings.onlyCompresses) return
  await autosave(job)
  // Commands of an earlier run that was killed may have ended meanwhile.
  await recoverPlace(job)
}
