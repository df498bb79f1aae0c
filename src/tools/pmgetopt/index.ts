/**
 * pmgetopt: parses the options of shell scripts. pmgetopt(1)
 *
 * Texts of standard options are our own. Descriptions are shown from their first letter, even after a single blank.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { parseScriptConfig, scriptUsage } from './config.ts'
import { shellWords } from './words.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] -- [progname arguments]',
  operands: 'none',
  posix: true,
  rows: [
    { heading: 'Options' },
    { short: 'u', long: 'usage', help: "show the script's usage text and fail" },
    { short: 'c', long: 'config', arg: 'FILE', help: 'read the options from FILE, not standard input' },
    { short: 'p', long: 'progname', arg: 'NAME', kind: 'none', help: 'name of the script, for messages' },
    HELP_ROW,
  ],
}

/** Prints the arguments of a script as shell words, or the script's usage text. */
export const tool: Tool = {
  name: 'pmgetopt',
  summary: 'Parse the options of a shell script',
  description: `
Reads the options of a script from a file in the form of its usage text, and prints the script's arguments for eval and set: options
by their letter if they have one, quoted option arguments, then -- and the operands. An invalid argument becomes -?.

Lines that begin with blanks and a dash are options: -d, --delay TEXT for one without argument, -i=INST, --insts=INST TEXT for one with
an argument. A name alone (--archive) is a standard option of PCP's commands. Lines "# Usage: TEXT", "# getopts: LETTERS" and "# End"
give the text after the script's name, the accepted letters, and the end of the options. All other text is copied to the usage text.`,
  examples: [
    ['eval set -- "$(pmgetopt -p "$0" -c options -- "$@")"', 'Parse the arguments of a script:'],
    ['pmgetopt -u -p "$0" -c options', 'Print its usage text on standard error:'],
  ],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const last = (letter: string): string | undefined =>
      parsed.given.findLast(({ name }) => name === letter)?.value
    const progname = last('p') ?? io.progname
    const text = await configText(last('c'), io)
    const config = parseScriptConfig(text, (message) => io.stderr.write(`${io.progname}: ${message}\n`))
    if (last('u') !== undefined) {
      io.stderr.write(scriptUsage(config, progname))
      return 1
    }
    io.stdout.write(`${shellWords(config.options, parsed.operands).join(' ')}\n`)
    return 0
  },
}

async function configText(file: string | undefined, io: ToolIo): Promise<string> {
  if (file === undefined) {
    const chunks: Uint8Array[] = []
    for await (const chunk of io.stdin) chunks.push(chunk)
    return decodeText(Buffer.concat(chunks))
  }
  try {
    return decodeText(readFileSync(resolve(io.cwd, file)))
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw new PcpError(code, `cannot open ${file} for reading configuration: ${text}`, { cause: error })
  }
}
