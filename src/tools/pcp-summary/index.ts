/** pcp summary, which is also pcp alone: the host, and what of PCP runs there. pcp-summary(1) */

import { contextZoneName } from '../../pmapi/context-zone.ts'
import { HELP_ROW, type OptionTable, VERSION_ROW } from '../lib/options.ts'
import { type Sample, SampledMetrics } from '../lib/sampled/metrics.ts'
import { type ReportSource, runReport } from '../lib/sampled/report.ts'
import { STANDARD } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { METRICS, summaryText, TIMEZONE } from './text.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options]',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    STANDARD.archive,
    STANDARD.debug,
    STANDARD.host,
    STANDARD.namespace,
    STANDARD.origin,
    { short: 'P', long: 'pmie', help: 'show what pmie evaluated' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Shows what there is; what is not known is left empty. */
export const tool: Tool = {
  name: 'pcp-summary',
  summary: 'Show a host, and what of Performance Co-Pilot runs there',
  description: `
Platform, hardware and time zone of the host; the services of PCP and the version of its collector with the number of agents and of
clients, not counting this command; the agents, behind those in trouble their status in brackets; the loggers with their archives; and
the rule engines with their log files or, with -P, their rules and how these were evaluated.

Of an archive the first values are shown that it has from its beginning, or from the moment of -O, on. What is not known is left empty.`,
  examples: [
    ['pcp', 'This host:'],
    ['pcp -P -a 20261120', 'An archive, with statistics of its rule engines:'],
  ],
  seeAlso: ['pcp', 'pmcd', 'pmlogger', 'pmie'],
  options: OPTIONS,
  run: async (io) =>
    runReport({ table: OPTIONS, read: (given) => given.some(({ name }) => name === 'P') }, io, report),
}

async function report(
  { context, standard, window }: ReportSource,
  showsRules: boolean,
  io: ToolIo,
): Promise<number> {
  const metrics = await SampledMetrics.find(context, METRICS, io)
  const isEmpty = metrics.missing.length === METRICS.length
  const isLive = context.archive === undefined
  const fetch = async (): Promise<Sample> => (isLive ? metrics.fetch(io) : metrics.firsts(window.origin, io))
  const sample = isEmpty ? undefined : await fetch()
  const rules = context.archive?.label.timezone || sample?.text(TIMEZONE)
  const zone = rules || (await contextZoneName(context, io).catch(() => '')) // a host need not know its zone
  io.stdout.write(
    summaryText(sample, {
      host: await context.hostname(io),
      archive: context.archive === undefined ? undefined : standard.archives.join(','),
      zone,
      showsRules,
    }),
  )
  return 0
}
