/** Selects instances by class and host. pmlogctl(1) */
import { compilePattern, PatternError } from '../../../base/pattern.ts'
import { PcpError } from '../../../model/errors.ts'
import type { FarmInstance } from './farm-files.ts'
import type { FarmKind } from './kinds.ts'

/** The classes and hosts on the command line. */
export interface InstanceSelection {
  readonly kind: FarmKind
  /** As given by -c. */
  readonly className: string | undefined
  /** Names or patterns. */
  readonly hosts: readonly string[]
}

/** Returns matching instances in the order of the files; warns of hosts and classes without any. Throws EINVAL for a bad pattern. */
export function selectInstances(
  all: readonly FarmInstance[],
  target: InstanceSelection,
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
    const matching = inClass.filter(({ host: name, rawHost }) => matches(name) || matches(rawHost))
    if (matching.length === 0) warn(`host ${host} not defined ${where}`)
    for (const each of matching) chosen.add(each)
  }
  return inClass.filter((each) => chosen.has(each))
}

/**
 * Returns a function that matches host names. Text with special characters is a pattern for the whole name. The reference also
 * matches parts: `(abc|vm)` destroys the instances of abcd.
 */
function hostMatcher(host: string): (name: string) => boolean {
  if (!/[*+?()[\]{}|^$\\]/.test(host)) return (name) => name === host
  try {
    const pattern = compilePattern(`^(${host})$`)
    // PCP's patterns such as `.*HOST` match the literal LOCALHOSTNAME by its beginning (test 1216 of its suite).
    const beginning = compilePattern(`^(${host})`)
    return (name) => name === host || pattern.test(name) || (name === 'LOCALHOSTNAME' && beginning.test(name))
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new PcpError('EINVAL', `host pattern ${host}: ${error.message}`, { cause: error })
  }
}

/** Returns the hosts that have several instances, so the one meant is unclear. */
export function ambiguousHosts(instances: readonly FarmInstance[]): string[] {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const { host } of instances) {
    if (seen.has(host)) twice.add(host)
    seen.add(host)
  }
  return [...twice]
}
