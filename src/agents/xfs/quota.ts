/** quota.state.project and quota.project: project quotas of XFS file systems and their use. xfs_quota(8), projects(5) */
import type { IndomSpec, MetricSpec, Sample } from '../../pmda/define.ts'
import { Reading } from '../../pmda/reading.ts'
import {
  openProjectQuotas,
  type ProjectQuota,
  type ProjectQuotas,
  type QuotaState,
} from '../../sys/native/project-quota.ts'
import { readAttribute } from '../../sys/proc.ts'
import { InstanceIds } from '../lib/instance-ids.ts'
import type { OrderedRow } from '../lib/name-order.ts'

/** Options of `quotaMetrics`. */
export interface QuotaOptions {
  /** Root of the observed file system. */
  readonly root: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly log: (level: 'warning', text: string) => void
  /** Opens the quota interface, or returns why it is not available; tests replace the kernel's. */
  readonly openQuotas?: () => ProjectQuotas | string
}

/** Returns the devices of mounted XFS file systems, in the order of the mount table, each once. */
export function parseXfsMounts(mounts: string): readonly string[] {
  const devices = new Set<string>()
  for (const line of mounts.split('\n')) {
    const [device = '', , type] = line.split(' ')
    if (type === 'xfs' && device.startsWith('/dev')) devices.add(device)
  }
  return [...devices]
}

/** Parses the project numbers in /etc/projects: lines of number, colon and directory. */
export function parseProjects(text: string): readonly number[] {
  const numbers = new Set<number>()
  for (const line of text.split('\n')) {
    const [, digits] = /^(\d{1,10}):/.exec(line) ?? []
    if (digits !== undefined) numbers.add(Number(digits))
  }
  return [...numbers]
}

/** A mounted file system; the state is undefined if it is not available. */
interface Mounted {
  readonly device: string
  readonly state: QuotaState | undefined
}

const CLUSTER = 30

/** Returns the metrics, in the order of PCP's name space. */
export function quotaMetrics(options: QuotaOptions): { [name: string]: OrderedRow } {
  const quotas = quotasOnFirstUse(options)
  const mountIds = new InstanceIds()
  const projectIds = new InstanceIds()
  const mounts = new Reading(() => {
    const devices = parseXfsMounts(readAttribute(options.root, '/proc/mounts') ?? '')
    const mounted = devices.map((device): [number, Mounted] => [
      mountIds.idOf(device),
      { device, state: quotas()?.state(device) },
    ])
    return new Map(mounted)
  })
  const projects = new Reading((batch) => {
    mounts.refresh(batch)
    const found = new Map<number, ProjectQuota>()
    const counting = [...mounts.value.values()].filter(({ state }) => state?.accounting)
    if (counting.length === 0) return found
    const numbers = parseProjects(readAttribute(options.root, '/etc/projects') ?? '')
    for (const { device } of counting)
      for (const number of numbers) {
        const quota = quotas()?.quota(device, number)
        if (quota !== undefined) found.set(projectIds.idOf(`${number}:${device}`), quota)
      }
    return found
  })
  return { ...stateMetrics(mounts), ...projectMetrics(projects, projectIds, options.clock) }
}

/** Opens the quota interface on first use. Logs once why it is not available. */
function quotasOnFirstUse({
  log,
  openQuotas = openProjectQuotas,
}: QuotaOptions): () => ProjectQuotas | undefined {
  let opened: ProjectQuotas | string | undefined
  return () => {
    if (opened === undefined) {
      opened = openQuotas()
      if (typeof opened === 'string') log('warning', `No quotas of XFS: ${opened}`)
    }
    return typeof opened === 'string' ? undefined : opened
  }
}

