/** The configuration of an instance that several classes want: what each of them has, one after the other. pmlogctl(1), cond-create */
import { lchownSync, readFileSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { PcpError } from '../../../model/errors.ts'
import { replaceFile } from '../../../sys/replace-file.ts'
import { parseControl } from '../admin/control-lines.ts'
import { makeDirFor, pcpAccount } from '../admin/owner.ts'
import { findProgram, runProgram } from '../admin/programs.ts'
import { splitWords } from '../admin/words.ts'
import type { FarmInstance } from './farm-files.ts'
import { expandMacros, type Policy } from './policy.ts'
import { isFile } from './policy-files.ts'
import type { FarmRun } from './run.ts'

/**
 * Writes the configuration IDENT.config in the directory of the instance: the configurations that the classes name, as far as they
 * are there, and once what the daemon's configurator makes if one is not. Throws PcpError when that fails.
 */
export async function writeComposite(
  policies: readonly Policy[],
  { host, place }: FarmInstance,
  ident: string,
  run: FarmRun,
): Promise<void> {
  const { kind, variables, showsOnly, tell, say } = run
  const named = policies.map((policy) => configOf(policy, { host, ident }, run))
  const texts = named
    .filter((path) => path !== undefined && isFile(path))
    .map((path) => readFileSync(path!, 'utf8'))
  if (texts.length < named.length) texts.push(await generate(host, run))
  const text = kind.service === 'pmlogger' ? joinRecordings(texts) : joinTexts(texts)
  tell(2, `--- start combined config file ---\n${text.trimEnd()}\n--- end combined config file ---`)
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

/** The configuration that a policy's instance would have: where daemons look for it. Undefined when it names none. */
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
  // One beside the daemon's files is of an instance that is not there yet.
  return join(variables['PCP_VAR_DIR'] ?? '', 'config', kind.service, name)
}

/** What pmlogconf or pmieconf makes for a host. */
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

/** Configurations of pmlogger: what may be asked of it is one section, the last; the first that has one decides. */
export function joinRecordings(texts: readonly string[]): string {
  const parts = texts.map((text) => {
    const at = text.search(ACCESS)
    return at === -1 ? { head: text, access: undefined } : { head: text.slice(0, at), access: text.slice(at) }
  })
  // What pmlogconf has made is known by its first line, and must not be made anew without the others.
  const heads = parts.map(({ head }) => (parts.length > 1 ? head.replace(/^#pmlogconf.*\n/, '') : head))
  const access = parts.find((part) => part.access !== undefined)?.access
  return joinTexts(access === undefined ? heads : [...heads, access])
}

function joinTexts(texts: readonly string[]): string {
  return texts.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('')
}
