/**
 * pmseries: series of many hosts by name and label, and calculations with them. pmseries(1)
 *
 * Series are those of archives, of a key server, or of a Prometheus server.
 */
import { resolve } from 'node:path'
import { knownMetrics } from '../../agents/known-metrics.ts'
import { matchesGlob } from '../../base/glob.ts'
import { PcpError } from '../../model/errors.ts'
import { isSeriesId } from '../../series/ids.ts'
import { readServer } from '../../series/prometheus/credentials.ts'
import { PrometheusStore } from '../../series/prometheus/store.ts'
import { evaluate, keepExpression, valuesOfId } from '../../series/query/evaluate.ts'
import { parseQuery, parseWindow } from '../../series/query/parse.ts'
import { type SeriesResult, valueText } from '../../series/query/result.ts'
import { type WindowClock, windowOf } from '../../series/query/window.ts'
import type { NameKind, SeriesStore } from '../../series/store.ts'
import { ValueBudget } from '../../series/value-budget.ts'
import { ctime } from '../../time/stamp.ts'
import { handleEarlyExit, type ParsedOptions, parseOptions, usageText } from '../lib/options.ts'
import { archiveDirectories, openArchives } from '../lib/series-archives.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { namedZone, processTimeZone } from '../lib/zone.ts'
import { openClient, settingsOf, usesKeyServer } from './key-server.ts'
import { labelNamesText, type MetadataWanted, metadataText } from './metadata.ts'
import { OPTIONS } from './options.ts'
import { makeRollups } from './rollups.ts'

/** Queries series. Status 1 for an error; an empty result is success. */
export const tool: Tool = {
  name: 'pmseries',
  summary: 'Query metrics of many hosts, in archives or a key server',
  description: `
Answers queries about the archives below a directory: by default those that loggers of this host and a running npm start write; with -h,
-p or -c, or KEY_SERVERS in the environment, about the series in a key server (Valkey or Redis). A query
selects series, each a metric of a host, by name and labels, and with a window in brackets shows their values. Functions such as rate, max
and avg_sample and the operators + - * / calculate with them. Without a window, the identifiers of the series are shown, which the
reporting options take as operands.

Archives are read where they are; nothing has to be loaded into a server first. --rollups makes files beside finished archives from which
long windows are answered without reading all records, and Parquet files with minutes and hours for other programs.

-L loads an archive, all archives below a directory, or what a query with source.path selects, into a key server. With --prometheus, the
same queries are answered by a server that has Prometheus' HTTP API.`,
  examples: [
    ['pmseries \'kernel.all.load{hostname=="db1"}[count:5]\'', 'The five most recent values of a host:'],
    ['pmseries \'rate(disk.all.total[start:"-1hour"])\'', 'Rates of the last hour on all hosts:'],
    ['pmseries --directory /srv/archives --rollups', 'Prepare a tree of archives for long windows:'],
    [
      "pmseries --directory /srv/archives -a $(pmseries 'hinv.ncpu')",
      'Everything about a metric of all hosts:',
    ],
    [
      "pmseries --prometheus http://localhost:9090 'kernel.all.load[count:5]'",
      'Values that were sent to Prometheus:',
    ],
    ['pmseries -h keys1 -L /var/log/pcp/pmlogger/db1', 'Load archives of a host into a key server:'],
  ],
  seeAlso: ['pmrep', 'pmlogger', 'pmproxy'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    try {
      const isOfKeyServer = usesKeyServer(parsed, io)
      if (parsed.given.some(({ name }) => name === 'L')) {
        const { load } = await import('./load.ts')
        return await load(parsed, clockOf(parsed, io), io)
      }
      if (parsed.given.some(({ name }) => name === 'rollups'))
        return await makeRollups(archiveDirectories(parsed, io), io)
      const store = await openStore(parsed, isOfKeyServer, io)
      try {
        return await report(store, parsed, io)
      } finally {
        await store.close()
      }
    } catch (error) {
      if (!(error instanceof PcpError)) throw error
      io.stderr.write(`${io.progname}: [Error] ${error.message}\n`)
      return 1
    }
  },
}

async function openStore(parsed: ParsedOptions, isOfKeyServer: boolean, io: ToolIo): Promise<SeriesStore> {
  if (isOfKeyServer) {
    const client = await openClient(settingsOf(parsed, io), false)
    const { KeySeries } = await import('../../series/keys/store.ts')
    return KeySeries.open(client)
  }
  const { given } = parsed
  const argument = (option: string): string | undefined =>
    given.findLast(({ name }) => name === option)?.value
  const file = (option: string): string | undefined => {
    const path = argument(option)
    return path === undefined ? undefined : resolve(io.cwd, path)
  }
  const url = argument('prometheus')
  if (url !== undefined) {
    const server = readServer({
      url,
      tokenFile: file('token-file'),
      loginFile: file('login-file'),
      caFile: file('ca-file'),
    })
    return new PrometheusStore(server, { known: knownMetrics, now: io.now })
  }
  return openArchives(archiveDirectories(parsed, io), io)
}

function clockOf({ given }: ParsedOptions, io: ToolIo): WindowClock {
  const zone = given.findLast(({ name }) => name === 'Z')?.value
  return {
    now: io.now,
    zone: zone === undefined ? processTimeZone(io) : namedZone(zone, io),
    zoneOf: (name) => namedZone(name, io),
  }
}

