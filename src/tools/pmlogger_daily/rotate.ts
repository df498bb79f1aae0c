/** Makes a directory's recorder begin a new archive. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { dayName } from '../lib/admin/archive-names.ts'
import type { Instance } from '../lib/admin/instances.ts'
import type { Reporter } from '../lib/admin/reporter.ts'
import { type RunningLogger, realPath, runningLoggers, waitUntil } from '../lib/admin/running.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Settings } from './settings.ts'

/** Time limit for the recorder to begin its new archive. */
const ROTATION_MS = 20_000

/** Returns the directory's recorder, after rotation if due; reports a missing one and returns undefined. */
export async function rotate(
  instance: Instance,
  dir: string,
  { settings, reporter, io }: { settings: Settings; reporter: Reporter; io: ToolIo },
): Promise<RunningLogger | undefined> {
  const find = (): RunningLogger | undefined =>
    runningLoggers(instance.variables).find((logger) =>
      instance.isPrimary ? logger.isPrimary : logger.dir === realPath(dir),
    )
  const before = find()
  if (before === undefined) {
    reporter.verbose(2, `No ${instance.isPrimary ? 'primary' : 'non-primary'} pmlogger process(es) found`)
    reporter.error(instance.where, `no pmlogger instance running for host "${instance.host}"`, instance.host)
    reporter.warning(instance.where, "skipping log rotation because we don't know which pmlogger to signal")
    return undefined
  }
  reporter.verbose(2, `pmlogger process ${before.pid} writes ${basename(before.archive)}`)
  if (settings.onlyCompresses || !isDue(before, settings, io)) return before
  if (settings.showsOnly) {
    reporter.show(`kill -USR2 ${before.pid}`)
    return before
  }
  try {
    process.kill(before.pid, 'SIGUSR2')
  } catch (error) {
    reporter.error(
      instance.where,
      PcpError.from(error, `cannot signal pmlogger process ${before.pid}`).message,
      instance.host,
    )
    return before
  }
  const hasChanged = (): boolean => {
    const now = find()
    return now !== undefined && now.archive !== before.archive
  }
  if (!(await waitUntil(ROTATION_MS, io.signal, hasChanged)))
    reporter.warning(instance.where, `pmlogger process ${before.pid} has not begun a new archive`)
  return find() ?? before
}

/** Returns whether to rotate: an archive of today continues, so that running twice a day does not create two. */
function isDue({ archive }: RunningLogger, { rotation }: Settings, io: ToolIo): boolean {
  if (rotation !== 'daily') return rotation === 'always'
  const begun = statSync(`${archive}.meta`, { throwIfNoEntry: false })?.birthtimeMs
  return begun === undefined || dayName(begun) !== dayName(io.now())
}
