/** pmpasswd: manages users who may authenticate to a collector. PCP uses SASL's commands for this. docs/explanation/security.md */
import { chmodSync, chownSync, closeSync, openSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { makeVerifier, saslPrep } from '../net/sasl/keys.ts'
import { formatUsers, parseUsers, userFilePath } from '../net/sasl/user-file.ts'
import { loadConfig, type Variables } from '../sys/config.ts'
import { takeLock } from '../sys/file-lock.ts'
import { makeDir } from '../sys/make-dir.ts'
import { openAccounts } from '../sys/native/accounts.ts'
import { replaceFile } from '../sys/replace-file.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, parseOptions, VERSION_ROW } from './lib/options.ts'
import { readSecret, SecretLines } from './lib/secret.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] user',
  rows: [
    { heading: 'Options' },
    { short: 'd', long: 'delete', help: 'remove the user instead of setting the password' },
    { short: 'f', long: 'file', arg: 'FILE', help: 'file of users (default passwd.conf beside pmcd.conf)' },
    { short: 'l', long: 'list', help: 'list the users' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

const LOCK_MS = 5000

/** Sets a password read from standard input. The file does not allow recovering it. */
export const tool: Tool = {
  name: 'pmpasswd',
  summary: 'Set the passwords of users who authenticate to a collector',
  description: `
Sets the password of a user who authenticates to a collector, in the file that the collector reads. The file has only what is needed
to verify the password. The password is read from the terminal with a prompt, or from standard input.`,
  examples: [['pmpasswd monitor', 'Add a user for clients on other hosts:']],
  seeAlso: ['pmcd'],
  options: OPTIONS,
  shutsDownOnSignal: true,
  async run(io) {
    const parsed = parseOptions(OPTIONS, io)
    const { given, operands, problems } = parsed
    const has = (name: string): boolean => given.some((option) => option.name === name)
    const [user = ''] = operands
    if (has('V') || has('?')) return handleEarlyExit(OPTIONS, parsed, io) ?? 0
    if (operands.length !== (has('l') ? 0 : 1))
      problems.push(has('l') ? 'too many arguments' : 'a user is required')
    else if (!has('l') && !canBeUser(user)) problems.push(`invalid user name ${JSON.stringify(user)}`)
    const status = handleEarlyExit(OPTIONS, parsed, io)
    if (status !== undefined) return status
    const { variables } = loadConfig(io.env)
    const path = resolve(io.cwd, given.findLast(({ name }) => name === 'f')?.value ?? userFilePath(variables))
    if (has('l')) {
      for (const name of parseUsers(read(path), path).keys()) io.stdout.write(`${name}\n`)
      return 0
    }
    return has('d') ? remove(path, user, io) : setPassword(path, user, variables, io)
  },
}

/** Returns whether a name can be stored in the file and sent by clients. */
function canBeUser(name: string): boolean {
  return name !== '' && !/[:#\p{Cc}]/u.test(name) && saslPrep(name) === name
}

async function setPassword(path: string, user: string, variables: Variables, io: ToolIo): Promise<number> {
  const lines = new SecretLines(io.stdin)
  const password = await readSecret(io, `Password of ${user}: `, lines)
  if (password === undefined || password === '') return fail(io, 'no password given, nothing changed')
  if (process.stdin.isTTY === true && (await readSecret(io, 'Repeat the password: ', lines)) !== password)
    return fail(io, 'the passwords do not match, nothing changed')
  const verifier = await makeVerifier(password)
  return edit(path, io, (text) => {
    if (text === '') create(path, variables)
    return formatUsers(parseUsers(text, path).set(user, verifier), text)
  })
}

function remove(path: string, user: string, io: ToolIo): Promise<number> {
  return edit(path, io, (text) => {
    const users = parseUsers(text, path)
    if (!users.delete(user)) throw new PcpError('EINVAL', `user "${user}" not found in ${path}`)
    return formatUsers(users, text)
  })
}

/** Changes the file while holding its lock. */
async function edit(path: string, io: ToolIo, change: (text: string) => string): Promise<number> {
  makeDir(dirname(path))
  const lock = await takeLock(`${path}.edit`, { limitMs: LOCK_MS, signal: io.signal })
  if (lock === undefined) return fail(io, `${path} is being changed by another process; see ${path}.edit`)
  try {
    replaceFile(path, change(read(path)), { keepMode: true })
    return 0
  } finally {
    lock.release()
  }
}

/** Creates the file readable only by its owner; one created by root is also readable by the collector's account. */
function create(path: string, variables: Variables): void {
  closeSync(openSync(path, 'a', 0o600))
  if (process.geteuid?.() !== 0) return
  const group = openAccounts().groupId(variables['PCP_GROUP'] ?? 'pcp')
  if (group === undefined) return
  chownSync(path, 0, group)
  chmodSync(path, 0o640)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return ''
    throw error
  }
}

function fail(io: ToolIo, problem: string): number {
  io.stderr.write(`${io.progname}: ${problem}\n`)
  return 1
}
