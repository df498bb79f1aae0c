/** pmda-new: begin an agent. Ours; PCP has none. docs/agents.md */
import { existsSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { PcpError } from '../../model/errors.ts'
import { takeLock } from '../../sys/file-lock.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { domainRegisters } from '../../sys/stdpmid.ts'
import { endEarly, HELP_ROW, type OptionTable, parseOptions, VERSION_ROW } from '../lib/options.ts'
import { variablesOf } from '../lib/pmns-edit.ts'
import { updateStdpmid } from '../lib/stdpmid.ts'
import type { Tool, ToolIo } from '../lib/tool.ts'
import { freeDomain, registeredDomain } from './domain.ts'
import { newAgentFiles } from './templates.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] name',
  operands: 'none',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'domain', arg: 'N', help: 'domain to use; nothing is recorded then' },
    { short: 'o', long: 'output', arg: 'DIR', help: 'folder to write (default: one of the name, here)' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const LOCK_MS = 10_000
const LOCAL = 'stdpmid.local'
/** Errors of a directory that this user cannot have. */
const UNWRITABLE: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR'])

/** Writes a working agent with tests, and records a domain for it. */
export const tool: Tool = {
  name: 'pmda-new',
  summary: 'Begin an agent',
  description: `
Writes a folder with a working agent: metrics with and without instances, one that can be stored into, tests, a pmlogconf group
and a README that says what to fill in. It runs at once: with dbpmda, with node --test, and installed by pmda-install.

Its domain is the highest free one of those that agents of a site may have, and is recorded in stdpmid.local in the directory of
name spaces. An agent that has a domain there keeps it.`,
  examples: [['pmda-new queue', 'An agent called queue in a folder of that name:']],
  seeAlso: ['pmda-install', 'dbpmda', 'pmcd'],
  options: OPTIONS,
  endsInOrder: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
    const [name = ''] = operands
    const chosen = last('d')
    if (last('?') === undefined && last('V') === undefined) {
      if (operands.length !== 1) problems.push('which name?')
      else if (!/^[a-z][a-z0-9_]{0,31}$/.test(name))
        problems.push(`"${name}" can be no name: small letters, digits and underscores, a letter first`)
      if (chosen !== undefined && !(/^\d{1,3}$/.test(chosen) && Number(chosen) >= 1 && Number(chosen) <= 510))
        problems.push('-d wants a number from 1 to 510')
    }
    const status = endEarly(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const dir = resolve(io.cwd, last('o') ?? name)
    if (existsSync(dir))
      throw new PcpError('EEXIST', `${dir} exists: remove it, or choose another folder with -o`)
    const domain = chosen === undefined ? await recordDomain(name, io) : Number(chosen)
    write(dir, name, domain)
    io.stdout.write(`Wrote the agent ${name}, domain ${domain}, to ${dir}: its README.md says how to go on\n`)
    return 0
  },
}

/** The domain that the registers have for the name, or a free one, which is then in stdpmid.local. */
async function recordDomain(name: string, io: ToolIo): Promise<number> {
  const variables = variablesOf(io)
  const dir = join(variables['PCP_VAR_DIR']!, 'pmns')
  const symbol = name.toUpperCase()
  const path = join(dir, LOCAL)
  const hint = 'become who may write there, or choose a domain with -d'
  try {
    makeDir(dir)
    const lock = await takeLock(`${path}.edit`, { limitMs: LOCK_MS, signal: io.signal })
    if (lock === undefined) throw new PcpError('EBUSY', `Somebody else changes ${path}: try again`)
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
    const known = PcpError.from(error, `Cannot record a domain in ${path}`)
    throw UNWRITABLE.has(known.code)
      ? new PcpError(known.code, `${known.message}: ${hint}`, { cause: error })
      : known
  }
}

/** Writes the folder, or nothing. */
function write(dir: string, name: string, domain: number): void {
  try {
    for (const [path, text] of newAgentFiles({ name, domain })) {
      const file = join(dir, path)
      makeDir(dirname(file))
      writeFileSync(file, text, { flag: 'wx', mode: path.startsWith('pmda') ? 0o755 : 0o644 })
    }
    linkPackage(dir)
  } catch (error) {
    rmSync(dir, { recursive: true, force: true })
    throw PcpError.from(error, `Cannot write ${dir}`)
  }
}

/** This package where the agent's imports find it, so that it runs before npm has installed anything. */
function linkPackage(dir: string): void {
  const top = dirname(dirname(realpathSync(process.argv[1]!)))
  if (!existsSync(join(top, 'package.json'))) return
  makeDir(join(dir, 'node_modules'))
  symlinkSync(top, join(dir, 'node_modules', 'pcp-ts'))
}
