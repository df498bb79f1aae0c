/** Evaluates the alert rules of `npm start` on its own collector. docs/reference/alerts.md */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { DEFAULT_RULES } from '../alerts/default-rules.ts'
import { rulesText } from '../alerts/rule.ts'
import { type AlertTimes, AlertTracker, alertTimes } from '../alerts/tracker.ts'
import { PcpError } from '../model/errors.ts'
import { SYSTEM_CLOCK } from '../pmapi/clock.ts'
import { connect } from '../pmapi/connect.ts'
import { liveHosts } from '../pmie/hosts.ts'
import { runLive } from '../pmie/live-run.ts'
import type { MetricFeed } from '../rules/host.ts'
import { loadRules } from '../rules/load.ts'
import type { Reporter } from '../rules/problems.ts'
import type { NamedStatement, RuleFile } from '../rules/program.ts'
import type { EvaluatedStatement } from '../rules/statement.ts'
import type { Task } from '../rules/task.ts'
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
  const { file, isDefault } = ruleFile(place)
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
  if (rules.errors > 0) say(`alerts: errors in ${file.name}: see ${logPath}`)
  if (count === 0) {
    await close()
    throw new PcpError('EINVAL', `no valid rule in ${file.name}`)
  }
  const { tasks } = rules
  const record = recordAlerts(new AlertLog(alertLogPath(place)), { tasks, isDefault }, reporter)
  const run = runLive(rules, {
    ...{ hosts, reporter, signal },
    open: () => connect(spec, { env: variables, signal }),
    clock: SYSTEM_CLOCK,
    now: Date.now,
    lengthSec: Number.POSITIVE_INFINITY,
    file: file.name,
    perform: () => true,
    report: record,
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
function ruleFile(place: StartDirectories): {
  readonly file: RuleFile & { readonly name: string }
  readonly isDefault: boolean
} {
  const own = join(place.variables['PCP_SYSCONF_DIR']!, OWN_RULES)
  try {
    return { file: { name: own, text: readFileSync(own, 'utf8') }, isDefault: false }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw PcpError.from(error, own)
    return { file: { name: 'the default rules', text: rulesText(DEFAULT_RULES) }, isDefault: true }
  }
}

/** Rules whose alerts are recorded. */
export interface RecordedRules {
  readonly tasks: readonly EvaluatedTask[]
  /** Are they the default ones? */
  readonly isDefault: boolean
}

/** A task, as far as alerts need it. */
export interface EvaluatedTask extends Pick<Task, 'deltaSec'> {
  readonly hosts: readonly {
    readonly feeds: readonly unknown[]
    readonly ready: { readonly feeds: readonly Pick<MetricFeed, 'set'>[] }
  }[]
  readonly statements: readonly (Pick<EvaluatedStatement, 'name' | 'reasons'> &
    Pick<NamedStatement, 'fetches'>)[]
}

/**
 * Returns a function that writes the alerts of a task, to be called after each of its evaluations, at a time in seconds since the epoch.
 * Alerts follow the conditions and not the actions, which may be held off or belong to `otherwise`. A failing disk is logged, and must
 * not end the evaluation.
 */
export function recordAlerts(
  log: AlertLog,
  { tasks, isDefault }: RecordedRules,
  reporter: Pick<Reporter, 'log'>,
  now: () => number = Date.now,
): (task: EvaluatedTask, sec: number) => void {
  const ours = isDefault ? DEFAULT_RULES : []
  const low = new Set(ours.filter(({ isLow }) => isLow === true).map(({ name }) => name))
  // Such an instance, as that of a load average, adds nothing to the rule.
  const ofOneInstance = new Set(
    ours.filter(({ condition }) => !condition.startsWith('some_inst')).map(({ name }) => name),
  )
  const times = timesByRule(tasks)
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
  let before: ReturnType<AlertLog['takeActive']> = { active: [], activeSec: startSec }
  const longestDeltaSec = Math.max(0, ...tasks.map(({ deltaSec }) => deltaSec))
  attempt(() => (before = log.takeActive(startSec, isDefault, longestDeltaSec)))
  const tracker: AlertTracker = new AlertTracker(
    {
      ...before,
      isDefault,
      onAlert: (alert) => attempt(() => log.append(alert, tracker.active)),
      isLow: (rule) => low.has(rule),
      timesOf: (rule) => times.get(rule) ?? alertTimes(DEFAULT_DELTA_SEC, 1),
    },
    startSec,
  )
  return (task, sec) => {
    const { statements } = task
    const names = new Set(statements.map(({ name }) => name))
    // A rule that was removed since the last start is cleared with any task.
    const isOf = (rule: string): boolean => names.has(rule) || !times.has(rule)
    if (!hasValues(task)) {
      tracker.interrupted(isOf, sec)
      return
    }
    for (const { name, reasons } of statements) {
      const bindings = reasons?.()
      if (bindings === undefined) continue
      const fired = bindings.map(({ instance = '', value }) => ({
        instance: ofOneInstance.has(name) ? '' : instance,
        value: newestOf(value),
      }))
      // A rule about no metric in particular is true without bindings.
      tracker.fired(name, fired.length > 0 ? fired : [{ instance: '', value: null }], sec)
    }
    tracker.clear(isOf, sec)
    attempt(() => {
      log.touch(sec)
      log.keepWorst(tracker.active)
    })
  }
}

function timesByRule(tasks: readonly EvaluatedTask[]): Map<string, AlertTimes> {
  const times = new Map<string, AlertTimes>()
  for (const { deltaSec, statements } of tasks)
    for (const { name, fetches } of statements)
      times.set(name, alertTimes(deltaSec, 1 + Math.max(0, ...fetches.map(({ to }) => to))))
  return times
}

/** Returns whether a host answered with values, if the task needs any. A metric without instances is answered too. */
function hasValues({ hosts }: EvaluatedTask): boolean {
  const isAnswered = hosts.some(({ ready }) => ready.feeds.some(({ set }) => (set?.status ?? -1) >= 0))
  return isAnswered || hosts.every(({ feeds }) => feeds.length === 0)
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
