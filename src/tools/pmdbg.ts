/**
 * pmdbg: explains the debug options of -D and PCP_DEBUG. pmdbg(1)
 *
 * Explains names as well as numbers. PCP's -g is not supported: it inspects a running C process.
 */
import { DEBUG_NAMES, type DebugName, debugBits, debugNamesOfBits, parseDebug } from '../model/debug.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [code ..]',
  operands: 'debug',
  rows: [
    { heading: 'General options' },
    { short: 'l', long: 'list', help: 'list all debug options with their meaning' },
    { short: 'o', long: 'old', help: 'with -l, show the numbers used by older releases' },
    HELP_ROW,
  ],
}

/** Meaning of each option, or its meaning in PCP if marked `(not used here)`. */
const MEANINGS: Readonly<Record<DebugName, string>> = {
  pdu: 'PDUs sent and received',
  fetch: 'Fetches and their results',
  profile: 'Instance profiles set by clients',
  value: 'Fetched values',
  context: 'Contexts opened, lost, reconnected and closed',
  indom: 'Requests for instance domains',
  pdubuf: 'PDUs in hexadecimal',
  log: 'Metrics of a logger about itself',
  logmeta: 'Metadata of archives (not used here)',
  optfetch: 'Metrics that pmlogger fetches together',
  af: 'Timer events (not used here)',
  appl0: 'Application-specific 0: agents of a collector',
  appl1: 'Application-specific 1: how a collector starts agents',
  appl2: 'Application-specific 2: recording sessions that control a logger',
  pmns: 'Requests for metric names',
  libpmda: 'Requests to agents, and their errors',
  timecontrol: 'Time control of graphical tools (not used here)',
  pmc: 'Metrics of graphical tools (not used here)',
  derive: 'Derived metrics: definitions, binding to a source, values',
  lock: 'Locks (not used here)',
  interp: 'Interpolation between records of archives (not used here)',
  config: 'Configuration files read',
  pmapi: 'Other calls of the client library: descriptors, texts, stores',
  fault: 'Injected faults (not used here)',
  auth: 'Authentication of clients',
  discovery: 'Service discovery (not used here)',
  attr: 'Attributes of connections',
  http: 'HTTP requests',
  desperate: 'More detail everywhere (not used here)',
  deprecated: 'Use of deprecated services (not used here)',
  exec: 'Commands started (not used here)',
  labels: 'Requests for labels',
  series: 'Time series (not used here)',
  libweb: 'Web services (not used here)',
  alloc: 'Memory allocation (not used here)',
  services: 'Daemons and service managers (not used here)',
  appl3: 'Application-specific 3 (not used here)',
  appl4: 'Application-specific 4 (not used here)',
  appl5: 'Application-specific 5 (not used here)',
  access: 'Access control decisions',
  qa: 'Tests (not used here)',
  search: 'Text search (not used here)',
  query: 'Queries of time series (not used here)',
  compress: 'Compressed archives (not used here)',
  dev0: 'Temporary use by developers 0 (not used here)',
  dev1: 'Temporary use by developers 1 (not used here)',
  dev2: 'Temporary use by developers 2 (not used here)',
  pmlc: 'Why a pmlogger is not the primary one, or not listed',
  appl6: 'Application-specific 6 (not used here)',
  appl7: 'Application-specific 7 (not used here)',
  appl8: 'Application-specific 8 (not used here)',
  appl9: 'Application-specific 9 (not used here)',
  tls: 'Encrypted connections (not used here)',
  misc: 'Miscellaneous (not used here)',
  qed: 'Graphical time control (not used here)',
  getopt: 'Command-line options',
}

/** Lists debug options, or those in a number or a list of names. */
export const tool: Tool = {
  name: 'pmdbg',
  summary: 'Explain the debug options of -D',
  description: `
Commands and daemons trace their work if -D, or PCP_DEBUG in the environment, lists debug options: names separated by commas, or all
for every option. pmdbg -l lists the names.

Older releases used numbers. A code is such a number, decimal or hexadecimal, or a list of names; its options are shown, with the
number of each name that has one.`,
  examples: [
    ['pminfo -D fetch,value -f hinv.ncpu', 'Show the requests and replies of a command:'],
    ['pmdbg 3', 'Explain -D 3 of an old script:'],
  ],
  seeAlso: ['pmerr'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    if (has('o') && !has('l')) parsed.problems.push('-o only allowed with -l')
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    if (has('l')) {
      io.stdout.write('Performance Co-Pilot Debug Options\n')
      if (has('o')) showNumbered('#define       Value  Meaning', DEBUG_NAMES, io)
      else list(io)
      return 0
    }
    for (const code of parsed.operands) explain(code, io)
    return 0
  },
}

function list({ stdout }: ToolIo): void {
  stdout.write('Option          Meaning\n')
  for (const name of DEBUG_NAMES) stdout.write(`${name.padEnd(15)} ${MEANINGS[name]}\n`)
}

/** Lists names that have a number. */
function showNumbered(heading: string, names: Iterable<DebugName>, { stdout }: ToolIo): void {
  stdout.write(`${heading}\n`)
  for (const name of names) {
    const bits = debugBits(new Set([name]))
    if (bits === 0) continue
    const macro = `DBG_TRACE_${name.toUpperCase().padEnd(11)}`
    stdout.write(`${macro}  ${String(bits).padStart(10)}  ${MEANINGS[name]}\n`)
  }
}

function explain(code: string, io: ToolIo): void {
  const bits = /^(\d+|0x[0-9a-f]+)$/i.test(code) ? Number(code) : undefined
  const names = bits === undefined ? parseDebug(code) : debugNamesOfBits(bits | 0)
  if (names === undefined) {
    io.stdout.write(`Cannot decode "${code}" - neither decimal nor hexadecimal\n`)
    return
  }
  const value = bits ?? debugBits(names)
  io.stdout.write(`Performance Co-Pilot -- pmDebug value = ${value} (0x${value.toString(16)})\n`)
  const inOrder = DEBUG_NAMES.filter((name) => names.has(name))
  showNumbered('#define                 Value  Meaning', inOrder, io)
}
