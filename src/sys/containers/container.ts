/** A container as the engine that runs it knows it: docker, podman or lxc. docs/formats/root.md */

import { readAttribute } from '../proc.ts'

/** One container. What its engine's files do not tell is undefined. */
export interface Container {
  readonly engine: 'docker' | 'podman' | 'lxc'
  /** As the engine identifies it: 64 hexadecimal digits, or the name for lxc. */
  readonly id: string
  /** As people call it. */
  readonly name: string | undefined
  /** Its first process, while it runs. */
  readonly pid: number | undefined
  /** Path of its control group below the mount, while it runs. */
  readonly cgroup: string | undefined
  readonly isRunning: boolean | undefined
  readonly isPaused: boolean | undefined
  readonly isRestarting: boolean | undefined
  /** The host name it was given. */
  readonly hostname: string | undefined
}

/** Where engines keep their files: absolute paths, taken below the root of whoever reads. */
export interface ContainerPlaces {
  readonly dockerDir: string
  readonly podmanDataDir: string
  readonly podmanRunDir: string
  readonly lxcDir: string
  /** The program that tells of a container of lxc when it is given `-n NAME`. */
  readonly lxcInfo: string
  /** The group in which systemd puts those of docker; undefined to look for how docker does it here. */
  readonly systemdGroup: string | undefined
}

/**
 * Places as the environment or pcp.conf have them: PCP_DOCKER_DIR, PCP_PODMAN_DATADIR, PCP_PODMAN_RUNDIR, PCP_LXC_DIR, PCP_LXC_INFO,
 * PCP_SYSTEMD_CGROUP.
 */
export function containerPlaces(env: Readonly<Record<string, string | undefined>>): ContainerPlaces {
  return {
    dockerDir: env['PCP_DOCKER_DIR'] || '/var/lib/docker',
    podmanDataDir: env['PCP_PODMAN_DATADIR'] || '/var/lib/containers/storage/overlay-containers',
    podmanRunDir: env['PCP_PODMAN_RUNDIR'] || '/var/run/containers/storage/overlay-containers',
    lxcDir: env['PCP_LXC_DIR'] || '/var/lib/lxc',
    lxcInfo: env['PCP_LXC_INFO'] || 'lxc-info',
    systemdGroup: env['PCP_SYSTEMD_CGROUP'] || undefined,
  }
}

/**
 * The control group of a process, out of /proc/PID/cgroup: that of version 2, or with version 1 that of memory or of
 * systemd; undefined for a process in no group of its own.
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

/** As its engine set it up, or as /etc/hostname inside it says; undefined when neither knows. `root` is '/' except in tests. */
export function containerHostname(root: string, { hostname, pid }: Container): string | undefined {
  if (hostname) return hostname
  return pid === undefined ? undefined : readAttribute(root, `/proc/${pid}/root/etc/hostname`) || undefined
}
