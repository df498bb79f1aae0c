/** Makes the running collector reload its configuration, and checks whether an agent's metrics appeared or went away. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isError, PcpError } from '../../../model/errors.ts'
import type { Pmid } from '../../../model/ids.ts'
import { defaultSocketPath } from '../../../net/host-spec.ts'
import { connect } from '../../../pmapi/connect.ts'
import type { Context } from '../../../pmapi/context.ts'
import type { Variables } from '../../../sys/config.ts'

/** Counts of an agent's metrics in the collector. */
export interface MetricCounts {
  readonly metrics: number
  readonly values: number
  /** Metrics with an error instead of values. */
  readonly warnings: number
  /** Names that the collector knows neither as a metric nor as a node of the name space. */
  readonly unknown: number
}

/** What `find` waits for: `there` all names and some values, `gone` no names, `any` a short time for metrics that come and go. */
export type ExpectedState = 'there' | 'gone' | 'any'

/** The collector as the installation needs it. */
export interface CollectorControl {
  /** Makes it reload its configuration; resolves to false if none is running. Rejects if it cannot be signalled or does not come back. */
  reload(): Promise<boolean>
  /** Returns the path of the local socket if a collector answers there, with or without a PID file. */
  listeningSocket(): Promise<string | undefined>
  /** Counts the metrics with or below these names; resolves to undefined if it knows none. Waits a limited time for the expected result. */
  find(names: readonly string[], expected: ExpectedState): Promise<MetricCounts | undefined>
}

/** Time for a collector to reload, and for its agents to answer, as in PCP's scripts. */
const RELOAD_MS = 60_000
const FIND_MS = 20_000
/** Time for a starting agent to report names that come and go; it may have none. */
const ANY_MS = 5000
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 1000
/** Counts the SIGHUPs that the collector has handled; missing in a collector without its own agent. */
const HANGUPS = 'pmcd.sighups'
const UNKNOWN_COUNT = -1

/** Returns the collector of a configuration, found by its PID file and as `local:`. */
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
        throw PcpError.from(error, `Cannot signal the collector (process ${pid} of ${pidFile})`)
      }
      await until(RELOAD_MS, signal, async () => {
        if (pidIn(pidFile) === undefined)
          throw new PcpError(
            'PM_ERR_NOTCONN',
            `The collector (process ${pid}) exited while reloading its configuration`,
          )
        const now = await hangups(variables, signal)
        return now !== undefined && (before === undefined || now > before || now === UNKNOWN_COUNT)
          ? true
          : undefined
      })
      return true
    },
    listeningSocket: async () => {
      try {
        return await withContext('unix:', variables, signal, async () => defaultSocketPath(variables))
      } catch (error) {
        if (signal.aborted) throw error
        return undefined
      }
    },
    find: async (names, expected) => {
      const limit = expected === 'any' ? ANY_MS : FIND_MS
      const { found } = await until(limit, signal, async (isLast) => {
        const found = await withContext('local:', variables, signal, (context) =>
          findIn(context, names, signal),
        )
        // The collector may still be reloading, and agents need time to answer.
        return isLast || isAsExpected(found, expected) ? { found } : undefined
      })
      return found
    },
  }
}

/** Reads a PID file; returns undefined if the process does not exist. */
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

/** Returns the number of SIGHUPs handled; undefined while the collector is unreachable, UNTOLD if it has no such metric. */
async function hangups(variables: Variables, signal: AbortSignal): Promise<number | undefined> {
  try {
    return await withContext('local:', variables, signal, async (context) => {
      const [id] = await context.lookupNames([HANGUPS], { signal })
      if (id === undefined || isError(id)) return UNKNOWN_COUNT
      const { sets } = await context.fetch([id], { signal })
      return sets[0]!.status === 1 ? sets[0]!.word[0]! : UNKNOWN_COUNT
    })
  } catch (error) {
    if (signal.aborted) throw error
    return undefined // it may be restarting
  }
}

async function withContext<T>(
  host: string,
  env: Variables,
  signal: AbortSignal,
  use: (context: Context) => Promise<T>,
): Promise<T> {
  const context = await connect(host, { env, signal })
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
): Promise<MetricCounts | undefined> {
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

function isAsExpected(found: MetricCounts | undefined, expected: ExpectedState): boolean {
  if (expected === 'any') return found !== undefined
  if (expected === 'gone') return found === undefined
  return found !== undefined && found.unknown === 0 && found.warnings < found.metrics
}

/** Returns the PMIDs of the metrics that an agent currently has below a name. */
async function leavesBelow(context: Context, name: string, signal: AbortSignal): Promise<readonly Pmid[]> {
  try {
    const ids = await context.lookupNames(await context.traverse(name, { signal }), { signal })
    return ids.flatMap((id) => (isError(id) ? [] : [id]))
  } catch (error) {
    if (error instanceof PcpError && error.code === 'PM_ERR_NAME') return []
    throw error
  }
}

/** Retries until there is a result; `isLast` marks the last attempt. Rejects with PM_ERR_TIMEOUT. */
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
