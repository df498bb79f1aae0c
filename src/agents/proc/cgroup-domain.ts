/** Instance domains of control groups, with stable identifiers. */
import type { IndomSpec, Labels } from '../../pmda/define.ts'
import type { Reading } from '../../pmda/reading.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { Cgroup, CgroupSnapshot } from './cgroup-tree.ts'

/** Shared by the metrics of a controller: its groups are the instances. */
export interface CgroupDomain {
  readonly reading: Reading<CgroupSnapshot>
  readonly indom: IndomSpec
  readonly group: (inst: number) => Cgroup | undefined
}

/** A domain whose instances are control groups. */
export function cgroupDomain(
  reading: Reading<CgroupSnapshot>,
  serial: number,
  groups: (snapshot: CgroupSnapshot) => readonly Cgroup[],
  labels: Labels | undefined,
  help: string,
): CgroupDomain {
  const ids = new InstanceIds()
  let of: CgroupSnapshot | undefined
  const byInst = new Map<number, Cgroup>()
  const refresh = (): void => {
    if (of === reading.value) return
    of = reading.value
    byInst.clear()
    for (const group of groups(of)) byInst.set(ids.idOf(group.name), group)
  }
  return {
    reading,
    indom: {
      serial,
      reading,
      instances: () => {
        refresh()
        return { ids: [...byInst.keys()], names: [...byInst.values()].map(({ name }) => name) }
      },
      help,
      text: 'A group is named by its path below the mount point of its hierarchy; / is the root group.',
      ...(labels === undefined ? {} : { labels }),
    },
    group: (inst) => {
      refresh()
      return byInst.get(inst)
    },
  }
}
