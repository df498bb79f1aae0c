/** The running collector: telling it that its configuration changed, and whether an agent's metrics came or went. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isError, PcpError } from '../../../model/errors.ts'
import type { Pmid } from '../../../model/ids.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { Context } from '../../../pmapi/context.ts'
import type { Variables } from '../../../sys/config.ts'

/** What was found of the metrics of an agent. */
export interface Found {
  readonly metrics: number
  readonly values: number
  /** Metrics that have an error in place of values. */
  readonly warnings: number
  /** Names that the collector does not know, and has none below. */
  readonly unknown: number
}

/** What is waited for: that all are known and some have values, that none is known, or a moment for any, as they come and go. */
export type Expected = 'there' | 'gone' | 'any'

/** What installing asks of a collector. */
export interface CollectorControl {
  /** Makes it read its configuration again; false when none is running. Rejects when it cannot be told, or does not come back. */
  reload(): Promise<boolean>
  /**
   * The metrics of these names, and below them; undefined when it knows none. Waits a while for what is expected.
   */
  find(names: readonly string[], expected: Expected): Promise<Found | undefined>
}

/** As PCP's scripts: the time a collector may take to read its configuration, and to have its agents answer. */
const RELOAD_MS = 60_000
const FIND_MS = 20_000
/** An agent that is starting has this long to tell names that come and go; then it may have none. */
const ANY_MS = 5000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 1000
/** Counts the signals that the collector has obeyed; a collector without its own agent has no such metric. */
const HANGUPS = 'pmcd.sighups'
const UNTOLD = -1

/** The collector that the configuration's variables lead to: by its PID file, and as `local:`. */
export function runningCollector(variables: Variables, signal: AbortSignal): CollectorControl {
  const pidFile = join(variables['PCP_RUN_DIR']!, 'pmcd.pid')
  return {
    reload: async () => {
      const pid = pidIn(pidFile)
      if (pid === undefined) return false
      const before = await hangups(variables, signal)
      try {
        process.kill(pid, 'SIGHUP')
      } catch (error) {
        throw PcpError.from(error, `Cannot tell the collector (process ${pid} of ${pidFile})`)
      }
      await until(RELOAD_MS, signal, async () => {
        if (pidIn(pidFile) === undefined)
          throw new PcpError(
            'PM_ERR_NOTCONN',
            `The collector (process ${pid}) ended when it read its configuration`,
          )
        const now = await hangups(variables, signal)
        return now !== undefined && (before === undefined || now > before || now === UNTOLD)
          ? true
          : undefined
      })
      return true
    },
    find: async (names, expected) => {
      const limit = expected === 'any' ? ANY_MS : FIND_MS
      const { found } = await until(limit, signal, async (isLast) => {
        const found = await withContext(variables, signal, (context) => findIn(context, names, signal))
        // A collector may be in the middle of reading its configuration, and agents take a moment until they answer.
        return isLast || isAsExpected(found, expected) ? { found } : undefined
      })
      return found
    },
  }
}

/** The process that the file names, if it is there. */
function pidIn(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8').trim())
    if (!Number.isInteger(pid) || pid < 2) return undefined
    process.kill(pid, 0)
    return pid
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    if (code === 'EPERM') return Number(readFileSync(file, 'utf8').trim())
    throw error
  }
}

/** How often it has been told; undefined while it cannot be asked, and UNTOLD when it does not say. */
async function hangups(variables: Variables, signal: AbortSignal): Promise<number | undefined> {
  try {
    return await withContext(variables, signal, async (context) => {
      const [id] = await context.lookupNames([HANGUPS], { signal })
      if (id === undefined || isError(id)) return UNTOLD
      const { sets } = await context.fetch([id], { signal })
      return sets[0]!.status === 1 ? sets[0]!.word[0]! : UNTOLD
    })
  } catch (error) {
    if (signal.aborted) throw error
    return undefined // it may be about to come back
  }
}

async function withContext<T>(
  env: Variables,
  signal: AbortSignal,
  use: (context: Context) => Promise<T>,
): Promise<T> {
  const context = await connect('local:', { env, signal })
  try {
    return await use(context)
  } finally {
    await context.close()
  }
}

async function findIn(
  context: Context,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Found | undefined> {
  const known = new Set<Pmid>()
  let unknown = 0
  const outcomes = await context.lookupNames(names, { signal })
  for (const [i, id] of outcomes.entries()) {
    if (!isError(id)) known.add(id)
    else {
      const leaves = await leavesBelow(context, names[i]!, signal)
      for (const leaf of leaves) known.add(leaf)
      if (leaves.length === 0) unknown++
    }
  }
  const ids = [...known]
  if (ids.length === 0) return undefined
  const { sets } = await context.fetch(ids, { signal })
  return {
    metrics: ids.length,
    values: sets.reduce((sum, { status }) => sum + Math.max(0, status), 0),
    warnings: sets.filter(({ status }) => status < 0).length,
    unknown,
  }
}

function isAsExpected(found: Found | undefined, expected: Expected): boolean {
  if (expected === 'any') return found !== undefined
  if (expected === 'gone') return found === undefined
  return found !== undefined && found.unknown === 0 && found.warnings < found.metrics
}

/** PMIDs of the metrics that an agent has below a name now. */
async function leavesBelow(context: Context, name: string, signal: AbortSignal): Promise<readonly Pmid[]> {
  try {
    const ids = await context.lookupNames(await context.traverse(name, { signal }), { signal })
    return ids.flatMap((id) => (isError(id) ? [] : [id]))
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_NAME') return []
    throw error
  }
}

/** Tries until there is a result; the last time is announced. PM_ERR_TIMEOUT when there never is. */
async function until<T>(
  limitMs: number,
  signal: AbortSignal,
  attempt: (isLast: boolean) => Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + limitMs
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(LONGEST_PAUSE_MS, wait * 2)) {
    const isLast = Date.now() + wait >= deadline
    const result = await attempt(isLast)
    if (result !== undefined) return result
    if (isLast)
      throw new PcpError('PM_ERR_TIMEOUT', `The collector did not answer within ${limitMs / 1000} seconds`)
    await pause(wait, undefined, { signal })
  }
}
