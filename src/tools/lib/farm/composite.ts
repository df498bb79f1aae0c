/** The configuration of an instance of several classes: the concatenation of their configurations. pmlogctl(1), cond-create */
import { lchownSync, readFileSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { replaceFile } from '../../../sys/replace-file.ts'
import { parseControl } from '../admin/control-lines.ts'
import { makeDirFor, pcpAccount } from '../admin/owner.ts'
import { findProgram, runProgram } from '../admin/programs.ts'
import { splitWords } from '../admin/shell-words.ts'
import type { FarmInstance } from './farm-files.ts'
import { expandMacros, type Policy } from './policy.ts'
import { isFile } from './policy-files.ts'
import type { FarmRun } from './run.ts'

/**
 * Writes IDENT.config in the directory of the instance from the existing configurations of its classes, and once from the
 * generated one if any is missing. Rejects with PcpError.
 */
export async function writeComposite(
  policies: readonly Policy[],
  { host, path: place }: FarmInstance,
  ident: string,
  run: FarmRun,
): Promise<void> {
  const { kind, variables, showsOnly, verbose, say } = run
  const named = policies.map((policy) => configOf(policy, { host, ident }, run))
  const texts = named
    .filter((path) => path !== undefined && isFile(path))
    .map((path) => readFileSync(path!, 'utf8'))
  if (texts.length < named.length) texts.push(await generate(host, run))
  const text = kind.service === 'pmlogger' ? joinRecordings(texts) : joinTexts(texts)
  verbose(2, `--- start combined config file ---\n${text.trimEnd()}\n--- end combined config file ---`)
  const dir = kind.dirOf(place)
  const path = join(dir, `${ident}.config`)
  if (showsOnly) {
    const prepared = run.scratch.path('config')
    writeFileSync(prepared, text)
    say(`+ mkdir -p ${dir}`)
    say(`+ cp ${prepared} ${path}`)
    return
  }
  const account = pcpAccount(variables, () => readFileSync('/etc/passwd', 'utf8'))
  makeDirFor(dir, account)
  replaceFile(path, text)
  if (account !== undefined) lchownSync(path, account.uid, account.gid)
}

/** Returns the path of a policy's configuration, as daemons resolve it; undefined if it names none. */
function configOf(
  policy: Policy,
  { host, ident }: { host: string; ident: string },
  { kind, variables }: FarmRun,
): string | undefined {
  const lines = policy.control.map((line) => expandMacros(line, { h: host, i: ident }, variables))
  const instance = parseControl(['$version=1.1', ...lines].join('\n')).find(
    (line) => line.kind === 'instance',
  )
  if (instance?.kind !== 'instance') return undefined
  const words = splitWords(instance.args, { variables })
  const at = words.findIndex(
    (word) => word === '-c' || word === '--config' || /^(?:-c.|--config=)/.test(word),
  )
  if (at === -1) return undefined
  const word = words[at]!
  const name = word === '-c' || word === '--config' ? words[at + 1] : word.replace(/^(?:--config=|-c)/, '')
  if (name === undefined || isAbsolute(name)) return name
  // The instance's directory does not exist yet, so a relative name is one of the daemon's own files.
  return join(variables['PCP_VAR_DIR'] ?? '', 'config', kind.service, name)
}

/** Returns the configuration that pmlogconf or pmieconf generates for a host. */
async function generate(host: string, run: FarmRun): Promise<string> {
  const { kind, variables, scratch } = run
  const path = scratch.path('generated')
  const isLogger = kind.service === 'pmlogger'
  const name = isLogger ? 'pmlogconf' : 'pmieconf'
  const from = host === run.hostName ? 'local:' : host
  const args = isLogger ? ['-c', '-q', '-h', from, path] : ['-f', path, '-cF']
  const program = findProgram(name, variables)
  if (program === undefined) throw new PcpError('ENOENT', `cannot find the command ${name}`)
  let said = ''
  const write = (text: string): void => {
    said += text
  }
  const status = await runProgram(program, args, { cwd: '/', env: variables, write })
  if (status !== 0 || !isFile(path))
    throw new PcpError('EINVAL', `${name} made no configuration for host ${host}: ${said.trim()}`)
  return readFileSync(path, 'utf8')
}

const ACCESS = /^\[access\]\s*$/m

/** Joins pmlogger configurations. The access section must be last, and the first one is used. */
export function joinRecordings(texts: readonly string[]): string {
  const parts = texts.map((text) => {
    const at = text.search(ACCESS)
    return at === -1 ? { head: text, access: undefined } : { head: text.slice(0, at), access: text.slice(at) }
  })
  // pmlogconf updates files with its first line, and would drop the other classes.
  const heads = parts.map(({ head }) => (parts.length > 1 ? head.replace(/^#pmlogconf.*\n/, '') : head))
  const access = parts.find((part) => part.access !== undefined)?.access
  return joinTexts(access === undefined ? heads : [...heads, access])
}

function joinTexts(texts: readonly string[]): string {
  return texts.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('')
}
