/** pmie on collectors: connections, log, signals, statistics. */

import { toSeconds } from '../../base/timestamp.ts'
import { serviceAccount, switchToAccount } from '../../net/access/account.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import { sendWhoami } from '../../pmapi/whoami.ts'
import { type LiveHosts, liveHosts, type OpenHost } from '../../pmie/hosts.ts'
import { openLiveActions } from '../../pmie/live-actions.ts'
import { runLive } from '../../pmie/live-run.ts'
import { openStatistics } from '../../pmie/statistics.ts'
import { openSummary } from '../../pmie/summary.ts'
import { type LoadedRules, loadRules } from '../../rules/load.ts'
import type { Reporter } from '../../rules/problems.ts'
import type { RuleFile } from '../../rules/program.ts'
import type { Task } from '../../rules/task.ts'
import { loadConfig, tmpDirOf } from '../../sys/config.ts'
import { logOnFd } from '../../sys/log.ts'
import { notifyReady } from '../../sys/service-files.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { ownBinDir } from '../lib/own-program.ts'
import { loadNames, openContext } from '../lib/source.ts'
import type { StandardOptions } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type SamplingWindow, samplingWindow } from '../lib/window.ts'
import { archiveZone, reportingZone } from '../lib/zone.ts'
import { messageServer } from './message-server.ts'
import type { PmieSettings } from './options.ts'
import { openOutput, type RunOutput } from './output.ts'
import { readRuleFiles } from './sources.ts'

const DEFAULT_DELTA_SEC = 10

/** Runs rules on collectors until the time window ends. Resolves to the exit status. */
export async function runLiveTool(
  names: readonly string[],
  standard: StandardOptions,
  wanted: PmieSettings,
  io: ToolIo,
): Promise<number> {
  const files = await readRuleFiles(names, io)
  // Unlike a collector, an unreadable name space will not recover.
  if (standard.namespace !== undefined) loadNames(standard.namespace, io)
  const { logName, isJoined, isDaemon, isPrimary } = wanted
  // In agent mode, standard output carries only PDUs.
  const output = openOutput({ logName, isJoined: isJoined || isDaemon || wanted.feeds === 'agent' }, io)
  let hosts: LiveHosts | undefined
  try {
    becomeServiceAccount(wanted, io)
    if (logName !== undefined) {
      const note = isPrimary ? ' [primary]' : ''
      output.reporter.print(`pmie: PID = ${process.pid}, via ${standard.hosts[0] ?? 'local:'}${note}\n`)
    }
    const open = openerOf(standard, io)
    const { reporter } = output
    const notice: Reporter['log'] = (level, text) => {
      if (level !== 'info' || !wanted.isQuiet) reporter.log(level, text)
    }
    const quiet = { ...output, reporter: { ...reporter, log: notice } }
    hosts = await liveHosts(standard.hosts[0], open, quiet.reporter, io.signal)
    return await run(files, standard, wanted, { hosts, open, output: quiet, io })
  } finally {
    await hosts?.close()
    output.close()
  }
}

interface Run {
  readonly hosts: LiveHosts
  readonly open: OpenHost
  readonly output: RunOutput
  readonly io: ToolIo
}

async function run(
  files: readonly RuleFile[],
  standard: StandardOptions,
  wanted: PmieSettings,
  { hosts, open, output, io }: Run,
): Promise<number> {
  const { reporter } = output
  const zone = await zoneOf(standard, hosts, output, io)
  await output.flush()
  const window = samplingWindow(standard, undefined, zone, io)
  const deltaSec = window.interval === undefined ? DEFAULT_DELTA_SEC : toSeconds(window.interval)
  const showsPlaces = wanted.checksOnly || (io.stderr.isTerminal && output.logName === '')
  const rules = await loadRules(files, deltaSec, {
    hosts,
    reporter,
    zone,
    signal: io.signal,
    showsPlaces,
    feeds: wanted.feeds,
    wraps: io.env['PCP_COUNTER_WRAP'] !== undefined,
  })
  const status = rules.errors > 0 ? 1 : 0
  if (wanted.checksOnly) return rules.dropped > 0 ? 1 : status
  if (status > 0 && rules.tasks.length === 0) return status
  const { variables } = loadConfig(io.env)
  const stomp = messageServer(rules, wanted.stompPath, { variables, reporter })
  const report = await createRuleReport(wanted, rules, zone, { hosts, open, output, io })
  const facts = factsOf(files, rules, hosts, output)
  const statistics = openStatistics(tmpDirOf(variables), facts, (text) => reporter.print(text))
  const env = {
    ...io.env,
    PCP_XCONFIRM_PROG: variables['PCP_XCONFIRM_PROG'],
    // Rules run commands such as pmpost, which npm does not put on the PATH.
    PATH: [io.env['PATH'], ownBinDir()].filter(Boolean).join(':'),
  }
  const { write, form, flush } = output
  const isJson = wanted.format === 'json'
  const fds = { outputFd: output.outputFd(), errorFd: output.errorFd() }
  const { isUnquoted } = wanted
  const actions = openLiveActions({
    env,
    zone,
    reporter,
    write,
    form,
    flush,
    isJson,
    isUnquoted,
    stomp,
    ...fds,
  })
  const unlisten = listenToSignals(rules, output)
  try {
    if (wanted.notifies) await notifyReady(logOnFd(2, { progname: 'pmie', host: '' }))
    await runLive(rules, {
      hosts,
      open,
      reporter,
      report,
      flush: async () => {
        await flush()
        await io.stdout.flush()
      },
      clock: SYSTEM_CLOCK,
      now: io.now,
      lengthSec: lengthOf(window),
      file: facts.rulesName,
      perform: actions.perform,
      signal: io.signal,
      reconnectTimeouts: timeoutsOf(io.env['PMCD_RECONNECT_TIMEOUT']),
      onCounts: (counts) => statistics.update(counts),
    })
    await actions.close()
  } finally {
    unlisten()
    statistics.close()
  }
  await flush()
  if (!io.signal.aborted && rules.tasks.length > 0) reporter.log('info', 'evaluator exiting')
  return status
}

