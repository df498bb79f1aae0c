/** pcp summary, also run by pcp without a command: a host and its PCP services. pcp-summary(1) */

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

/** Shows the summary; unknown values are left empty. */
export const tool: Tool = {
  name: 'pcp-summary',
  summary: 'Show a host and its Performance Co-Pilot services',
  description: `
Shows platform, hardware and time zone of the host; the services of PCP and the version of its collector with the number of agents and
other clients; the agents, with the status of failed ones in brackets; the loggers with their archives; and the rule engines with their
log files or, with -P, with statistics of their rules.

For an archive the first values are shown, from its beginning or from the time of -O on. Unknown values are left empty.`,
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
  const fetch = async (): Promise<Sample> =>
    isLive ? metrics.fetch(io) : metrics.firstValues(window.origin, io)
  const sample = isEmpty ? undefined : await fetch()
  const rules = context.archive?.label.timezone || sample?.text(TIMEZONE)
  const zone = rules || (await contextZoneName(context, io).catch(() => '')) // the zone is optional
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