function stateMetrics(mounts: Reading<ReadonlyMap<number, Mounted>>): { [name: string]: OrderedRow } {
  const indom: IndomSpec = {
    serial: 5,
    reading: mounts,
    instances: () => ({
      ids: [...mounts.value.keys()],
      names: [...mounts.value.values()].map(({ device }) => device),
    }),
    help: 'Mounted XFS file systems, by device',
    text: 'Named as in /proc/mounts; a device mounted several times is listed once.',
  }
  const state = (item: number, field: keyof QuotaState, help: string): MetricSpec => ({
    cluster: CLUSTER,
    item,
    type: 'u32',
    sem: 'discrete',
    units: 'none',
    indom,
    help,
    text: 'From quotactl(2). No value if that is not possible: it requires the package koffi and, on some kernels, root rights.',
    reading: mounts,
    value: (inst) => {
      const known = mounts.value.get(inst)?.state
      return known === undefined ? undefined : Number(known[field])
    },
  })
  return {
    'quota.state.project.accounting': state(0, 'accounting', 'Are project quotas accounted (1) or not (0)?'),
    'quota.state.project.enforcement': state(1, 'enforcement', 'Are project quotas enforced (1) or not (0)?'),
  }
}

function projectMetrics(
  projects: Reading<ReadonlyMap<number, ProjectQuota>>,
  ids: InstanceIds,
  clock: () => number,
): { [name: string]: OrderedRow } {
  const indom: IndomSpec = {
    serial: 16,
    reading: projects,
    instances: () => {
      const numbers = [...projects.value.keys()]
      return { ids: numbers, names: numbers.map((id) => ids.nameOf(id)!) }
    },
    help: 'Projects of XFS file systems with project quota accounting',
    text: 'Number of the project, colon, device: the projects in /etc/projects that the file system knows.',
  }
  const metric = (
    item: number,
    spec: Pick<MetricSpec, 'type' | 'units' | 'help' | 'text'>,
    value: (quota: ProjectQuota) => Sample,
  ): MetricSpec => ({
    cluster: CLUSTER,
    item,
    sem: 'discrete',
    indom,
    reading: projects,
    value: (inst) => {
      const quota = projects.value.get(inst)
      return quota === undefined ? undefined : value(quota)
    },
    ...spec,
  })
  const space = (item: number, help: string, value: (quota: ProjectQuota) => bigint): MetricSpec =>
    metric(item, { type: 'u64', units: 'Kbyte', help }, (quota) => value(quota) / 2n)
  const files = (item: number, help: string, value: (quota: ProjectQuota) => bigint): MetricSpec =>
    metric(item, { type: 'u64', units: 'count', help }, value)
  const left = (item: number, help: string, until: (quota: ProjectQuota) => number): MetricSpec =>
    metric(
      item,
      {
        type: '32',
        units: 'sec',
        help,
        text: '0 while the soft limit is not exceeded; below 0 when the time is over.',
      },
      (quota) => (until(quota) === 0 ? 0 : until(quota) - Math.floor(clock() / 1000)),
    )
  return {
    'quota.project.space.hard': space(
      6,
      'Space a project may never exceed; 0 for no limit',
      (q) => q.hardBlocks,
    ),
    'quota.project.space.soft': space(
      7,
      'Space a project may exceed for some time; 0 for no limit',
      (q) => q.softBlocks,
    ),
    'quota.project.space.used': space(8, 'Space used by the files of a project', (q) => q.usedBlocks),
    'quota.project.space.time_left': left(
      9,
      'Time until the soft limit of space is enforced',
      (q) => q.blocksUntil,
    ),
    'quota.project.files.hard': files(
      10,
      'Number of files a project may never exceed; 0 for no limit',
      (q) => q.hardFiles,
    ),
    'quota.project.files.soft': files(
      11,
      'Number of files a project may exceed for some time; 0 for no limit',
      (q) => q.softFiles,
    ),
    'quota.project.files.used': files(12, 'Files that belong to a project', (q) => q.usedFiles),
    'quota.project.files.time_left': left(
      13,
      'Time until the soft limit of files is enforced',
      (q) => q.filesUntil,
    ),
  }
}
