/** pmie: evaluates rules about metrics and performs their actions. pmie(1), docs/reference/pmie.md */
import { toSeconds } from '../../base/timestamp.ts'
import { PcpError } from '../../model/errors.ts'
import { runReplay } from '../../pmie/replay-run.ts'
import { DEFAULT_FORMAT } from '../../rules/archive-actions.ts'
import { archiveHosts, type Hosts } from '../../rules/hosts.ts'
import { loadRules } from '../../rules/load.ts'
import type { RuleFile } from '../../rules/program.ts'
import { handleEarlyExit } from '../lib/options.ts'
import { parseStandard, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow, windowProblem } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { OPTIONS, type PmieSettings, pmieSettings } from './options.ts'
import { openOutput, type RunOutput } from './output.ts'
import { boundsOfAll, openArchives, readRuleFiles } from './sources.ts'

const DEFAULT_DELTA_SEC = 10

export const tool: Tool = {
  name: 'pmie',
  summary: 'Evaluate rules about metrics, and act when they are true',
  description: `
Rules are read from files or from standard input, and evaluated periodically: on collectors in real time, over archives as fast as
they can be read. When a rule is true, its actions are performed; over archives they are only printed.

A rule is a condition, an arrow and actions: some_inst disk.dev.total > 100 count/sec -> print "busy: " "%i (%v) ";`,
  examples: [
    ['pmie -v -t 5sec -c my.rules', 'Evaluate rules every five seconds, and show their values:'],
    ['pmie -z -a 20260101 -c my.rules', 'Show which rules would have fired that day:'],
    ['pmie -C -c my.rules', 'Check rules; errors are shown with line and column:'],
  ],
  seeAlso: ['pmieconf', 'pmval'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { many: true })
    const wanted = pmieSettings(parsed)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const { standard, operands } = parsed
    const names = wanted.config === undefined ? operands : [wanted.config]
    try {
      if (standard.source === 'archive') return await runArchives(names, standard, wanted, io)
      const { runLiveTool } = await import('./live.ts')
      return await runLiveTool(names, standard, wanted, io)
    } catch (error) {
      // PCP's pmie prints only the problem with the time.
      const problem = windowProblem(error)
      if (problem === undefined) throw error
      io.stderr.write(problem)
      return 1
    }
  },
}

async function runArchives(
  names: readonly string[],
  standard: StandardOptions,
  wanted: PmieSettings,
  io: ToolIo,
): Promise<number> {
  if (wanted.feeds === 'agent')
    throw new PcpError('EINVAL', 'Option -x is for expressions about collectors, not archives')
  const files = await readRuleFiles(names, io)
  const opened = await openArchives(standard, io)
  const { logName, isJoined } = wanted
  let hosts: Hosts | undefined
  let output: RunOutput | undefined
  try {
    hosts = archiveHosts(opened)
    output = openOutput({ logName, isJoined }, io)
    return await replay(files, standard, wanted, { opened, hosts, output, io })
  } finally {
    output?.close()
    if (hosts === undefined) for (const { context } of opened) await context.close()
    else await hosts.close()
  }
}

interface ArchiveRun {
  readonly opened: Awaited<ReturnType<typeof openArchives>>
  readonly hosts: Hosts
  readonly output: RunOutput
  readonly io: ToolIo
}

async function replay(
  files: readonly RuleFile[],
  standard: StandardOptions,
  wanted: PmieSettings,
  { opened, hosts, output, io }: ArchiveRun,
): Promise<number> {
  const { context, name } = opened[0]!
  const { reporter, write, flush } = output
  const { zone } = await reportingZone(standard, context, io)
  if (standard.hostzone) write(`pmie: timezone set to local timezone from ${name}\n`)
  await flush()
  const { origin, finish, interval } = samplingWindow(standard, boundsOfAll(opened, standard, io), zone, io)
  const deltaSec = interval === undefined ? DEFAULT_DELTA_SEC : toSeconds(interval)
  const showsPlaces = wanted.checksOnly || (io.stderr.isTerminal && output.logName === '')
  const { feeds, checksOnly, verbosity, format = DEFAULT_FORMAT } = wanted
  const loading = {
    hosts,
    reporter,
    zone,
    signal: io.signal,
    showsPlaces,
    feeds,
    wraps: io.env['PCP_COUNTER_WRAP'] !== undefined,
  }
  const { tasks, errors, dropped } = await loadRules(files, deltaSec, loading)
  const status = errors > 0 ? 1 : 0
  if (checksOnly) return dropped > 0 ? 1 : status
  if (tasks.length === 0) return status
  await runReplay(tasks, {
    window: { origin, finish },
    zone,
    verbosity,
    isLine: feeds === 'lines',
    format,
    file: files.map((file) => file.name ?? '<stdin>').join(','),
    signal: io.signal,
    write,
    flush,
  })
  await flush()
  if (!wanted.isQuiet && !io.signal.aborted) reporter.log('info', 'evaluator exiting')
  return status
}
