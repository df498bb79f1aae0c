/** Evaluates the alert rules of `npm start` on its own collector. docs/reference/alerts.md */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DEFAULT_RULES } from '../alerts/default-rules.ts'
import { rulesText } from '../alerts/rule.ts'
import { AlertTracker } from '../alerts/tracker.ts'
import { PcpError } from '../model/errors.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import { connect } from '../pmapi/connect.ts'
import { liveHosts } from '../pmie/hosts.ts'
import { runLive } from '../pmie/live-run.ts'
import type { Firing } from '../rules/actions.ts'
import { loadRules } from '../rules/load.ts'
import type { Reporter } from '../rules/problems.ts'
import type { RuleFile } from '../rules/program.ts'
import type { Log } from '../sys/log.ts'
import { makeDir } from '../sys/make-dir.ts'
import { UTC } from '../time/zone.ts'
import { AlertLog } from './alert-log.ts'
import { ownCollectorSpec } from './collector-spec.ts'
import { alertLogPath, type StartDirectories } from './directories.ts'
import { openPartLog } from './part-log.ts'
import type { CollectorAddress } from './parts.ts'
import type { StartOptions } from './settings.ts'

/** Options of `startAlerts`. */
export interface AlertsSetup {
  readonly collector: CollectorAddress
  readonly place: StartDirectories
  readonly options: StartOptions
  /** Environment and pcp.conf variables. */
  readonly variables: Readonly<Record<string, string>>
  /** Prints a line for the user. */
  readonly say: (line: string) => void
}

/** Running rules. */
export interface RunningAlerts {
  /** Number of rules. */
  readonly rules: number
  /** Stops the evaluation. Active alerts stay active: they continue with the next start. */
  close(): Promise<void>
}

/** Rules of the user, in the directory of settings, that replace the default ones. */
const OWN_RULES = join('pmie', 'config.default')
const DEFAULT_DELTA_SEC = 10

/** Starts the evaluation. Rejects with a PcpError if the user's rules cannot be read or contain no rule. */
export async function startAlerts(setup: AlertsSetup): Promise<RunningAlerts> {
  const { place, variables, options, say } = setup
  const file = ruleFile(place)
  const logPath = join(dirname(alertLogPath(place)), 'pmie.log')
  makeDir(dirname(logPath))
  const log = openPartLog(logPath, { progname: 'pmie', host: hostname() }, options)
  const stop = new AbortController()
  const { signal } = stop
  const reporter = reporterOf(log)
  const spec = ownCollectorSpec(setup)
  const hosts = await liveHosts(spec, () => connect(spec, { env: variables, signal }), reporter, signal)
  const close = async (): Promise<void> => {
    await hosts.close()
    log.close()
  }
  const rules = await loadRules([file], DEFAULT_DELTA_SEC, {
    ...{ hosts, reporter, signal },
    zone: UTC,
    showsPlaces: true,
  })
  const count = rules.tasks.reduce((sum, { size }) => sum + size, 0)
  if (rules.errors > 0) say(`alerts: errors in ${file.name ?? 'the rules'}: see ${logPath}`)
  if (count === 0) {
    await close()
    throw new PcpError('EINVAL', `no valid rule in ${file.name}`)
  }
  const record = recordAlerts(new AlertLog(alertLogPath(place)), reporter)
  const run = runLive(rules, {
    ...{ hosts, reporter, signal },
    open: () => connect(spec, { env: variables, signal }),
    clock: SYSTEM_CLOCK,
    now: Date.now,
    lengthSec: Number.POSITIVE_INFINITY,
    file: file.name ?? '',
    perform: record.perform,
    report: (_, sec) => record.evaluated(sec),
    flush: async () => {},
    reconnectTimeouts: [],
    onCounts: () => {},
  })
  // Without evaluation this part has no purpose: it ends, and is restarted.
  run.catch((error) => {
    reporter.log('error', `evaluation failed: ${PcpError.from(error).message}`)
    process.exit(1)
  })
  return {
    rules: count,
    close: async () => {
      stop.abort()
      await run
      await close()
    },
  }
}

/** Returns the user's own rules if there are any, else ours. */
function ruleFile(place: StartDirectories): RuleFile {
  const own = join(place.variables['PCP_SYSCONF_DIR']!, OWN_RULES)
  try {
    return { name: own, text: readFileSync(own, 'utf8') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw PcpError.from(error, own)
    return { name: undefined, text: rulesText(DEFAULT_RULES) }
  }
}

/** Writes firings as alerts. A failing disk is logged, and must not end the evaluation. */
export function recordAlerts(
  log: AlertLog,
  reporter: Pick<Reporter, 'log'>,
  now: () => number = Date.now,
): { readonly perform: (firing: Firing) => true; readonly evaluated: (sec: number) => void } {
  const low = new Set(DEFAULT_RULES.filter(({ isLow }) => isLow === true).map(({ name }) => name))
  // Such an instance, as that of a load average, adds nothing to the rule.
  const ofOneInstance = new Set(
    DEFAULT_RULES.filter(({ condition }) => !condition.startsWith('some_inst')).map(({ name }) => name),
  )
  let hasFailed = false
  const attempt = (act: () => void): void => {
    try {
      act()
      hasFailed = false
    } catch (error) {
      if (!hasFailed) reporter.log('error', `cannot write the alert log: ${PcpError.from(error).message}`)
      hasFailed = true
    }
  }
  const startSec = now() / 1000
  let active: ReturnType<AlertLog['takeActive']> = []
  attempt(() => (active = log.takeActive(startSec)))
  const tracker: AlertTracker = new AlertTracker(
    {
      active,
      onAlert: (alert) => attempt(() => log.append(alert, tracker.active)),
      isLow: (rule) => low.has(rule),
    },
    startSec,
  )
  return {
    perform: ({ rule, sec, bindings }) => {
      const fired = bindings.map(({ instance = '', value }) => ({
        instance: ofOneInstance.has(rule) ? '' : instance,
        value: newestOf(value),
      }))
      // A rule about no metric in particular is true without bindings.
      tracker.fired(rule, fired.length > 0 ? fired : [{ instance: '', value: null }], sec)
      return true
    },
    evaluated: (sec) => {
      tracker.clear(sec)
      attempt(() => log.touch(sec))
    },
  }
}

/** Returns the newest of the values in pmie's text for %v. */
function newestOf(text: string): number | null {
  const value = Number(text.split(' ', 1)[0] || Number.NaN)
  return Number.isFinite(value) ? value : null
}

function reporterOf(log: Log): Reporter {
  return {
    print: (line) => log.line(line),
    log: (level, text) => log.notice(level, text),
  }
}
