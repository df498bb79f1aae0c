/** Which instances a command is about: those of a class, of hosts, or of both. pmlogctl(1) */
import { compilePattern, PatternError } from '../../../base/pattern.ts'
import { PcpError } from '../../../model/errors.ts'
import type { FarmInstance } from './farm-files.ts'
import type { FarmKind } from './kinds.ts'

/** What the command line asks for. */
export interface Target {
  readonly kind: FarmKind
  /** As given by -c. */
  readonly className: string | undefined
  /** Names or patterns. */
  readonly hosts: readonly string[]
}

/** The instances that match, in the order of the files; warns of hosts and classes without any. EINVAL for a bad pattern. */
export function selectInstances(
  all: readonly FarmInstance[],
  target: Target,
  warn: (text: string) => void,
): FarmInstance[] {
  const { kind, className, hosts } = target
  const inClass = className === undefined ? all : all.filter((each) => each.className === className)
  const where =
    className === undefined
      ? `in any ${kind.service} control file`
      : `in class ${className} for any ${kind.service} control file`
  if (hosts.length === 0) {
    if (inClass.length === 0) warn(`no host defined ${where}`)
    return [...inClass]
  }
  const chosen = new Set<FarmInstance>()
  for (const host of hosts) {
    const matches = hostMatcher(host)
    const matching = inClass.filter(({ host: name, writtenHost }) => matches(name) || matches(writtenHost))
    if (matching.length === 0) warn(`host ${host} not defined ${where}`)
    for (const each of matching) chosen.add(each)
  }
  return inClass.filter((each) => chosen.has(each))
}

/**
 * Tells whether a name is meant: by a pattern that matches the whole of it, where the text has characters that no name has.
 * Unlike the reference, whose patterns may match more than the manual page says: `(abc|vm)` also destroys what belongs to abcd.
 */
function hostMatcher(host: string): (name: string) => boolean {
  if (!/[*+?()[\]{}|^$\\]/.test(host)) return (name) => name === host
  try {
    const pattern = compilePattern(`^(${host})$`)
    // LOCALHOSTNAME stands for a name: PCP's patterns such as `.*HOST` find it by its beginning (test 1216 of its suite).
    const beginning = compilePattern(`^(${host})`)
    return (name) => name === host || pattern.test(name) || (name === 'LOCALHOSTNAME' && beginning.test(name))
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new PcpError('EINVAL', `host pattern ${host}: ${error.message}`, { cause: error })
  }
}

/** The hosts that are there more than once, so that nobody knows which of their instances is meant. */
export function ambiguousHosts(instances: readonly FarmInstance[]): string[] {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const { host } of instances) {
    if (seen.has(host)) twice.add(host)
    seen.add(host)
  }
  return [...twice]
}
