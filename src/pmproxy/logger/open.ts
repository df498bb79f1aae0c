/** Opens the receiver of pushed archives. docs/reference/pmproxy.md */
import { PcpError } from '../../model/errors.ts'
import { PushReceiver } from '../../push/receiver.ts'
import { archiveAccess, makeArchiveDir } from '../../sys/archive-access.ts'
import type { Variables } from '../../sys/config.ts'
import type { Log } from '../../sys/log.ts'
import type { PushConfig } from './config.ts'
import { type PushService, Senders } from './senders.ts'

/** Milliseconds without a post until an archive's number expires, as in PCP. */
const TIMEOUT_MS = 600_000

/** Opens it; undefined if pushed archives are not enabled, or their directory is unusable, which is logged. */
export function openPush(
  config: PushConfig | undefined,
  variables: Variables,
  log: Pick<Log, 'notice'>,
): PushService | undefined {
  if (config === undefined) return undefined
  const { directory, limits, maxArchives } = config
  try {
    makeArchiveDir(directory, variables)
  } catch (error) {
    log.notice('error', `No pushed archives are accepted: ${PcpError.from(error, directory).message}`)
    return undefined
  }
  const receiver = new PushReceiver({
    directory,
    limits,
    maxArchives,
    timeoutMs: TIMEOUT_MS,
    mode: archiveAccess(directory, variables).mode,
    log: (text) => log.notice('error', text),
  })
  void receiver.recover()
  return { receiver, senders: new Senders(config, (problem) => log.notice('error', problem)) }
}
