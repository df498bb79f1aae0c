/** Opens the source given on a command line. */
import { oneLine } from '../../base/printable.ts'
import { PcpError } from '../../model/errors.ts'
import { type HostSpec, parseHostSpec, showHostSpec } from '../../net/host-spec.ts'
import { connect } from '../../pmapi/connect.ts'
import { Context } from '../../pmapi/context.ts'
import { loadPmns } from '../../pmns/load.ts'
import { nameSpaceSource } from '../../pmns/local-names.ts'
import type { Pmns } from '../../pmns/tree.ts'
import { loadConfig, type Variables } from '../../sys/config.ts'
import { pmnsFiles } from '../../sys/pmns-files.ts'
import { FOREVER } from '../../time/arithmetic.ts'
import { damagedEnd } from './damaged-end.ts'
import { derivedOf } from './derived.ts'
import { askPassword, completeLogin } from './login.ts'
import { connectProblem, openError } from './open-error.ts'
import type { StandardOptions } from './standard.ts'
import type { ToolIo } from './tool.ts'
import type { ArchiveBounds } from './window.ts'

/** The default host: the local socket, then TCP on this host. */
const DEFAULT_HOST = 'local:'

/** Opens the source. Rejects with PcpError with the message of PCP's commands. */
export async function openContext(standard: StandardOptions, io: ToolIo): Promise<Context> {
  if (standard.source === 'archive') return openArchives(standard, io)
  if (standard.source === 'local') return openLocalContext(standard, io)
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  const names = standard.namespace === undefined ? undefined : loadNames(standard.namespace, io)
  const derived = derivedOf(standard.derived, variables, io)
  const host = standard.hosts[0] ?? DEFAULT_HOST
  const { container } = standard
  const env = container === undefined ? variables : { ...variables, PCP_CONTAINER: container }
  try {
    const spec = await completeLogin(parseHost(host, env, io), (user) => askPassword(user, io))
    const open = io.connect ?? connect
    return await open(spec, { env, signal: io.signal, derived, ...(names === undefined ? {} : { names }) })
  } catch (error) {
    const { code } = PcpError.from(error)
    const why = connectProblem(error)
    throw new PcpError(code, `Cannot connect to PMCD on host "${showHostSpec(host)}": ${why}`, {
      cause: error,
    })
  }
}

/** Opens the source of a report. On a terminal names of instances and hosts are made one line. */
export async function openReport(standard: StandardOptions, io: ToolIo): Promise<Context> {
  const context = await openContext(standard, io)
  if (io.stdout.isTerminal) context.formNames(oneLine)
  return context
}

/** Opens several archives as one context. */
async function openArchives({ archives, namespace, derived }: StandardOptions, io: ToolIo): Promise<Context> {
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  const setup = derivedOf(derived, variables, io)
  const names = namespace === undefined ? undefined : loadNames(namespace, io)
  // Imported late: only needed for archives.
  const open = io.openArchive ?? (await import('../../pmapi/archive.ts')).openArchive
  const list = archives.join(',')
  try {
    return await open(list, {
      env: io.env,
      derived: setup,
      stopsAtDamage: true,
      onWarning: ({ message }) => io.stderr.write(`${io.progname}: Warning: ${message}\n`),
      ...(names === undefined ? {} : { names }),
    })
  } catch (error) {
    throw openError(list, error)
  }
}

/** Returns the start and end of an archive context; undefined for other sources. Warns about a damaged end. */
export function boundsOf(
  context: Context,
  { archives }: StandardOptions,
  io: ToolIo,
): ArchiveBounds | undefined {
  const { archive } = context
  if (archive === undefined) return undefined
  try {
    return { start: archive.start, end: archive.end() }
  } catch (error) {
    io.stderr.write(damagedEnd(archives.join(','), PcpError.from(error), io))
    return { start: archive.start, end: FOREVER }
  }
}

async function openLocalContext(
  { namespace, specLocal, derived }: StandardOptions,
  io: ToolIo,
): Promise<Context> {
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  const setup = derivedOf(derived, variables, io)
  const names = namespace === undefined ? undefined : loadNames(namespace, io)
  const { openLocal } = await import('../../routing/local-context.ts') // loads all agents, so only for local contexts
  try {
    return await openLocal({
      env: io.env,
      specs: specLocal,
      derived: setup,
      warn: (text) => io.stderr.write(`${text}\n`),
      ...(names === undefined ? {} : { names }),
    })
  } catch (error) {
    const { code, message } = PcpError.from(error)
    const what =
      code === 'PM_ERR_INDOM' ? 'pmSpecLocalPMDA failed' : 'Cannot make standalone connection on localhost'
    throw new PcpError(code, `${what}: ${message}`, { cause: error })
  }
}

/** Opens a context with only the names in the file of -n or -N; undefined if a source or no file is given. */
export function openNames({ namespace, source }: StandardOptions, io: ToolIo): Context | undefined {
  if (namespace === undefined || source !== undefined) return undefined
  return Context.over(nameSpaceSource(loadNames(namespace, io)))
}

/** Parses a host specification; prints PCP's message, which marks the position of an error. */
function parseHost(host: string, env: Variables, io: ToolIo): HostSpec {
  try {
    return parseHostSpec(host, env)
  } catch (error) {
    io.stderr.write(`pmNewContext: bad host specification\n${PcpError.from(error).message}`)
    throw error
  }
}

/** Loads the name space of -n or -N. Throws PcpError with the message of PCP's commands. */
export function loadNames(namespace: NonNullable<StandardOptions['namespace']>, io: ToolIo): Pmns {
  const { file, unique } = namespace
  const { variables } = loadConfig(io.env, { uid: process.getuid?.() ?? 0 })
  try {
    return loadPmns(file, pmnsFiles(variables, { cwd: io.cwd }), { unique })
  } catch (error) {
    const { code, text, message, reason } = PcpError.from(error)
    const isDuplicate = reason === 'duplicate-name' || reason === 'duplicate-pmid'
    // PCP's messages about duplicates end with an additional newline.
    io.stderr.write(`${message.trimEnd()}\n${isDuplicate ? '\n' : ''}`)
    throw new PcpError(code, `Cannot load namespace from "${file}": ${text}`, { cause: error })
  }
}
