/** pmie on collectors: connections, log, signals, statistics. */

import { toSeconds } from '../../base/timestamp.ts'
import { becomeAccount, serviceAccount } from '../../net/access/account.ts'
import { SYSTEM_CLOCK } from '../../pmapi/clock.ts'
import { sendWhoami } from '../../pmapi/whoami.ts'
import { type Hosts, liveHosts, type OpenHost } from '../../pmie/hosts.ts'
import { openLiveActions } from '../../pmie/live-actions.ts'
import { runLive } from '../../pmie/live-run.ts'
import { type LoadedRules, loadRules } from '../../pmie/load.ts'
import type { Voice } from '../../pmie/problems.ts'
import type { RuleFile } from '../../pmie/program.ts'
import { openStatistics } from '../../pmie/statistics.ts'
import { openSummary } from '../../pmie/summary.ts'
import type { Task } from '../../pmie/task.ts'
import { loadConfig, tmpDirOf } from '../../sys/config.ts'
import { logOnFd } from '../../sys/log.ts'
import { notifyReady } from '../../sys/service-files.ts'
import { ctime } from '../../time/stamp.ts'
import type { Zone } from '../../time/zone.ts'
import { loadNames, openContext } from '../lib/source.ts'
import type { StandardOptions } from '../lib/standard.ts'
import type { ToolIo } from '../lib/tool.ts'
import { type SamplingWindow, samplingWindow } from '../lib/window.ts'
import { archiveZone, reportingZone } from '../lib/zone.ts'
import { messageServer } from './message-server.ts'
import type { Wanted } from './options.ts'
import { openOutput, type RunOutput } from './output.ts'
import { readRuleFiles } from './sources.ts'

const DEFAULT_DELTA_SEC = 10

/** Runs rules on collectors until the time window ends. Resolves to the exit status. */
export async function runLiveTool(
  names: readonly string[],
  standard: StandardOptions,
  wanted: Wanted,
  io: ToolIo,
): Promise<number> {
  const files = await readRuleFiles(names, io)
  // A name space that cannot be read is a mistake, not a collector that may come back.
  if (standard.namespace !== undefined) loadNames(standard.namespace, io)
  const { logName, isJoined, isDaemon, isPrimary } = wanted
  // Of an agent, standard output has nothing but PDUs.
  const output = openOutput({ logName, isJoined: isJoined || isDaemon || wanted.feeds === 'agent' }, io)
  let hosts: Hosts | undefined
  try {
    becomeServiceAccount(wanted, io)
    if (logName !== undefined) {
      const note = isPrimary ? ' [primary]' : ''
      output.voice.say(`pmie: PID = ${process.pid}, via ${standard.hosts[0] ?? 'local:'}${note}\n`)
    }
    const open = openerOf(standard, io)
    const { voice } = output
    const notice: Voice['notice'] = (level, text) => {
      if (level !== 'info' || !wanted.isQuiet) voice.notice(level, text)
    }
    const quiet = { ...output, voice: { ...voice, notice } }
    hosts = await liveHosts(standard.hosts[0], open, quiet.voice, io.signal)
    return await run(files, standard, wanted, { hosts, open, output: quiet, io })
  } finally {
    await hosts?.close()
    output.close()
  }
}

interface Run {
  readonly hosts: Hosts
  readonly open: OpenHost
  readonly output: RunOutput
  readonly io: ToolIo
}

async function run(
  files: readonly RuleFile[],
  standard: StandardOptions,
  wanted: Wanted,
  { hosts, open, output, io }: Run,
): Promise<number> {
  const { voice } = output
  const zone = await zoneOf(standard, hosts, output, io)
  await output.flush()
  const window = samplingWindow(standard, undefined, zone, io)
  const deltaSec = window.interval === undefined ? DEFAULT_DELTA_SEC : toSeconds(window.interval)
  const showsPlaces = wanted.checksOnly || (io.stderr.isTerminal && output.logName === '')
  const rules = await loadRules(files, deltaSec, {
    hosts,
    voice,
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
  const stomp = messageServer(rules, wanted.stompPath, { variables, voice })
  const report = await reporter(wanted, rules, zone, { hosts, open, output, io })
  const facts = factsOf(files, rules, hosts, output)
  const statistics = openStatistics(tmpDirOf(variables), facts, (text) => voice.say(text))
  const env = { ...io.env, PCP_XCONFIRM_PROG: variables['PCP_XCONFIRM_PROG'] }
  const { write, form, flush } = output
  const isJson = wanted.format === 'json'
  const fds = { outputFd: output.outputFd(), errorFd: output.errorFd() }
  const { isUnquoted } = wanted
  const actions = openLiveActions({ env, zone, voice, write, form, flush, isJson, isUnquoted, stomp, ...fds })
  const unlisten = listenToSignals(rules, output)
  try {
    if (wanted.notifies) await notifyReady(logOnFd(2, { progname: 'pmie', host: '' }))
    await runLive(rules, {
      hosts,
      open,
      voice,
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
  if (!io.signal.aborted && rules.tasks.length > 0) voice.notice('info', 'evaluator exiting')
  return status
}

/** What shows evaluations: a report, or what another program reads. */
async function reporter(
  { feeds, verbosity, stampsLive }: Wanted,
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

function becomeServiceAccount({ username }: Wanted, { env }: ToolIo): void {
  if (username === undefined) return
  const account = serviceAccount(username, loadConfig(env).variables)
  if (account !== undefined) becomeAccount(account)
}

/** Connects as the standard options say, to the host that is asked for. */
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
  { first }: Hosts,
  output: RunOutput,
  io: ToolIo,
): Promise<Zone> {
  // A collector that cannot be reached does not say which zone it is in.
  if (first.context === undefined) return archiveZone({ ...standard, hostzone: false }, NO_LABEL, io).zone
  if (!standard.hostzone) return (await reportingZone(standard, first.context, io)).zone
  const { zone } = await reportingZone(standard, first.context, io)
  output.write(`pmie: timezone set to local timezone of host ${first.connection}\n`)
  return zone
}

/** Seconds from now to the end of the window; a window that is over has one evaluation. */
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
  { first }: Hosts,
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

/** SIGHUP begins the log anew, SIGUSR1 tells what is evaluated when. */
function listenToSignals({ tasks }: LoadedRules, output: RunOutput): () => void {
  const hangUp = (): void => output.reopen()
  const tell = (): void => {
    for (const { deltaSec, names } of tasks)
      output.voice.notice('info', `every ${deltaSec} sec: ${names.join(' ')}`)
  }
  process.on('SIGHUP', hangUp)
  process.on('SIGUSR1', tell)
  return () => {
    process.off('SIGHUP', hangUp)
    process.off('SIGUSR1', tell)
  }
}
