/** Which instances a requester wants. pmAddProfile(3), pmDelProfile(3), docs/formats/wire.md §3.4 */
import { PcpError } from './errors.ts'
import { type Indom, PM_INDOM_NULL } from './ids.ts'
import { InstanceSet } from './instance-set.ts'

/** The rule for one instance domain: all instances except those listed, or only those listed. */
export interface ProfileEntry {
  readonly indom: Indom
  /** True: all but `instances`. False: only `instances`. */
  readonly includeAll: boolean
  readonly instances: InstanceSet
}

/** An instance profile. Immutable: a change makes a new object, so identity tells whether a peer has it already. */
export interface Profile {
  /** What holds for instance domains without an entry. */
  readonly includeByDefault: boolean
  readonly entries: ReadonlyMap<Indom, ProfileEntry>
}

/** The initial profile: everything. */
export const ALL_INSTANCES: Profile = { includeByDefault: true, entries: new Map() }

/** Bytes of a profile without entries, and of an entry without instances. */
const PROFILE_BYTES = 320
const ENTRY_BYTES = 100

/** Returns about how many bytes of memory a profile takes, not less. */
export function profileBytes({ entries }: Profile): number {
  let bytes = PROFILE_BYTES + ENTRY_BYTES * entries.size
  for (const { instances } of entries.values()) bytes += instances.bytes
  return bytes
}

/** Does the profile want this instance of this domain? Metrics without instance domain are never filtered. */
export function wants(profile: Profile, indom: Indom, inst: number): boolean {
  if (indom === PM_INDOM_NULL) return true
  const entry = profile.entries.get(indom)
  if (entry === undefined) return profile.includeByDefault
  return entry.instances.has(inst) !== entry.includeAll
}

/** The profile that wants nothing until something is included. */
const NO_INSTANCES: Profile = { includeByDefault: false, entries: new Map() }

/**
 * Wants these instances too: the ones listed, or without a list all of the domain, or with PM_INDOM_NULL everything. The
 * first list for a domain that was wanted whole by default narrows it to the list. PM_ERR_PROFILESPEC for a list without a
 * domain. @see pmAddProfile(3)
 */
export function include(profile: Profile, indom: Indom, instances: readonly number[] = []): Profile {
  return change(profile, indom, instances, true)
}

/**
 * Wants these instances no more: the ones listed, or without a list none of the domain, or with PM_INDOM_NULL nothing at
 * all. PM_ERR_PROFILESPEC for a list without a domain. @see pmDelProfile(3)
 */
export function exclude(profile: Profile, indom: Indom, instances: readonly number[] = []): Profile {
  return change(profile, indom, instances, false)
}

function change(profile: Profile, indom: Indom, instances: readonly number[], isWanted: boolean): Profile {
  if (indom === PM_INDOM_NULL) {
    if (instances.length > 0) {
      throw new PcpError('PM_ERR_PROFILESPEC', 'Instances can be listed only for one instance domain')
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
  // A first list is the whole rule: only these, or all but these. What is excluded by default stays so.
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
