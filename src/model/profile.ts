/** Instance profiles. pmAddProfile(3), pmDelProfile(3), docs/formats/wire.md §3.4 */
import { PcpError } from './errors.ts'
import { type Indom, PM_INDOM_NULL } from './ids.ts'
import { InstanceSet } from './instance-set.ts'

/** The rule for one instance domain: all instances except the listed ones, or only those. */
export interface ProfileEntry {
  readonly indom: Indom
  /** True for all but `instances`, false for only `instances`. */
  readonly includeAll: boolean
  readonly instances: InstanceSet
}

/** An instance profile. Immutable, so object identity shows whether a peer already has it. */
export interface Profile {
  /** Rule for instance domains without an entry. */
  readonly includeByDefault: boolean
  readonly entries: ReadonlyMap<Indom, ProfileEntry>
}

/** The initial profile, which includes everything. */
export const ALL_INSTANCES: Profile = { includeByDefault: true, entries: new Map() }

/** Memory use of a profile without entries, and of an entry without instances. */
const PROFILE_BYTES = 320
const ENTRY_BYTES = 100

/** Returns an upper estimate of the memory used by a profile, in bytes. */
export function profileBytes({ entries }: Profile): number {
  let bytes = PROFILE_BYTES + ENTRY_BYTES * entries.size
  for (const { instances } of entries.values()) bytes += instances.bytes
  return bytes
}

/** Returns whether the profile includes an instance. Metrics without an instance domain are never filtered. */
export function includesInstance(profile: Profile, indom: Indom, inst: number): boolean {
  if (indom === PM_INDOM_NULL) return true
  const entry = profile.entries.get(indom)
  if (entry === undefined) return profile.includeByDefault
  return entry.instances.has(inst) !== entry.includeAll
}

/** A profile that includes nothing. */
const NO_INSTANCES: Profile = { includeByDefault: false, entries: new Map() }

/**
 * Includes instances: the listed ones, all of the domain without a list, or all instances with PM_INDOM_NULL. If the whole
 * domain was included by default, the first list narrows it. PM_ERR_PROFILESPEC for a list without a domain.
 * @see pmAddProfile(3)
 */
export function include(profile: Profile, indom: Indom, instances: readonly number[] = []): Profile {
  return change(profile, indom, instances, true)
}

/**
 * Excludes instances: the listed ones, all of the domain without a list, or all instances with PM_INDOM_NULL.
 * PM_ERR_PROFILESPEC for a list without a domain. @see pmDelProfile(3)
 */
export function exclude(profile: Profile, indom: Indom, instances: readonly number[] = []): Profile {
  return change(profile, indom, instances, false)
}

function change(profile: Profile, indom: Indom, instances: readonly number[], isWanted: boolean): Profile {
  if (indom === PM_INDOM_NULL) {
    if (instances.length > 0) {
      throw new PcpError('PM_ERR_PROFILESPEC', 'A list of instances requires an instance domain')
    }
    return isWanted ? ALL_INSTANCES : NO_INSTANCES
  }
  const entries = new Map(profile.entries)
  entries.set(indom, changedEntry(profile, indom, instances, isWanted))
  return { includeByDefault: profile.includeByDefault, entries }
}

function changedEntry(
  profile: Profile,
  indom: Indom,
  instances: readonly number[],
  isWanted: boolean,
): ProfileEntry {
  if (instances.length === 0) return { indom, includeAll: isWanted, instances: InstanceSet.NONE }
  const entry = profile.entries.get(indom)
  // A first list becomes the whole rule: only these, or all but these. Instances excluded by default stay excluded.
  if (entry === undefined && !isWanted && !profile.includeByDefault)
    return { indom, includeAll: false, instances: InstanceSet.NONE }
  if (entry === undefined) return { indom, includeAll: !isWanted, instances: InstanceSet.of(instances) }
  const listed = new Set(entry.instances)
  for (const inst of instances) {
    if (entry.includeAll === isWanted) listed.delete(inst)
    else listed.add(inst)
  }
  return { indom, includeAll: entry.includeAll, instances: InstanceSet.of(listed) }
}
