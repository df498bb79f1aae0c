/** Containers of docker, podman, CRI-O, containerd and lxc. docs/formats/root.md */

import { existsSync } from 'node:fs'
import { readAttribute, rooted } from '../proc.ts'

/** A program that manages containers; kubelet for one known only by the name of its log. */
export type Engine = 'docker' | 'podman' | 'cri-o' | 'containerd' | 'kubelet' | 'lxc'

/** One container. Fields missing from the engine's files are undefined. */
export interface Container {
  readonly engine: Engine
  /** The engine's identifier: 64 hexadecimal digits, or the name for lxc. */
  readonly id: string
  /** Name given by the user. */
  readonly name: string | undefined
  /** Process id of its first process while it runs. */
  readonly pid: number | undefined
  /** Path of its control group below the mount while it runs. */
  readonly cgroup: string | undefined
  readonly isRunning: boolean | undefined
  readonly isPaused: boolean | undefined
  readonly isRestarting: boolean | undefined
  /** Configured host name. */
  readonly hostname: string | undefined
  /** Name of the image it was created from. */
  readonly image?: string | undefined
  /** Kubernetes: its pod and namespace, and its name within the pod. */
  readonly pod?: string | undefined
  readonly namespace?: string | undefined
  readonly member?: string | undefined
  /** It only keeps the namespaces of a pod, or only builds an image. */
  readonly isHelper?: boolean | undefined
  /** User who runs it, if that is not root. */
  readonly uid?: number | undefined
  /** State while it does not run. Default: exited. */
  readonly stopped?: 'created' | 'dead' | undefined
}

/** Locations of the engines' files: absolute paths below the reader's root. */
export interface ContainerPaths {
  /** Undefined for docker's defaults and the directory in its daemon.json. */
  readonly dockerDir: string | undefined
  /** Undefined for the defaults and the directories in storage.conf. */
  readonly podmanDataDir: string | undefined
  readonly podmanRunDir: string | undefined
  readonly lxcDir: string
  /** Program that describes an lxc container, given `-n NAME`. */
  readonly lxcInfo: string
  /** systemd's group for docker containers; undefined to detect docker's cgroup driver. */
  readonly systemdGroup: string | undefined
}

/**
 * Returns the locations from the environment or pcp.conf: PCP_DOCKER_DIR, PCP_PODMAN_DATADIR, PCP_PODMAN_RUNDIR, PCP_LXC_DIR, PCP_LXC_INFO,
 * PCP_SYSTEMD_CGROUP.
 */
export function containerPaths(env: Readonly<Record<string, string | undefined>>): ContainerPaths {
  return {
    dockerDir: env['PCP_DOCKER_DIR'] || undefined,
    podmanDataDir: env['PCP_PODMAN_DATADIR'] || undefined,
    podmanRunDir: env['PCP_PODMAN_RUNDIR'] || undefined,
    lxcDir: env['PCP_LXC_DIR'] || '/var/lib/lxc',
    lxcInfo: env['PCP_LXC_INFO'] || 'lxc-info',
    systemdGroup: env['PCP_SYSTEMD_CGROUP'] || undefined,
  }
}

/** Finds the control groups of containers from their first processes. */
export class ContainerProcesses {
  readonly #root: string
  /** Found before, by id. */
  readonly #groups = new Map<string, { readonly pid: number; readonly group: string }>()

  constructor(root: string) {
    this.#root = root
  }

  /** Groups that exist now, if they are known already; they save looking at each process. */
  existing: ReadonlyMap<string, { readonly path: string }> | undefined

  /** Returns the group of the container's process; undefined if the process is in a group of another name. */
  groupOf(id: string, pid: number): string | undefined {
    const existing = this.existing?.get(id)
    if (existing !== undefined) return existing.path
    const known = this.#groups.get(id)
    // The group is removed with the container, so while it exists the process is the same.
    if (known?.pid === pid && existsSync(rooted(this.#root, `/sys/fs/cgroup${known.group}`)))
      return known.group
    this.#groups.delete(id)
    const group = groupOfProcess(readAttribute(this.#root, `/proc/${pid}/cgroup`) ?? '')
    if (group?.includes(id) !== true) return undefined
    if (this.#groups.size >= MAX_GROUPS) this.#groups.clear()
    this.#groups.set(id, { pid, group })
    return group
  }

  /** Returns whether the parent of a process is the monitor of a container, which has its id among its arguments. */
  isMonitored(id: string, pid: number): boolean {
    const stat = readAttribute(this.#root, `/proc/${pid}/stat`) ?? ''
    const parent = Number(/^\d+ \(.*\) \S (\d+) /s.exec(stat)?.[1])
    if (!(parent > 1)) return false
    return readAttribute(this.#root, `/proc/${parent}/cmdline`)?.split('\0').includes(id) ?? false
  }
}

/** Groups remembered. */
const MAX_GROUPS = 10_000

/**
 * Returns the control group of a process from /proc/PID/cgroup: version 2, or the memory or systemd group of version 1;
 * undefined for a process in the root group.
 */
export function groupOfProcess(text: string): string | undefined {
  const found: { unified?: string; memory?: string; systemd?: string } = {}
  for (const line of text.split('\n')) {
    const [, number, controllers = '', path = ''] = /^(\d+):([^:]*):(\/.+)$/.exec(line) ?? []
    if (number === '0' && controllers === '') found.unified = path
    else if (controllers.split(',').includes('memory')) found.memory = path
    else if (controllers === 'name=systemd') found.systemd = path
  }
  return found.unified ?? found.memory ?? found.systemd
}

/** Returns the host name from the engine or from /etc/hostname inside the container; undefined if unknown. `root` is '/' except in tests. */
export function containerHostname(root: string, { hostname, pid }: Container): string | undefined {
  if (hostname) return hostname
  return pid === undefined ? undefined : readAttribute(root, `/proc/${pid}/root/etc/hostname`) || undefined
}
