/** Control groups of running containers, found by the names of their directories. cgroups(7) */
import { readdirSync, statSync } from 'node:fs'
import { type CgroupMount, parseCgroupMounts } from '../cgroup-mounts.ts'
import { readAttribute, rooted } from '../proc.ts'
import type { Engine } from './container.ts'

/** The control group of a container. */
export interface ContainerGroup {
  /** Path below the mount. */
  readonly path: string
  /** According to the directory's name; undefined if that is only the id. */
  readonly engine: Engine | undefined
}

/** Where groups are found: the directory of a hierarchy that has a controller. */
export interface Hierarchies {
  /** Path of version 2. */
  readonly unified: string | undefined
  /** Paths of version 1 by controller. */
  readonly byController: ReadonlyMap<string, string>
}

const UNIFIED = '/sys/fs/cgroup'
/** Controllers of version 1 whose hierarchy is searched, the best first: every engine creates groups in these. */
const SEARCHED = ['memory', 'cpuacct', 'cpu', 'pids', 'blkio']
const CONTROLLERS = new Set(SEARCHED)
/** Lifetime of the table of mounts in version 1. */
const MOUNTS_MS = 10_000
/** Most levels below the mount. */
const MAX_DEPTH = 16
/** Most directories of a hierarchy that are searched. */
const MAX_DIRECTORIES = 20_000

const BY_ID = /^(?:([a-z-]+)-)?([0-9a-f]{64})(?:\.scope)?$/
const LXC = /^lxc\.payload\.(.+)$/
/** Engines by the prefixes of their directories; those of monitors (libpod-conmon) are none. */
const ENGINES: { readonly [prefix: string]: Engine } = {
  docker: 'docker',
  libpod: 'podman',
  'libpod-payload': 'podman',
  crio: 'cri-o',
  'cri-containerd': 'containerd',
  containerd: 'containerd',
  nerdctl: 'containerd',
}

/** Returns the container of a control group's directory: its id or the name of lxc; undefined for another group. */
export function containerOfGroup(
  name: string,
  parent: string,
): { readonly id: string; readonly engine: Engine | undefined } | undefined {
  const [, prefix, id] = BY_ID.exec(name) ?? []
  if (id !== undefined) {
    if (prefix !== undefined && ENGINES[prefix] === undefined) return undefined
    return { id, engine: prefix === undefined ? undefined : ENGINES[prefix] }
  }
  const lxc = LXC.exec(name)?.[1] ?? (parent === '/lxc' || parent === '/lxc.payload' ? name : undefined)
  return lxc === undefined ? undefined : { id: lxc, engine: 'lxc' }
}

/** Subdirectories of a directory, with what shows that they are the same. */
interface Kept {
  readonly inode: number
  readonly links: number
  readonly names: readonly string[]
}

/** Finds the groups of containers. Groups inside of a container are its own. */
export class ContainerGroups {
  readonly #root: string
  readonly #clock: () => number
  #kept = new Map<string, Kept>()
  #mounts: { readonly at: number; readonly found: readonly CgroupMount[] } | undefined

  /** `root` is '/' except in tests and in a container; `clock` returns milliseconds. */
  constructor(root: string, clock: () => number) {
    this.#root = root
    this.#clock = clock
  }

  /** Returns the mounted hierarchies. */
  hierarchies(): Hierarchies {
    // the usual place of version 2: the table of mounts has many lines where there are many containers
    if (this.#stat(`${UNIFIED}/cgroup.controllers`) !== undefined)
      return { unified: UNIFIED, byController: new Map() }
    const now = this.#clock()
    if (this.#mounts === undefined || Math.abs(now - this.#mounts.at) > MOUNTS_MS) {
      const text = readAttribute(this.#root, '/proc/mounts') ?? ''
      this.#mounts = { at: now, found: parseCgroupMounts(text, (option) => CONTROLLERS.has(option)) }
    }
    const byController = new Map<string, string>()
    for (const { path, controllers } of this.#mounts.found)
      for (const controller of controllers) byController.set(controller, path)
    return { unified: this.#mounts.found.find(({ version }) => version === 2)?.path, byController }
  }

  /** Returns whether a group of version 2 has processes: an engine that was killed leaves groups without any. True in version 1. */
  isPopulated({ unified, byController }: Hierarchies, path: string): boolean {
    if (byController.size > 0 || unified === undefined) return true
    return !/^populated 0$/m.test(readAttribute(this.#root, `${unified}${path}/cgroup.events`) ?? '')
  }

  /** Returns the groups of all containers by id, or by name for lxc. */
  find({ unified, byController }: Hierarchies): ReadonlyMap<string, ContainerGroup> {
    const controller = SEARCHED.find((name) => byController.has(name))
    const mount = controller === undefined ? unified : byController.get(controller)
    const found = new Map<string, ContainerGroup>()
    const visited = new Map<string, Kept>()
    if (mount !== undefined) this.#walk(mount, '', 0, found, visited)
    this.#kept = visited
    return found
  }

  /** Returns false if the directory does not exist. */
  #walk(
    mount: string,
    below: string,
    depth: number,
    found: Map<string, ContainerGroup>,
    visited: Map<string, Kept>,
  ): boolean {
    const directory = `${mount}${below}`
    const stats = this.#stat(directory)
    if (stats === undefined || visited.size >= MAX_DIRECTORIES) return stats !== undefined
    const known = this.#kept.get(directory)
    // as many links are as many subdirectories; if each of the known ones still exists, they are the same
    const holds =
      known?.inode === stats.ino && known.links === stats.nlink && stats.nlink === known.names.length + 2
    for (let names = holds ? known.names : this.#list(directory), isKept = holds; ; ) {
      visited.set(directory, { inode: stats.ino, links: stats.nlink, names })
      let isGone = false
      for (const name of names) {
        const container = containerOfGroup(name, below)
        const path = `${below}/${name}`
        if (container === undefined) {
          if (depth < MAX_DEPTH && !this.#walk(mount, path, depth + 1, found, visited)) isGone = true
        } else if (isKept && this.#stat(`${mount}${path}`) === undefined) isGone = true
        else if (!found.has(container.id)) found.set(container.id, { path, engine: container.engine })
      }
      if (!isGone || !isKept) return true
      names = this.#list(directory)
      isKept = false
    }
  }

  #list(directory: string): readonly string[] {
    try {
      const entries = readdirSync(rooted(this.#root, directory), { withFileTypes: true })
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    } catch {
      return [] // removed in the meantime, or not permitted
    }
  }

  #stat(path: string): { readonly ino: number; readonly nlink: number } | undefined {
    try {
      return statSync(rooted(this.#root, path), { throwIfNoEntry: false })
    } catch {
      return undefined // not permitted
    }
  }
}
