/**
 * pmconfig: shows PCP's configuration variables and this implementation's features. pmconfig(1)
 *
 * Unlike 6.0.3, the complete list includes variables set in the environment. Without a pcp.conf it shows the defaults. A value with an
 * apostrophe stays one shell word.
 */
import { readFileSync } from 'node:fs'
import { API_FEATURES, apiConfig } from '../sys/api-config.ts'
import { loadConfig, type PcpConfig, parsePcpConf } from '../sys/config.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions } from './lib/options.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] [variable ...]',
  operands: 'none',
  rows: [
    { heading: 'Reporting options' },
    { short: 'a', long: 'all', help: 'show all variables (default)' },
    { short: 'l', long: 'list', help: 'the same as -a' },
    { short: 'L', long: 'library', help: 'show features of this implementation instead' },
    { short: 's', long: 'shell', help: 'show all variables as shell commands' },
    HELP_ROW,
  ],
}

/** Shows variables of pcp.conf with overrides of the environment, or features; an unknown name has an empty value. */
export const tool: Tool = {
  name: 'pmconfig',
  summary: 'Show the configuration of PCP on this host',
  description: `
Shows the variables of pcp.conf, or the named ones, one per line as NAME=value. Environment variables override those in the file,
and the file overrides the defaults.

The file is $PCP_CONF, else $PCP_DIR/etc/pcp.conf, else /etc/pcp.conf or /usr/local/etc/pcp.conf. Without a file it shows the
user's default directories: below the XDG base directories, or the system's for root.`,
  examples: [
    ['pmconfig PCP_LOG_DIR', 'Show the directory of logs:'],
    [
      'eval "$(pmconfig -s)"',
      'Set all variables in a shell script, except those already in its environment:',
    ],
    ['pmconfig -L secure_sockets', 'Show whether encrypted connections are supported:'],
  ],
  options: OPTIONS,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const status = handleEarlyExit(OPTIONS, parsed, io)
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

/** Returns the names in the file, in order; without a file the defaults. */
function namesIn({ path, variables }: PcpConfig): string[] {
  if (path !== undefined) return Object.keys(parsePcpConf(readFileSync(path, 'utf8')))
  return Object.keys(variables).filter((name) => name.startsWith('PCP_'))
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
