/** pmda-new: creates a new agent. PCP has no such command. docs/reference/agent-toolkit.md */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { takeLock } from '../../sys/file-lock.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { domainRegisters } from '../../sys/stdpmid.ts'
import { invalidName, isAgentName, writeAgent } from '../lib/new-agent/write.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, VERSION_ROW } from '../lib/options.ts'
import { variablesOf } from '../lib/pmns-edit.ts'
import { updateStdpmid } from '../lib/stdpmid.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { freeDomain, registeredDomain } from './domain.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] name',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'domain', arg: 'N', help: 'domain number to use, without registering it' },
    {
      short: 'o',
      long: 'output',
      arg: 'DIR',
      help: 'folder to create (default: NAME in the current directory)',
    },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const LOCK_MS = 10_000
const LOCAL = 'stdpmid.local'
/** Errors for a directory the user cannot write. */
const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR'])

/** Writes a working agent with tests, and registers a domain for it. */
export const tool: Tool = {
  name: 'pmda-new',
  summary: 'Create a new agent',
  description: `
Writes a folder with a working agent: metrics with and without instances, one that can be changed, tests, a pmlogconf group, and a
README with the next steps. It runs immediately: with dbpmda, with node --test, and installed by pmda-install.

Its domain number is the highest free one of the range for local agents, and is registered in stdpmid.local in the directory of
name spaces. An agent that already has a domain there keeps it.`,
  examples: [['pmda-new queue', 'Create an agent named queue in a folder of that name:']],
  seeAlso: ['pmda-install', 'dbpmda', 'pmcd'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
    const [name = ''] = operands
    const chosen = last('d')
    if (last('?') === undefined && last('V') === undefined) {
      if (operands.length !== 1) problems.push('a name is required')
      else if (!isAgentName(name)) problems.push(invalidName(name))
      if (chosen !== undefined && !(/^\d{1,3}$/.test(chosen) && Number(chosen) >= 1 && Number(chosen) <= 510))
        problems.push('-d requires a number from 1 to 510')
    }
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const dir = resolve(io.cwd, last('o') ?? name)
    if (existsSync(dir))
      throw new PcpError('EEXIST', `${dir} exists: remove it, or choose another folder with -o`)
    const domain = chosen === undefined ? await recordDomain(name, io) : Number(chosen)
    writeAgent(dir, { name, domain, host: 'pcp', isTypeScript: false })
    io.stdout.write(
      `Wrote the agent ${name}, domain ${domain}, to ${dir}: see its README.md for the next steps\n`,
    )
    return 0
  },
}

/** Returns the name's registered domain, or registers a free one in stdpmid.local. */
async function recordDomain(name: string, io: ToolIo): Promise<number> {
  const variables = variablesOf(io)
  const dir = join(variables['PCP_VAR_DIR']!, 'pmns')
  const symbol = name.toUpperCase()
  const path = join(dir, LOCAL)
  const hint = 'run as a user who may write there, or choose a domain with -d'
  try {
    makeDir(dir)
    const lock = await takeLock(`${path}.edit`, { limitMs: LOCK_MS, signal: io.signal })
    if (lock === undefined)
      throw new PcpError('EBUSY', `${path} is being changed by another process: try again`)
    try {
      const confPath = variables['PCP_PMCDCONF_PATH']!
      const conf = existsSync(confPath) ? readFileSync(confPath, 'utf8') : ''
      const domains = { registers: domainRegisters(dir), conf }
      const known = registeredDomain(symbol, domains)
      if (known !== undefined) return known
      const domain = freeDomain(domains)
      const old = existsSync(path) ? readFileSync(path, 'utf8') : ''
      const gap = old === '' || old.endsWith('\n') ? '' : '\n'
      replaceFile(path, `${old}${gap}${symbol}\t${domain}\n`, { keepMode: true })
      updateStdpmid(dir)
      return domain
    } finally {
      lock.release()
    }
  } catch (error) {
    const known = PcpError.from(error, `Cannot register a domain in ${path}`)
    throw UNWRITABLE.has(known.code)
      ? new PcpError(known.code, `${known.message}: ${hint}`, { cause: error })
      : known
  }
}
