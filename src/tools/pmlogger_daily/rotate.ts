/** Having the recorder of a directory begin a new archive, once a day. */
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { dayName } from '../lib/admin/archive-names.ts'
import type { Instance } from '../lib/admin/instances.ts'
import { type RunningLogger, realPath, runningLoggers, until } from '../lib/admin/running.ts'
import type { Voice } from '../lib/admin/voice.ts'
import type { ToolIo } from '../lib/tool.ts'
import type { Settings } from './settings.ts'

/** Time that a recorder may take to begin its new archive. */
const ROTATION_MS = 20_000

/** The recorder of a directory, after it has begun a new archive where it should; undefined, and told, when there is none. */
export async function rotate(
  instance: Instance,
  dir: string,
  { settings, voice, io }: { settings: Settings; voice: Voice; io: ToolIo },
): Promise<RunningLogger | undefined> {
  const find = (): RunningLogger | undefined =>
    runningLoggers(instance.variables).find((logger) =>
      instance.isPrimary ? logger.isPrimary : logger.dir === realPath(dir),
    )
  const before = find()
  if (before === undefined) {
    voice.tell(2, `No ${instance.isPrimary ? 'primary' : 'non-primary'} pmlogger process(es) found`)
    voice.error(instance.where, `no pmlogger instance running for host "${instance.host}"`, instance.host)
    voice.warning(instance.where, "skipping log rotation because we don't know which pmlogger to signal")
    return undefined
  }
  voice.tell(2, `pmlogger process ${before.pid} writes ${basename(before.archive)}`)
  if (settings.onlyCompresses || !isDue(before, settings, io)) return before
  if (settings.showsOnly) {
    voice.show(`kill -USR2 ${before.pid}`)
    return before
  }
  try {
    process.kill(before.pid, 'SIGUSR2')
  } catch (error) {
    voice.error(
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
  if (!(await until(ROTATION_MS, io.signal, hasChanged)))
    voice.warning(instance.where, `pmlogger process ${before.pid} has not begun a new archive`)
  return find() ?? before
}

/** An archive of today goes on, so that running this twice a day does not make two. */
function isDue({ archive }: RunningLogger, { rotation }: Settings, io: ToolIo): boolean {
  if (rotation !== 'daily') return rotation === 'always'
  const begun = statSync(`${archive}.meta`, { throwIfNoEntry: false })?.birthtimeMs
  return begun === undefined || dayName(begun) !== dayName(io.now())
}
