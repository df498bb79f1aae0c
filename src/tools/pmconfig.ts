/**
 * pmconfig: where PCP's files are, and what this implementation can do. pmconfig(1)
 *
 * Unlike 6.0.3's, the list of all has the variables that the environment sets as well.
 * Where there is no pcp.conf the directories that are assumed instead are shown. Values with an apostrophe stay one word
 * of the shell.
 */
import { readFileSync } from 'node:fs'
import { API_FEATURES, apiConfig } from '../sys/api-config.ts'
import { loadConfig, type PcpConfig, parsePcpConf } from '../sys/config.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [variable ...]',
  operands: 'none',
  rows: [
    { heading: 'Reporting options' },
    { short: 'a', long: 'all', help: 'show all, as they are (default)' },
    { short: 'l', long: 'list', help: 'the same as -a' },
    { short: 'L', long: 'library', help: 'show what this implementation can do instead' },
    { short: 's', long: 'shell', help: 'show all, for a shell to evaluate' },
    HELP_ROW,
  ],
}

/** Shows variables of pcp.conf as the environment leaves them, or features; a name nobody knows has an empty value. */
export const tool: Tool = {
  name: 'pmconfig',
  summary: 'Show the configuration of PCP on this host',
  description: `
Shows the variables of pcp.conf, or those that are named, one a line as NAME=value. A variable of the environment wins over
the one of that name in the file, and the file over what is assumed where it has nothing.

The file is $PCP_CONF, else $PCP_DIR/etc/pcp.conf, else /etc/pcp.conf or /usr/local/etc/pcp.conf. Where there is none the
directories of the user are shown: those below the XDG base directories, or the system's for root.`,
  examples: [
    ['pmconfig PCP_LOG_DIR', 'Where logs are:'],
    ['eval "$(pmconfig -s)"', 'All variables for a shell script, those of its environment unchanged:'],
    ['pmconfig -L secure_sockets', 'Are connections encrypted where that is wanted?'],
  ],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const has = (letter: string): boolean => parsed.given.some(({ name }) => name === letter)
    const isShell = has('s')
    if (has('L')) showFeatures(parsed.operands, isShell, io)
    else showVariables(parsed.operands, isShell, io)
    return 0
  },
}

function showFeatures(names: readonly string[], isShell: boolean, { stdout }: ToolIo): void {
  for (const name of names.length > 0 ? names : API_FEATURES) {
    const value = apiConfig(name) ?? ''
    stdout.write(isShell ? `export ${name}=${shellWord(value || 'false')}\n` : `${name}=${value}\n`)
  }
}

function showVariables(names: readonly string[], isShell: boolean, io: ToolIo): void {
  const config = loadConfig(io.env)
  for (const name of names.length > 0 ? names : namesIn(config)) {
    const value = config.variables[name] ?? ''
    const word = shellWord(value || 'false')
    io.stdout.write(isShell ? `export ${name}=\${${name}:-${word}}\n` : `${name}=${value}\n`)
  }
}

/** Names in the file, in its order; without a file those that are assumed. */
function namesIn({ path, variables }: PcpConfig): string[] {
  if (path !== undefined) return Object.keys(parsePcpConf(readFileSync(path, 'utf8')))
  return Object.keys(variables).filter((name) => name.startsWith('PCP_'))
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
