/** Listing and finding the containers of this machine. docs/formats/root.md */
import { type Container, type ContainerPaths, ContainerProcesses, containerPaths } from './container.ts'
import { containerdContainers } from './containerd.ts'
import { dockerContainers } from './docker.ts'
import { EngineFiles } from './engine-files.ts'
import { lxcContainers } from './lxc.ts'
import { podmanContainers } from './podman.ts'
import { containerUsers } from './users.ts'

/** The containers known to the engines. Their files are read again only after they changed. */
export class ContainerList {
  readonly files: EngineFiles
  readonly #root: string
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #places: ContainerPaths
  readonly #processes: ContainerProcesses

  /** `root` is '/' except in tests and in a container; `env` names the locations of the engines' files; `log` gets unusable files. */
  constructor(
    root: string,
    env: Readonly<Record<string, string | undefined>>,
    clock: () => number,
    log: (text: string) => void,
  ) {
    this.files = new EngineFiles(root, clock, log)
    this.#root = root
    this.#env = env
    this.#places = containerPaths(env)
    this.#processes = new ContainerProcesses(root)
  }

  /** Returns all containers of the engines, running or not. Runs lxc-info if there are containers of lxc. */
  all(): readonly Container[] {
    return this.files.inPass(() => {
      const { docker, others } = this.#withFiles()
      return uniqueById([...docker, ...others, ...lxcContainers(this.#root, this.#places)])
    })
  }

  /**
   * Returns all containers except those of lxc, about which only a program knows. `groups` are the control groups that exist, by
   * id; `use` is called in the same pass.
   */
  ofFiles<T>(
    groups: ReadonlyMap<string, { readonly path: string }>,
    use: (containers: readonly Container[]) => T,
  ): T {
    return this.files.inPass(() => {
      this.#processes.existing = groups
      const { docker, others } = this.#withFiles()
      this.#processes.existing = undefined
      return use(uniqueById([...docker, ...others]))
    })
  }

  #withFiles(): { readonly docker: readonly Container[]; readonly others: readonly Container[] } {
    const root = this.#root
    const users = containerUsers(root, this.files, this.#env)
    const docker = dockerContainers(root, this.#places, this.files, this.#processes, users)
    const podman = podmanContainers(root, this.#places, this.files, this.#processes, users)
    return { docker, others: [...podman, ...containerdContainers(this.files, this.#processes)] }
  }
}

/** Root's containers come first, so that no user can take the name or the id of another's. */
function uniqueById(containers: readonly Container[]): readonly Container[] {
  const byId = new Map<string, Container>()
  for (const isOfUser of [false, true])
    for (const each of containers)
      if ((each.uid !== undefined) === isOfUser && !byId.has(each.id)) byId.set(each.id, each)
  return [...byId.values()]
}

/** Finds a container by name, id, or a unique prefix of the id. */
export function findContainer(containers: readonly Container[], wanted: string): Container | undefined {
  const exact = containers.find(({ id, name }) => id === wanted || name === wanted)
  if (exact !== undefined || wanted === '') return exact
  const beginning = containers.filter(({ engine, id }) => engine !== 'lxc' && id.startsWith(wanted))
  return beginning.length === 1 ? beginning[0] : undefined
}

/** Lifetime of a cached list. */
const LOOK_MS = 1000

/** Finds containers, looking for changes at most once a second. */
export class ContainerLookup {
  readonly #list: ContainerList
  readonly #clock: () => number
  #containers: readonly Container[] = []
  #lookedAt = Number.NEGATIVE_INFINITY

  /** `env` names the locations of the engines' files; `clock` returns milliseconds. */
  constructor(root: string, env: Readonly<Record<string, string | undefined>>, clock: () => number) {
    this.#list = new ContainerList(root, env, clock, () => undefined) // the root agent reports unusable files
    this.#clock = clock
  }

  /** Finds a container as `findContainer` does. */
  find(wanted: string): Container | undefined {
    return findContainer(this.#look(), wanted)
  }

  /** Finds the container whose first process has this PID. */
  ofProcess(pid: number): Container | undefined {
    return this.#look().find((container) => container.pid === pid)
  }

  #look(): readonly Container[] {
    const now = this.#clock()
    if (Math.abs(now - this.#lookedAt) >= LOOK_MS) {
      this.#containers = this.#list.all()
      this.#lookedAt = now
    }
    return this.#containers
  }
}
