/** pmieconf: enables general rules and sets their thresholds. pmieconf(1), docs/reference/pmie.md */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { decodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { homeDir, loadConfig } from '../../sys/config.ts'
import { ctime } from '../../sys/log.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { handleEarlyExit, type OptionTable, parseOptions } from '../lib/options.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { BUILT_IN_RULES } from './built-in.ts'
import { configText, parseConfig } from './config-file.ts'
import { generateRules } from './generate.ts'
import { isRuleFile, parseRuleFiles } from './rule-file.ts'
import { COMMANDS, runCommand, type SessionState } from './session.ts'

const TABLE: OptionTable = {
  synopsis: '[options] [ command [args...] ]',
  operands: 'none',
  posix: true,
  rows: [
    { heading: 'Options' },
    { short: 'c', help: 'system-wide settings, automatically created' },
    { short: 'F', long: 'force', help: 'write the rules file and exit' },
    { short: 'f', long: 'config', arg: 'FILE', help: 'rules file to change' },
    {
      short: 'r',
      long: 'rules',
      arg: 'PATH',
      help: 'colon-separated paths of general rules; builtin for the included rules',
    },
    { short: 'v', long: 'verbose', help: 'list global variables with those of a rule' },
    { short: '?', long: 'help', help: 'print this text and exit' },
  ],
}

/** Path component for the rules of this package. */
const BUILT_IN = 'builtin'

export const tool: Tool = {
  name: 'pmieconf',
  summary: 'Enable general rules of pmie and set their thresholds',
  description: `
General rules have variables for their thresholds. This command enables and disables them, sets their variables, and generates a rules
file for pmie; the changes are stored in the same file.

Commands: ${COMMANDS.map(([name]) => name).join(', ')}. Without one they are read from standard input.`,
  examples: [
    ['pmieconf rules', 'List all rules:'],
    ['pmieconf modify memory.swap_low threshold 20%', 'Warn earlier of low swap space:'],
  ],
  seeAlso: ['pmie'],
  options: TABLE,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const parsed = parseOptions(TABLE, io)
  const status = handleEarlyExit(TABLE, parsed, io)
  if (status !== undefined) return status
  const last = (letter: string): string | undefined =>
    parsed.given.findLast(({ name }) => name === letter)?.value
  const { variables } = loadConfig(io.env)
  const path = last('r') ?? io.env['PMIECONF_PATH'] ?? defaultPath(variables)
  const set = parseRuleFiles(ruleFiles(path, io))
  if (set.rules.length === 0) throw new PcpError('ENOENT', `no rules were found using rule path: ${path}`)
  const configName = last('f') ?? defaultConfig(last('c') !== undefined, variables, io)
  const file = resolve(io.cwd, configName)
  const text = existsSync(file) ? decodeText(readFileSync(file)) : undefined
  const kept = parseConfig(text, configName, set)
  const state: SessionState = {
    set,
    changes: kept.changes,
    configName,
    isVerbose: last('v') !== undefined,
    last: [],
    isChanged: false,
  }
  const save = async (): Promise<void> => {
    const rules = generateRules(set, kept.changes, (text) => io.stderr.write(`${text}\n`))
    mkdirSync(dirname(file), { recursive: true })
    replaceFile(file, configText(set, kept, { path, date: ctime(io.now()), rules }))
  }
  if (last('F') !== undefined) await save()
  else if (parsed.operands.length > 0) {
    runCommand(parsed.operands, state, (line) => io.stdout.write(line))
    if (state.isChanged) await save()
  } else if (await converse(state, io)) await save()
  return 0
}

/** Runs commands until the end; resolves to whether to save changes. */
async function converse(state: SessionState, io: ToolIo): Promise<boolean> {
  const prompt = io.stdout.isTerminal ? 'pmieconf> ' : ''
  io.stdout.write(prompt)
  await io.stdout.flush()
  for await (const line of linesOf(io.stdin)) {
    const words = wordsOf(line)
    if (words.length > 0) {
      try {
        const outcome = runCommand(words, state, (text) => io.stdout.write(text))
        if (outcome !== 'goOn') return outcome === 'quit' && state.isChanged
      } catch (error) {
        if (!(error instanceof PcpError)) throw error
        io.stderr.write(`${io.progname}: ${error.message}\n`)
      }
    }
    io.stdout.write(prompt)
    await io.stdout.flush()
  }
  io.stdout.write('\n')
  return state.isChanged
}

async function* linesOf(stdin: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stdin) {
    text += decodeText(chunk)
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n')) {
      yield text.slice(0, at)
      text = text.slice(at + 1)
    }
  }
  if (text !== '') yield text
}

/** Splits words at blanks; quotes protect blanks. */
function wordsOf(line: string): string[] {
  const words = line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\S+/g)
  return [...words].map(([whole, double, single]) => double?.replace(/\\(.)/g, '$1') ?? single ?? whole)
}

type Variables = Readonly<Record<string, string | undefined>>

function defaultPath(variables: Variables): string {
  const installed = join(variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmieconf')
  return existsSync(installed) ? installed : BUILT_IN
}

function defaultConfig(isAutomatic: boolean, variables: Variables, { env }: ToolIo): string {
  if (process.geteuid?.() !== 0) return join(homeDir(env), '.pcp/pmie/config.pmie')
  if (isAutomatic) return join(variables['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config/pmie/config.default')
  return join(variables['PCP_SYSCONF_DIR'] ?? '/etc/pcp', 'pmie/config.default')
}

/** Reads the rule files of a path: files and the contents of folders. */
function ruleFiles(path: string, io: ToolIo): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = []
  for (const part of path.split(':')) {
    if (part === BUILT_IN) found.push({ name: BUILT_IN, text: BUILT_IN_RULES })
    else if (part !== '') addRuleFiles(part, io, found)
  }
  return found
}

function addRuleFiles(name: string, io: ToolIo, found: { name: string; text: string }[]): void {
  const file = resolve(io.cwd, name)
  try {
    if (statSync(file).isDirectory()) {
      for (const entry of readdirSync(file).sort()) addRuleFiles(`${name}/${entry}`, io, found)
      return
    }
    const text = decodeText(readFileSync(file))
    if (isRuleFile(text)) found.push({ name, text })
  } catch (error) {
    const { code, text } = PcpError.from(error)
    throw code === 'ENOENT' || code === 'EACCES'
      ? new PcpError(code, `error - cannot stat ${name}: ${text}`, { cause: error })
      : error
  }
}
