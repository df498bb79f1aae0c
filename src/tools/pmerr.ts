/** pmerr: explains error codes. pmerr(1) */
import { errStr } from '../model/errors.ts'
import { PM_ERRORS } from '../model/pm-errors.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [code]',
  rows: [
    { heading: 'General options' },
    { short: 'l', long: 'list', help: 'list the PCP errors: status, name and text' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const DECIMAL = /^\s*[-+]?\d+$/
const HEXADECIMAL = /^\s*(0x)?[0-9a-f]+$/i

/** Explains error codes given in decimal or hexadecimal. As in PCP, -l exits with status 1. */
export const tool: Tool = {
  name: 'pmerr',
  summary: 'Explain PCP error codes',
  description: `
Shows the text of an error code, decimal or hexadecimal; a positive code is negated. -l lists PCP's codes and exits with status 1, as
in PCP.`,
  examples: [['pmerr -12357', 'Explain a code:']],
  seeAlso: ['pmdbg'],
  options: OPTIONS,
  async run(io) {
    const isCode = (arg: string): boolean => !arg.startsWith('-') || /^-\d/.test(arg)
    const options = io.args.filter((arg) => !isCode(arg))
    const { given, problems } = parseOptions(OPTIONS, { args: options, env: io.env })
    const status = handleEarlyExit(OPTIONS, { given, problems }, io)
    if (status !== undefined) return status
    if (given.some(({ name }) => name === 'l')) {
      list(io)
      return 1
    }
    for (const code of io.args.filter(isCode)) explain(code, io)
    return 0
  },
}

function list({ stdout }: ToolIo): void {
  stdout.write('  Code  Symbolic Name          Message\n')
  for (const [name, { status, text }] of Object.entries(PM_ERRORS))
    stdout.write(`${String(status).padStart(6)}  ${name.padEnd(23)}${text}\n`)
}

function explain(text: string, { stdout }: ToolIo): void {
  const code = parseCode(text)
  if (code === undefined) {
    stdout.write(`Cannot decode "${text}" - neither decimal nor hexadecimal\n`)
    return
  }
  const status = code > 0 ? -code : code
  if (code > 0) stdout.write(`Code is positive, assume you mean ${status}\n`)
  const hex = (status >>> 0).toString(16)
  stdout.write(`Code: ${status} 0x${hex} Text: ${errStr(status)}\n`)
}

/** Parses a 32-bit code. Digits alone are decimal. */
function parseCode(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text) | 0
  if (HEXADECIMAL.test(text)) return Number.parseInt(text.replace(/^\s*(0x)?/i, ''), 16) | 0
  return undefined
}