/** Returns the function that outputs an evaluation: a report, or data for another program. */
async function createRuleReport(
  { feeds, verbosity, stampsLive }: PmieSettings,
  { tasks }: LoadedRules,
  zone: Zone,
  { hosts, output, io }: Run,
): Promise<(task: Task, sec: number) => void> {
  if (feeds === 'lines') return (task) => output.write(task.line())
  if (feeds === 'agent') {
    const { descs, result } = await openSummary(tasks, hosts.first, io.signal)
    for (const desc of descs) io.stdout.writeBytes(desc)
    return (task) => io.stdout.writeBytes(result(task))
  }
  if (verbosity === undefined) return () => {}
  const stampOf = (sec: number): string => (stampsLive ? ` (${ctime(Math.floor(sec), zone)})` : '')
  return (task, sec) => output.write(task.report(verbosity, stampOf(sec)))
}

function becomeServiceAccount({ username }: PmieSettings, { env }: ToolIo): void {
  if (username === undefined) return
  const account = serviceAccount(username, loadConfig(env).variables)
  if (account !== undefined) switchToAccount(account)
}

/** Returns a function that connects to a given host with the standard options. */
function openerOf(standard: StandardOptions, io: ToolIo): OpenHost {
  return async (host, signal) => {
    const source = host === undefined ? standard : ({ ...standard, source: 'host', hosts: [host] } as const)
    const context = await openContext(source, { ...io, signal })
    await sendWhoami(context, [io.progname, ...io.args], { signal })
    return context
  }
}

const NO_LABEL = { hostname: '', timezone: '', zoneinfo: '' }

async function zoneOf(
  standard: StandardOptions,
  { first }: LiveHosts,
  output: RunOutput,
  io: ToolIo,
): Promise<Zone> {
  // The zone of an unreachable collector is unknown.
  if (first.context === undefined) return archiveZone({ ...standard, hostzone: false }, NO_LABEL, io).zone
  if (!standard.hostzone) return (await reportingZone(standard, first.context, io)).zone
  const { zone } = await reportingZone(standard, first.context, io)
  output.write(`pmie: timezone set to local timezone of host ${first.connection}\n`)
  return zone
}

/** Returns the seconds from now to the end of the window; after its end, 0, which means one evaluation. */
function lengthOf({ origin, finish }: SamplingWindow): number {
  return Math.max(0, finish.sec - origin.sec + (finish.nsec - origin.nsec) / 1e9)
}

function timeoutsOf(text: string | undefined): number[] {
  return (text ?? '')
    .split(',')
    .map(Number)
    .filter((step) => step > 0)
}

function factsOf(
  files: readonly RuleFile[],
  { tasks }: LoadedRules,
  { first }: LiveHosts,
  { logName }: RunOutput,
): Parameters<typeof openStatistics>[1] {
  let rules = 0
  let expectedPerSec = 0
  for (const task of tasks) {
    rules += task.size
    expectedPerSec += task.size / task.deltaSec
  }
  return {
    rulesName: files[0]?.name ?? '<stdin>',
    logName: logName === '' ? '<none>' : logName,
    host: first.name,
    rules,
    expectedPerSec,
  }
}

/** Handles SIGHUP, which reopens the log, and SIGUSR1, which prints the schedule. */
function listenToSignals({ tasks }: LoadedRules, output: RunOutput): () => void {
  const hangUp = (): void => output.reopen()
  const tell = (): void => {
    for (const { deltaSec, names } of tasks)
      output.reporter.log('info', `every ${deltaSec} sec: ${names.join(' ')}`)
  }
  process.on('SIGHUP', hangUp)
  process.on('SIGUSR1', tell)
  return () => {
    process.off('SIGHUP', hangUp)
    process.off('SIGUSR1', tell)
  }
}
