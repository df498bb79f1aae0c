/**
 * pmgetopt: takes the options of shell scripts apart. pmgetopt(1)
 *
 * Texts of the options that all commands share are our own. What options are for is shown from its first letter on, also behind
 * one blank.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions } from '../lib/options.ts'
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

/** Prints the arguments of a script as words for its shell, or the script's usage text. */
export const tool: Tool = {
  name: 'pmgetopt',
  summary: 'Take the options of a shell script apart',
  description: `
Reads which options a script has from a file written as its usage text would be, and prints the script's arguments so that eval and
set understand them: options by their letter where they have one, arguments of options in quotes, then -- and the operands. Where
an argument cannot be understood there is -?.

Lines that begin with blanks and a dash are options: -d, --delay TEXT for one without argument, -i=INST, --insts=INST TEXT for one with
an argument. A name alone (--archive) is the option that commands of PCP share. Lines "# Usage: TEXT", "# getopts: LETTERS" and "# End"
say what follows the script's name, which letters there are, and that no options follow. All else is text for the usage.`,
  examples: [
    ['eval set -- "$(pmgetopt -p "$0" -c options -- "$@")"', 'Arguments of a script, in order:'],
    ['pmgetopt -u -p "$0" -c options', 'Its usage text, on standard error:'],
  ],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = endEarly(OPTIONS, parsed, io)
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
