/** Which instances a requester wants. pmAddProfile(3), pmDelProfile(3), docs/formats/wire.md §3.4 */
import type { Indom } from './ids.ts'

/** The rule for one instance domain: all instances except those listed, or only those listed. */
export interface ProfileEntry {
  readonly indom: Indom
  /** True: all but `instances`. False: only `instances`. */
  readonly includeAll: boolean
  readonly instances: ReadonlySet<number>
}

/** An instance profile. Immutable: a change makes a new object, so identity tells whether a peer has it already. */
export interface Profile {
  /** What holds for instance domains without an entry. */
  readonly includeByDefault: boolean
  readonly entries: ReadonlyMap<Indom, ProfileEntry>
}

/** The initial profile: everything. */
export const ALL_INSTANCES: Profile = { includeByDefault: true, entries: new Map() }

/** Does the profile want this instance of this domain? Metrics without instance domain are never filtered. */
export function wants(profile: Profile, indom: Indom, inst: number): boolean {
  const entry = profile.entries.get(indom)
  if (entry === undefined) return profile.includeByDefault
  return entry.instances.has(inst) !== entry.includeAll
}
