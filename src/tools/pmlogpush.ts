/**
 * pmlogpush: pushes a finished archive to a pmproxy, which stores it by host and time. pmlogpush(1), docs/how-to/push-archives.md
 *
 * Options are those of PCP 7, with a URL as an alternative to -h and -p. An interrupted push is continued by the next one.
 */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { PcpError } from '../model/errors.ts'
import { loadTlsConfig, readCas } from '../net/tls-config.ts'
import { PushClient } from '../push/client.ts'
import { ArchiveSender } from '../push/sender.ts'
import { SentArchive } from '../push/sent-archive.ts'
import { isPushUrl, type PushTarget, plainWarning, pushTarget } from '../push/target.ts'
import { archiveFiles } from '../sys/archive-files.ts'
import { baseOf } from './lib/archive-input.ts'
import { HELP_ROW, handleEarlyExit, type OptionTable, VERSION_ROW } from './lib/options.ts'
import { parseStandard, STANDARD } from './lib/standard.ts'
import type { Tool, ToolIo } from './lib/tool.ts'

const OPTIONS: OptionTable = {
  synopsis: '[options] archive [http://host:port]',
  rows: [
    { heading: 'Options' },
    STANDARD.debug,
    { short: 'h', long: 'host', arg: 'HOST', help: 'host of the pmproxy [localhost]' },
    { short: 'p', long: 'port', arg: 'PORT', help: 'port of the pmproxy [44322]' },
    { short: 's', long: 'unix', arg: 'PATH', help: 'unix socket of a pmproxy on this host' },
    { long: 'credentials', arg: 'FILE', help: 'file with USER:PASSWORD or a token for the server' },
    { short: 'v', long: 'verbose', help: 'print each request' },
    VERSION_ROW,
    HELP_ROW,
  ],
}

/** Times that a server may forget the archive's number during one push. */
const MAX_RESTARTS = 3

export const tool: Tool = {
  name: 'pmlogpush',
  summary: 'push an archive to a pmproxy',
  options: OPTIONS,
  run,
}

async function run(io: ToolIo): Promise<number> {
  const { given, operands, problems } = parseStandard(OPTIONS, io)
  const last = (name: string): string | undefined => given.findLast((option) => option.name === name)?.value
  const [name, url] = operands
  if (name === undefined && last('?') === undefined && last('V') === undefined)
    problems.push('insufficient arguments')
  if (operands.length > 2) problems.push('too many arguments')
  if (url !== undefined && !isPushUrl(url))
    problems.push(`not a URL such as http://example.com:44322: ${url}`)
  if (url !== undefined && ['h', 'p', 's'].some((option) => last(option) !== undefined))
    problems.push('a URL replaces -h, -p and -s')
  const port = last('p')
  if (port !== undefined && !/^\d{1,5}$/.test(port)) problems.push(`bad port number (${port})`)
  const status = handleEarlyExit(OPTIONS, { given, problems }, io)
  if (status !== undefined) return status
  try {
    const credentials = last('credentials')
    const address = url ?? `http://${bracketed(last('h') ?? 'localhost')}:${port ?? 44322}`
    const target = pushTarget(address, credentials === undefined ? undefined : resolve(io.cwd, credentials))
    const socketPath = last('s')
    const to = socketPath === undefined ? target : { ...target, socketPath: resolve(io.cwd, socketPath) }
    await push(name!, to, last('v') !== undefined, io)
    return 0
  } catch (error) {
    io.stderr.write(`${io.progname}: ${PcpError.from(error).message}\n`)
    return 1
  }
}

async function push(name: string, target: PushTarget, isVerbose: boolean, io: ToolIo): Promise<void> {
  const warning = plainWarning(target)
  if (warning !== undefined) io.stderr.write(`${io.progname}: Warning: ${warning}\n`)
  const files = archiveFiles()
  const archive = new SentArchive(resolve(io.cwd, baseOf(name, files)), files)
  const client = new PushClient(target, readCas(loadTlsConfig(io.env)), io.signal)
  try {
    if (archive.label() === undefined)
      throw new PcpError('PM_ERR_NODATA', `${name}: the archive has no label`)
    const posted = (path: string, bytes: number, code: number): void => {
      if (isVerbose) io.stderr.write(`POST ${path}: ${bytes} bytes, answer ${code}\n`)
    }
    const sender = new ArchiveSender(archive, client, { id: contentId(archive), posted })
    for (let restarts = 0; ; restarts++) {
      try {
        await sender.finish()
        return
      } catch (error) {
        if (PcpError.from(error).code !== 'ESRCH' || restarts === MAX_RESTARTS) throw error
      }
    }
  } finally {
    client.close()
    archive.close()
  }
}

/** Returns an id that the same archive has in each push, and an archive with other metadata or another index does not have. */
function contentId(archive: SentArchive): string {
  const hash = createHash('sha256')
  const ends = archive.ends()
  for (const part of ['meta', 'index'] as const) {
    const end = ends.get(part)!
    for (let at = 0; at < end; at += 1 << 20) hash.update(archive.read(part, at, Math.min(1 << 20, end - at)))
  }
  return hash.update(JSON.stringify([...ends])).digest('hex')
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}
