/**
 * pmgenmap: names of metrics for programs. pmgenmap(1)
 *
 * For C as PCP's; --typescript is ours, and so are the options that say which source it asks.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { processZone } from '../../sys/zones.ts'
import { ctime } from '../../time/stamp.ts'
import { makeZone } from '../../time/zone.ts'
import { endEarly, type OptionTable } from '../lib/options.ts'
import { openContext } from '../lib/source.ts'
import { parseStandard, STANDARD, type StandardOptions } from '../lib/standard.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { cBanner, cText } from './c.ts'
import { parseMap } from './map.ts'
import { typescriptModule } from './typescript.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [infile]',
  operands: 'file',
  rows: [
    { heading: 'General options' },
    {
      short: 't',
      long: 'typescript',
      help: 'make a TypeScript module, with what the source says of each metric',
    },
    STANDARD.debug,
    STANDARD.version,
    STANDARD.help,
    { heading: 'Source of --typescript' },
    STANDARD.archive,
    STANDARD.host,
    STANDARD.container,
    STANDARD.localPmda,
    STANDARD.specLocal,
    STANDARD.namespace,
    STANDARD.uniqnames,
    STANDARD.derived,
  ],
}

/** Makes C or TypeScript of a map of metrics. Mistakes in the map are told on standard output in C, as by PCP's. */
export const tool: Tool = {
  name: 'pmgenmap',
  summary: 'Make constants for C or TypeScript of a list of metrics',
  description: `
The input, a file or standard input, has lists of metrics, each with a symbol to call it by:

    mylist {
        hinv.ncpu          NUMCPU
        kernel.all.load    LOADAV
    }

Lines that begin with # are comments, and are comments of the output too.

For C each list becomes an array of names, and each symbol a macro for its index in the array.

With --typescript each list becomes an object that has PMID, type, semantics and units of each metric as the source tells
them, and each symbol a constant for the name. Given to the function known() of pcp-ts/pmapi, the object makes misspelt
names and wrong types mistakes that do not compile; a source where a metric has another type is refused when the program
starts.`,
  examples: [
    ['pmgenmap mylist > mylist.h', 'For a program in C:'],
    [
      'pmgenmap --typescript -h db1 mylist > mylist.ts',
      'For a program in TypeScript, with types as they are on db1:',
    ],
  ],
  seeAlso: ['pminfo'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const [file, ...others] = parsed.operands
    if (others.length > 0) {
      io.stdout.write(`Usage: ${io.progname} [infile]\n`)
      return 1
    }
    const text = await readInput(file, io)
    if (text === undefined) {
      io.stdout.write(`${io.progname}: cannot open "${file}"\n`)
      return 1
    }
    const named = file ?? '<stdin>'
    const isTypeScript = parsed.given.some(({ name }) => name === 't')
    return isTypeScript ? makeTypeScript(text, named, parsed.standard, io) : makeC(text, named, io)
  },
}

async function readInput(file: string | undefined, io: ToolIo): Promise<string | undefined> {
  if (file === undefined) {
    const chunks: Uint8Array[] = []
    for await (const chunk of io.stdin) chunks.push(chunk)
    return decodeText(Buffer.concat(chunks))
  }
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8')
  } catch {
    return undefined // for whatever reason: PCP's tool says no more
  }
}

function makeC(text: string, file: string, io: ToolIo): number {
  const map = parseMap(text)
  io.stdout.write(cBanner(file, dateOf(io)) + cText(map, file))
  return map.problems.length > 0 ? 1 : 0
}

/** Now as date(1) shows it in the C locale. */
function dateOf(io: ToolIo): string {
  const { name, bytes } = processZone(io.env)
  const zone = makeZone(name, bytes)
  const sec = Math.floor(io.now() / 1000)
  return ctime(sec, zone).replace(/ (?=\d+$)/, ` ${zone.at(sec).abbreviation} `)
}

async function makeTypeScript(
  text: string,
  file: string,
  standard: StandardOptions,
  io: ToolIo,
): Promise<number> {
  const context = await openContext(standard, io)
  try {
    const made = await typescriptModule(parseMap(text), file, context, io)
    if (typeof made === 'string') io.stdout.write(made)
    else for (const problem of made.problems) io.stderr.write(`${io.progname}: ${problem}\n`)
    return typeof made === 'string' ? 0 : 1
  } finally {
    await context.close()
  }
}
