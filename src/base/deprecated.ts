/**
 * Names that were replaced: each works for one release, and its first use in a process prints a warning, as those of Node do
 * (`DeprecationWarning` with a code; `node --no-deprecation` hides and `--throw-deprecation` finds them). docs/reference/deprecations.md
 */

/** A deprecated name. */
export interface Deprecation {
  /** What no longer exists after `removedIn`. */
  readonly old: string
  readonly replacement: string
  /** Entry point of the package. */
  readonly entry: string
  readonly since: string
  readonly removedIn: string
}

/** Code of a deprecation. A code is never used again. */
export type DeprecationCode = `PCP_DEP000${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`

/** Renamed in 0.1: the old name works until 0.2. */
const renamed = (entry: string, old: string, replacement: string): Deprecation => ({
  old,
  replacement,
  entry,
  since: '0.1',
  removedIn: '0.2',
})

/** All deprecations by code. docs/reference/deprecations.md has the same table, and a test compares them. */
export const DEPRECATIONS: Readonly<Record<DeprecationCode, Deprecation>> = {
  PCP_DEP0001: renamed('pcp-ts/pmda', 'MetricSpec.ahead', 'MetricSpec.prefetch'),
  PCP_DEP0002: renamed('pcp-ts/pmda', 'MetricSpec.notes', 'MetricSpec.optionalLabels'),
  PCP_DEP0003: renamed('pcp-ts/pmda', 'MetricSpec.isShown', 'MetricSpec.isVisibleTo'),
  PCP_DEP0004: renamed('pcp-ts/pmda', 'MetricSpec.storesToOwn', 'MetricSpec.acceptsNullInstance'),
  PCP_DEP0005: renamed('pcp-ts/pmda', 'IndomSpec.instanceNotes', 'IndomSpec.optionalInstanceLabels'),
  PCP_DEP0006: renamed(
    'pcp-ts/pmda',
    'InstanceCacheOptions.mostInactive',
    'InstanceCacheOptions.maxInactive',
  ),
  PCP_DEP0007: renamed('pcp-ts/pmda', 'askService', 'queryService'),
  PCP_DEP0008: renamed('pcp-ts/archive', 'ArchiveOutputOptions.collect', 'ArchiveOutputOptions.bufferBytes'),
}

const warned = new Set<DeprecationCode>()

/** Warns of the use of a deprecated name, once in a process. Browsers log it. */
export function warnDeprecated(code: DeprecationCode): void {
  if (warned.has(code)) return
  warned.add(code)
  const { old, replacement, entry, removedIn } = DEPRECATIONS[code]
  const text = `${old} of ${entry} is deprecated and will be removed in ${removedIn}: use ${replacement}`
  const { process: node, console: log } = globalThis as {
    process?: { emitWarning?: (text: string, type: string, code: string) => void }
    console?: { warn(text: string): void }
  }
  if (typeof node?.emitWarning === 'function') node.emitWarning(text, 'DeprecationWarning', code)
  else log?.warn(`[${code}] ${text}`)
}

/** Old names of fields and their codes. */
export type OldFields<T> = {
  readonly [name: string]: readonly [now: keyof T & string, code: DeprecationCode]
}

/**
 * Gives the values of fields with old names to the present names, with a warning. A present name that has a value keeps it. The object
 * is changed, because other code refers to it by identity; a frozen one throws a TypeError that names the field.
 */
export function renameFields<T extends object>(declared: T, names: OldFields<T>): T {
  const fields = declared as Record<string, unknown>
  for (const [old, [now, code]] of Object.entries(names)) {
    if (!Object.hasOwn(fields, old)) continue
    warnDeprecated(code)
    if (fields[now] === undefined && fields[old] !== undefined) Object.assign(fields, { [now]: fields[old] })
  }
  return declared
}
