/**
 * pmdbg: the diagnostics that -D and PCP_DEBUG take. pmdbg(1)
 *
 * Also explains names in place of numbers; -g is left out, as there is no process of C to look into.
 */
import { DEBUG_NAMES, type DebugName, debugBits, debugOfBits, parseDebug } from '../model/debug.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [code ..]',
  operands: 'debug',
  rows: [
    { heading: 'General options' },
    { short: 'l', long: 'list', help: 'show the names of all diagnostics, and what they tell' },
    { short: 'o', long: 'old', help: 'with -l: show the numbers that older releases used' },
    HELP_ROW,
  ],
}

/** What each tells, or would tell in PCP: `(not used here)` where nothing of ours does. */
const MEANINGS: Readonly<Record<DebugName, string>> = {
  pdu: 'PDUs that are sent and received',
  fetch: 'Metrics that are fetched, and what came of it',
  profile: 'Instance profiles that clients set',
  value: 'Values that were fetched',
  context: 'Contexts that are opened, lost, regained and closed',
  indom: 'Questions about instance domains',
  pdubuf: 'PDUs in hexadecimal',
  log: 'What a logger measures of itself',
  logmeta: 'Metadata of archives (not used here)',
  optfetch: 'What pmlogger fetches together',
  af: 'Events in time (not used here)',
  appl0: 'Whatever an application wants to tell: 0; agents of a collector',
  appl1: 'Whatever an application wants to tell: 1; how a collector starts agents',
  appl2: 'Whatever an application wants to tell: 2; recording sessions that control a logger',
  pmns: 'Questions about names of metrics',
  libpmda: 'Requests to agents, and what they throw',
  timecontrol: 'Time control of graphical tools (not used here)',
  pmc: 'Metrics of graphical tools (not used here)',
  derive: 'Derived metrics: their definitions, what they mean over a source, their values',
  lock: 'Locks (not used here)',
  interp: 'Interpolation between records of archives (not used here)',
  config: 'Configuration that is read',
  pmapi: 'Descriptors, texts and stores: other calls of the client library',
  fault: 'Injected faults (not used here)',
  auth: 'How clients prove who they are',
  discovery: 'Looking for services (not used here)',
  attr: 'Attributes of connections',
  http: 'HTTP requests',
  desperate: 'More of everything (not used here)',
  deprecated: 'Use of services that will go (not used here)',
  exec: 'Commands that are started (not used here)',
  labels: 'Questions about labels',
  series: 'Time series (not used here)',
  libweb: 'Services for the web (not used here)',
  alloc: 'Memory (not used here)',
  services: 'Daemons and what starts them (not used here)',
  appl3: 'Whatever an application wants to tell: 3 (not used here)',
  appl4: 'Whatever an application wants to tell: 4 (not used here)',
  appl5: 'Whatever an application wants to tell: 5 (not used here)',
  access: 'Who is let in, and who is not',
  qa: 'Tests (not used here)',
  search: 'Text search (not used here)',
  query: 'Queries of time series (not used here)',
  compress: 'Compressed archives (not used here)',
  dev0: 'For developers, for a while: 0 (not used here)',
  dev1: 'For developers, for a while: 1 (not used here)',
  dev2: 'For developers, for a while: 2 (not used here)',
  pmlc: 'Why a pmlogger is not the primary one, or not listed',
  appl6: 'Whatever an application wants to tell: 6 (not used here)',
  appl7: 'Whatever an application wants to tell: 7 (not used here)',
  appl8: 'Whatever an application wants to tell: 8 (not used here)',
  appl9: 'Whatever an application wants to tell: 9 (not used here)',
  tls: 'Encrypted connections (not used here)',
  misc: 'What fits nowhere else (not used here)',
  qed: 'Graphical tools for time (not used here)',
  getopt: 'Options of the command line that are its own',
}

/** Lists diagnostics, and tells which ones a number or a list of names stands for. */
export const tool: Tool = {
  name: 'pmdbg',
  summary: 'Explain the names of diagnostics that -D takes',
  description: `
Commands and daemons tell of their work while they do it when -D, or PCP_DEBUG in the environment, says so: a list of names
with commas between them, or all for every one. pmdbg -l shows the names.

Before there were names there were numbers. A code is such a number, decimal or hexadecimal, or a list of names; what it
stands for is shown, with the number of each name that has one.`,
  examples: [
    ['pminfo -D fetch,value -f hinv.ncpu', 'What does this command ask, and what does it hear?'],
    ['pmdbg 3', 'What did an old script mean by -D 3?'],
  ],
  seeAlso: ['pmerr'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    if (has('o') && !has('l')) parsed.problems.push('-o only allowed with -l')
    const status = endEarly(OPTIONS, parsed, io)
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

/** Names that have a number, with it. */
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
  const names = bits === undefined ? parseDebug(code) : debugOfBits(bits | 0)
  if (names === undefined) {
    io.stdout.write(`Cannot decode "${code}" - neither decimal nor hexadecimal\n`)
    return
  }
  const value = bits ?? debugBits(names)
  io.stdout.write(`Performance Co-Pilot -- pmDebug value = ${value} (0x${value.toString(16)})\n`)
  const inOrder = DEBUG_NAMES.filter((name) => names.has(name))
  showNumbered('#define                 Value  Meaning', inOrder, io)
}
