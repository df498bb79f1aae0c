/**
 * pmdumptext: the values of many metrics over time, as a table. pmdumptext(1)
 *
 * Unlike PCP's, which needs a graphical toolkit, it runs everywhere.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { endEarly } from '../lib/options.ts'
import { parseStandard, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { samplingWindow } from '../lib/window.ts'
import { reportingZone } from '../lib/zone.ts'
import { type Column, columnsOf, type Request } from './columns.ts'
import { OPTIONS, type Wanted, wantedFrom } from './options.ts'
import { showRows } from './rows.ts'
import { Sources } from './sources.ts'

/** Shows a row a sample, a column for each metric and instance. */
export const tool: Tool = {
  name: 'pmdumptext',
  summary: 'Show the values of many metrics over time as a table',
  description: `
Each row has a time and the values of all metrics at that time, with a tab or another character between them, for programs
that read tables; with -i columns are equally wide, for people. Counters are shown as rates, times that are counted as
utilisation, unless -r asks for values as they are. Values with suffixes (-F, -i) are in bytes and single counts.

Metrics are given as [host:|archive/]metric[instance,...], a name within the name space stands for all metrics below it. Without
metrics they are read from the file of -c or from standard input, one on a line; a number behind it is what its values are
divided by. A line that begins with # is a comment.

Live and recorded metrics do not mix, and of each host there can be one archive. Metrics that name no source are from the first
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
    // An archive may be named by the first metric as well.
    const needless = 'time window options are supported for archives only'
    const problems =
      parsed.standard.source === undefined
        ? parsed.problems.filter((one) => one !== needless)
        : parsed.problems
    const status = endEarly(OPTIONS, { ...parsed, problems }, io)
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

/** Opens the sources of the options; false, with a message, where one cannot be opened. */
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
  wanted: Wanted,
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

/** The metrics of the command line, else those of a file, else those of standard input. */
async function requestsOf(operands: readonly string[], { config }: Wanted, io: ToolIo): Promise<Request[]> {
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

/** A metric, its instances with blanks in them, and a number. */
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
