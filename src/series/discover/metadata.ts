/** Metadata of a followed archive as series need it: the present state. */
import type { FollowedMetadata, MetadataChange } from '../../archive/follow/metadata.ts'
import type { IndomSnapshot } from '../../archive/indom-history.ts'
import type { MetricDesc } from '../../model/desc.ts'
import { type Outcome, PcpError } from '../../model/errors.ts'
import type { Indom, Pmid } from '../../model/ids.ts'
import type { LabelSet } from '../../model/labels.ts'
import type { LabelQuery } from '../../model/source.ts'
import type { SeriesMetadata } from '../labels.ts'

/** See above. */
export class DiscoveredMetadata implements SeriesMetadata {
  readonly #followed: FollowedMetadata
  readonly #descs = new Map<Pmid, MetricDesc>()
  readonly #pmids = new Map<string, Pmid>()
  readonly #snapshots = new Map<Indom, IndomSnapshot>()

  /** Starts with what the follower knows; `changed` adds the rest. */
  constructor(followed: FollowedMetadata) {
    this.#followed = followed
    for (const { desc, names } of followed.metrics.values()) this.#add(desc, names)
  }

  /** Returns whether series depend on this change other than by their instances. */
  changed(change: MetadataChange): boolean {
    if (change.kind === 'instances') this.#snapshots.delete(change.indom)
    if (change.kind === 'metric') this.#add(change.desc, change.names)
    return change.kind === 'metric' || change.kind === 'labels'
  }

  get descs(): ReadonlyMap<Pmid, MetricDesc> {
    return this.#descs
  }

  lookup(name: string): Outcome<Pmid> {
    return this.#pmids.get(name) ?? new PcpError('PM_ERR_NAME', `${name}: no such metric`)
  }

  traverse(name: string): readonly string[] {
    return [...this.#pmids.keys()].filter(
      (each) => name === '' || each === name || each.startsWith(`${name}.`),
    )
  }

  labels({ level, id }: LabelQuery): readonly LabelSet[] {
    return this.#followed.labels(level, id)
  }

  /** Returns the present instances: those of the record that follows. */
  snapshotAt(indom: Indom): IndomSnapshot | undefined {
    const known = this.#snapshots.get(indom)
    if (known !== undefined) return known
    const instances = this.#followed.indoms.get(indom)
    if (instances === undefined) return undefined
    const ids = Int32Array.from(instances.keys()).sort()
    const names = Array.from(ids, (id) => instances.get(id)!)
    const snapshot = { sec: 0, nsec: 0, ids, name: (i: number) => names[i]! }
    this.#snapshots.set(indom, snapshot)
    return snapshot
  }

  #add(desc: MetricDesc, names: readonly string[]): void {
    this.#descs.set(desc.pmid, desc)
    for (const name of names) if (!this.#pmids.has(name)) this.#pmids.set(name, desc.pmid)
  }
}