async function report(store: SeriesStore, parsed: ParsedOptions, io: ToolIo): Promise<number> {
  const { given, operands } = parsed
  const has = (letter: string): boolean => given.some(({ name }) => name === letter)
  const argument = (letter: string): string | undefined =>
    given.findLast(({ name }) => name === letter)?.value
  const clock = clockOf(parsed, io)
  const show = (series: readonly SeriesResult[]): void => showValues(series, clock, has('t'), io)
  const isAll = has('a') || has('F')
  const wanted: MetadataWanted = {
    desc: isAll || has('d'),
    indom: has('I'),
    instances: isAll || has('i'),
    labels: isAll || has('l'),
    labelNames: has('n'),
    metrics: isAll || has('m'),
    pmid: has('M'),
    source: isAll || has('s'),
  }
  if (has('w')) {
    const window = windowOf(windowTexts(argument('w')!, io), clock)
    const budget = new ValueBudget()
    for (const id of idsOf(operands)) show(await valuesOfId(store, id, window, budget))
    return 0
  }
  if (has('S')) return showSources(store, operands, argument('g'), io)
  if (has('v')) return showLabelValues(store, operands, io)
  if (Object.values(wanted).some(Boolean)) {
    if (operands.length === 0) return showNames(store, wanted, argument('g'), io)
    for (const id of has('F') ? await found(store, operands, clock) : idsOf(operands)) {
      if (wanted.labelNames) io.stdout.write(await labelNamesText(store, id))
      else io.stdout.write(`\n${id}\n${await metadataText(store, id, wanted)}`)
    }
    return 0
  }
  if (operands.length === 0) {
    io.stderr.write(usageText(OPTIONS, io.progname))
    return 1
  }
  const query = parseQuery(operands.join(' '))
  const answer = await evaluate(store, query, clock)
  if (answer.kind === 'ids') await keepExpression(store, query)
  if (answer.kind === 'values') show(answer.series)
  else for (const id of answer.ids) io.stdout.write(`${id}\n`)
  return 0
}

/** Returns the identifiers of operands, of which each may be a list. */
function idsOf(operands: readonly string[]): readonly string[] {
  return operands.flatMap((each) => each.split(',')).filter((each) => each !== '')
}

/** Returns the series of a query, or the identifiers given instead. */
async function found(
  store: SeriesStore,
  operands: readonly string[],
  clock: WindowClock,
): Promise<readonly string[]> {
  const ids = idsOf(operands)
  if (ids.every(isSeriesId)) return ids
  const answer = await evaluate(store, parseQuery(operands.join(' ')), clock)
  return answer.kind === 'ids' ? answer.ids : [...new Set(answer.series.map(({ operand }) => operand))]
}

function windowTexts(text: string, io: ToolIo): ReturnType<typeof parseWindow> {
  const given = `[${text}]`
  try {
    return parseWindow(given)
  } catch (error) {
    io.stderr.write(`${io.progname}: [Error] ${PcpError.from(error).message}\n`)
    throw new PcpError('EINVAL', `invalid window ${given}: use count:N, interval, start or finish`)
  }
}

async function showSources(
  store: SeriesStore,
  operands: readonly string[],
  pattern: string | undefined,
  io: ToolIo,
): Promise<number> {
  if (operands.length === 0) return showAll(store, 'context', pattern, io)
  for (const source of idsOf(operands)) {
    const names = await store.sourceNames(source)
    if (names.length > 0) io.stdout.write(`    Context: ${names.join(', ')}\n`)
  }
  return 0
}

async function showLabelValues(store: SeriesStore, operands: readonly string[], io: ToolIo): Promise<number> {
  for (const label of operands) {
    const values = await store.labelValues(label)
    if (values.length > 0) io.stdout.write(`${label}: ${values.join(', ')}\n`)
  }
  return 0
}

async function showNames(
  store: SeriesStore,
  { instances, labels, labelNames, metrics }: MetadataWanted,
  pattern: string | undefined,
  io: ToolIo,
): Promise<number> {
  const kind = metrics ? 'metric' : instances ? 'instance' : labels || labelNames ? 'label' : undefined
  if (kind !== undefined) return showAll(store, kind, pattern, io)
  throw new PcpError('PM_ERR_ARG', 'Name the series: identifiers, as a query without a window shows them')
}

async function showAll(
  store: SeriesStore,
  kind: NameKind,
  pattern: string | undefined,
  io: ToolIo,
): Promise<number> {
  for (const name of await store.names(kind))
    if (pattern === undefined || matchesGlob(pattern, name)) io.stdout.write(`${name}\n`)
  return 0
}

/** Shows values below the identifier of their series, or of the expression that all have in common. */
function showValues(
  series: readonly SeriesResult[],
  { zone }: WindowClock,
  isNumeric: boolean,
  io: ToolIo,
): void {
  let last = ''
  for (const result of series) {
    if (result.samples.length === 0) continue
    if (result.id !== last) io.stdout.write(`\n${result.id}\n`)
    last = result.id
    for (const { sec, nsec, ids, values } of result.samples) {
      const date = ctime(sec, zone)
      const clock = `${date.slice(0, -5)}.${String(nsec).padStart(9, '0')}${date.slice(-5)}`
      const micros = String(Math.floor(nsec / 1000) % 1000).padStart(3, '0')
      const time = isNumeric ? `${sec * 1000 + Math.floor(nsec / 1e6)}.${micros}` : clock
      for (const [i, id] of ids.entries()) {
        const isBare = id === '' && !result.isComputed
        io.stdout.write(`    [${time}] ${valueText(values[i]!, result)}${isBare ? '' : ` ${id}`}\n`)
      }
    }
  }
}
