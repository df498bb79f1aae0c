/**
 * pmdumptext: shows many metrics over time as a table. pmdumptext(1)
 *
 * Unlike PCP's it needs no graphical toolkit.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { handleEarlyExit } from '../lib/options.ts'
import { parseStandard, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { type Column, columnsOf, type Request } from './columns.ts'
import { OPTIONS, type PmdumptextOptions, wantedFrom } from './options.ts'
import { showRows } from './rows.ts'
import { Sources } from './sources.ts'

/** Shows a row for each sample, and a column for each metric and instance. */
export const tool: Tool = {
  name: 'pmdumptext',
  summary: 'Show the values of many metrics over time as a table',
  description: `
Each row has a time and the values of all metrics at that time, separated by a tab or another character, for programs that read
tables; -i makes columns of equal width, for people. Counters are shown as rates, and counters of time as utilization, unless -r is
given. Values with suffixes (-F, -i) are in bytes and plain counts.

Metrics are given as [host:|archive/]metric[instance,...]; an inner node of the name space selects all metrics below it. Without
operands metrics are read from the file of -c or from standard input, one a line, optionally followed by a divisor of their values.
Lines beginning with # are comments.

Live and archive metrics cannot be combined, and there can be only one archive of each host. Metrics without a source use the first
source that was opened.`,
  examples: [
    ['pmdumptext -imu -t 2s kernel.all.load disk.all.read_bytes', 'A table to look at:'],
    ['pmdumptext -d, -f %H:%M:%S -m -a 20261120 mem.util.free', 'An archive, with commas:'],
  ],
  seeAlso: ['pmval', 'pmrep'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io, { many: true, alignsLive: true })
    const wanted = wantedFrom(parsed)
    const { hosts } = parsed.standard
    if (hosts.length > 1) parsed.problems.push('only one host may be specified')
    // The first metric can name an archive too.
    const needless = 'time window options are supported for archives only'
    const problems =
      parsed.standard.source === undefined
        ? parsed.problems.filter((one) => one !== needless)
        : parsed.problems
    const status = handleEarlyExit(OPTIONS, { ...parsed, problems }, io)
    if (status !== undefined) return status
    const sources = new Sources(parsed.standard, io)
    try {
      if (!(await opensGiven(sources, io))) return 1
      const requests = await requestsOf(parsed.operands, wanted, io)
      return await show(sources, requests, wanted, parsed.standard, io)
    } finally {
      await sources.close()
    }
  },
}

/** Opens the sources of the options; prints a message and returns false if one fails. */
async function opensGiven(sources: Sources, io: ToolIo): Promise<boolean> {
  try {
    await sources.openGiven()
    return true
  } catch (error) {
    if (!(error instanceof PcpError) || io.signal.aborted) throw error
    io.stderr.write(`${io.progname}: Error: ${error.message}\n`)
    return false
  }
}

async function show(
  sources: Sources,
  requests: readonly Request[],
  wanted: PmdumptextOptions,
  standard: StandardOptions,
  io: ToolIo,
): Promise<number> {
  const columns: Column[] = []
  let failures = 0
  const complain = ({ message }: PcpError): void => {
    failures++
    io.stderr.write(`${io.progname}: Error: ${message}\n`)
  }
  for (const request of requests) {
    if (request.warning !== undefined) io.stderr.write(`${io.progname}: ${request.warning}\n`)
    try {
      columns.push(...(await columnsOf(request, sources, wanted, complain, io)))
    } catch (error) {
      if (!(error instanceof PcpError) || io.signal.aborted) throw error
      complain(error)
    }
  }
  if (columns.length === 0) {
    io.stderr.write(`${io.progname}: no valid metrics, exiting.\n`)
    return 1
  }
  if (failures > 0)
    io.stderr.write(`${io.progname}: Warning: Some metrics ignored, continuing with valid metrics\n`)
  const { zone } = await reportingZone(standard, sources.all[0]!.context, io)
  const { bounds } = sources
  const window = samplingWindow(standard, bounds, zone, io)
  await showRows(columns, wanted, window, { zone, bounds }, io)
  return 0
}

/** Returns the metrics of the command line, of a file, or of standard input. */
async function requestsOf(
  operands: readonly string[],
  { config }: PmdumptextOptions,
  io: ToolIo,
): Promise<Request[]> {
  if (operands.length > 0) return operands.map((text) => ({ text, divisor: 0 }))
  return parseRequests(await readConfig(config, io), config ?? 'standard input')
}

async function readConfig(file: string | undefined, io: ToolIo): Promise<string> {
  if (file === undefined) {
    const chunks: Uint8Array[] = []
    for await (const chunk of io.stdin) chunks.push(chunk)
    return decodeText(Buffer.concat(chunks))
  }
  try {
    return decodeText(readFileSync(resolve(io.cwd, file)))
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `Unable to open ${file}: ${text}`, { cause: error })
  }
}

/** A metric, whose instances can contain blanks, and a number. */
const REQUEST = /^((?:[^\s[]|\[[^\]]*(?:"[^"]*"[^\]]*)*\])+)\s*(.*)$/

function parseRequests(text: string, file: string): Request[] {
  const requests: Request[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const [, metric = trimmed, scale = ''] = REQUEST.exec(trimmed) ?? []
    const divisor = scale === '' ? 0 : Number(scale)
    if (!Number.isNaN(divisor)) requests.push({ text: metric, divisor })
    else
      requests.push({
        text: metric,
        divisor: 0,
        warning: `Line ${i + 1} of ${file} has an illegal scaling factor, assuming 0.`,
      })
  }
  return requests
}
