/**
 * pcp atop: activity of a host and its processes, as an interactive screen, as text, or as parseable lines.
 * pcp-atop(1)
 *
 * Unlike in PCP's, start dates of processes are correct if an archive has the boot time, and pressure is shown if
 * available: docs/explanation/differences.md.
 */
import { constants } from 'node:os'
import { PcpError } from '../../model/errors.ts'
import type { Context } from '../../pmapi/context.ts'
import { sendWhoami } from '../../pmapi/whoami.ts'
import { loadConfig } from '../../sys/config.ts'
import { interruptedBy } from '../lib/interrupt.ts'
import { handleEarlyExit, parseOptions } from '../lib/options.ts'
import { boundsOf, openReport } from '../lib/source.ts'
import { parseStandard, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import {
  type AtopOptions,
  completeArgs,
  OPTIONS,
  readOptions,
  STANDARD_TABLE,
  standardArgs,
  tableFor,
} from './options.ts'
import { momentText, replayArchives } from './replay.ts'
import { report } from './report.ts'
import { readResources } from './resource.ts'
import { Sampler } from './sampler.ts'

const DEFAULT_INTERVAL_SEC = 10

export const tool: Tool = {
  name: 'pcp-atop',
  summary: 'Show the activity of a host and its processes',
  description: `
On a terminal, shows a screen with lines of the host (processors, memory, disks, networks) and below them the processes that were
active since the last sample, the most active first. Keys change the display; h lists them, q quits. A flag with the letter of a key
has the same effect as pressing that key at the start. Values near their limit are coloured.

Without a terminal, writes the same as text for each sample, or with -P parseable lines. The first sample of a live host shows totals
since boot.

Source and time window are options of pcp(1): pcp -h HOST atop, pcp -a ARCHIVE atop. In an archive, t and T show the next and the
previous sample, b goes to a time, and r returns to the beginning.

/etc/atoprc and $HOME/.atoprc set defaults, one keyword and value a line: flags, interval, linelen, limits such as cpucritperc, and
ownprocline, the columns of -o.`,
  examples: [
    ['pcp atop 5', 'A screen, updated every five seconds:'],
    ['pcp atop -M 60 30 > memory.txt', 'Half an hour of the largest processes, in a file:'],
    ['pcp -a 20261120 atop -P CPU,DSK 600', 'Processors and disks of an archive, for a program:'],
  ],
  seeAlso: ['pcp', 'pcp-dstat', 'pmrep'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  const initial = readResources(io.env)
  const args = completeArgs(io.args)
  const table = tableFor(args, io.env['PCP_ARCHIVE'] !== undefined)
  const { given, operands, problems } = parseOptions(table, { args, env: io.env })
  const inherited = parseStandard(
    STANDARD_TABLE,
    { ...io, args: standardArgs(given) },
    {
      inherits: true,
      hasDefaultSource: true,
    },
  )
  const options = readOptions(given, operands, problems, { initial, standard: inherited.standard })
  const parsed = {
    given: given.map((each) => (each.name === 'h' ? { ...each, option: { long: 'help' } } : each)),
    problems: [...problems, ...inherited.problems],
    standard: inherited.standard,
  }
  const status = handleEarlyExit(OPTIONS, parsed, io)
  if (status !== undefined) return status
  if (options.record !== undefined) {
    const { record } = await import('./record.ts')
    return record(options, options.record, io)
  }
  const standard = withReplay(inherited.standard, options, variables, io)
  const context = await openReport(standard, io)
  try {
    await sendWhoami(context, [io.progname, ...io.args], io)
    await show(context, standard, options, io)
  } catch (error) {
    if (!(error instanceof PcpError && error.code === 'ECANCELED')) throw error
    const by = interruptedBy(io.signal)
    if (by !== undefined) return constants.signals[by]
  } finally {
    await context.close()
  }
  return 0
}

/** With the archives and the window that -r, -b and -e name. */
function withReplay(
  standard: StandardOptions,
  { replay, begin, end }: AtopOptions,
  variables: Readonly<Record<string, string | undefined>>,
  io: ToolIo,
): StandardOptions {
  const window = {
    ...standard.window,
    ...(begin === undefined ? {} : { start: momentText(begin) }),
    ...(end === undefined ? {} : { finish: momentText(end) }),
  }
  if (replay === undefined) return { ...standard, window }
  return { ...standard, window, source: 'archive', archives: replayArchives(replay, variables, io) }
}

async function show(
  context: Context,
  standard: StandardOptions,
  options: AtopOptions,
  io: ToolIo,
): Promise<void> {
  const { zone } = await reportingZone(standard, context, io)
  const window = samplingWindow(standard, boundsOf(context, standard, io), zone, io)
  const { origin, finish } = window
  const { labels, settings, group } = options
  const hasThreads = settings.threads || labels?.some((label) => label.startsWith('PR')) === true
  const sampler = await Sampler.open(
    { context, group, origin, finish },
    { hasPss: settings.pss, hasThreads },
    io,
  )
  const setup = {
    sampler,
    options,
    host: (await context.hostname(io)).split('.', 1)[0]!,
    zone,
    intervalSec: options.intervalSec ?? DEFAULT_INTERVAL_SEC,
    origin,
    untilMs: options.endsAtMidnight ? nextMidnight(io.now()) : undefined,
  }
  if (io.stdout.isTerminal && process.stdin.isTTY === true && options.labels === undefined) {
    const { interact } = await import('./interactive.ts')
    await interact({ ...setup, isLocal: standard.source === undefined }, io)
  } else await report(setup, io)
}

function nextMidnight(now: number): number {
  const date = new Date(now)
  date.setHours(24, 0, 0, 0)
  return date.getTime()
}
