/**
 * pmgenmap: generates metric names for programs. pmgenmap(1)
 *
 * Output for C is the same as PCP's; --typescript and its options for the source are additions.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { processZone } from '../../sys/zones.ts'
import { ctime } from '../../time/stamp.ts'
import { makeZone } from '../../time/zone.ts'
import { handleEarlyExit, type OptionTable } from '../lib/options.ts'
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
      help: "make a TypeScript module with the source's descriptor of each metric",
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

/** Generates C or TypeScript from a map of metrics. For C, problems in the map go to standard output, as in PCP. */
export const tool: Tool = {
  name: 'pmgenmap',
  summary: 'Generate C or TypeScript constants from a list of metrics',
  description: `
The input, a file or standard input, has lists of metrics, each with a symbol:

    mylist {
        hinv.ncpu          NUMCPU
        kernel.all.load    LOADAV
    }

Lines that begin with # are comments, which are copied to the output.

For C each list becomes an array of names, and each symbol a macro for its index in the array.

With --typescript each list becomes an object with the PMID, type, semantics and units of each metric according to the source, and
each symbol a constant for the name. If the object is passed to the function known() of pcp-ts/pmapi, misspelled names and wrong types
are compile-time errors, and a source with another type of a metric is rejected when the program starts.`,
  examples: [
    ['pmgenmap mylist > mylist.h', 'Generate a header for C:'],
    [
      'pmgenmap --typescript -h db1 mylist > mylist.ts',
      'Generate TypeScript with the types of metrics on db1:',
    ],
  ],
  seeAlso: ['pminfo'],
  options: OPTIONS,
  async run(io) {
    const parsed = parseStandard(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
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
    return undefined // PCP's tool does not give the reason
  }
}

function makeC(text: string, file: string, io: ToolIo): number {
  const map = parseMap(text)
  io.stdout.write(cBanner(file, dateOf(io)) + cText(map, file))
  return map.problems.length > 0 ? 1 : 0
}

/** Returns the time like date(1) in the C locale. */
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
