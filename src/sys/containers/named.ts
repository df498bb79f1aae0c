/** Containers by unique names that people know, with the control groups of those that run. docs/how-to/containers.md */
import type { Container, Engine } from './container.ts'
import { type ContainerGroup, ContainerGroups, type Hierarchies } from './groups.ts'
import { ContainerList } from './list.ts'
import { isPodLog, type PodMember, parsePodDirectories, parsePodLogs, podUidOf } from './pods.ts'

/** A container with its name. */
export interface NamedContainer {
  /** NAME, or NAMESPACE/POD/NAME of a container of Kubernetes. Unique. */
  readonly name: string
  readonly container: Container
  /** Path of its control group while it runs; undefined if it has none of its own. */
  readonly group: string | undefined
}

type Found = Pick<NamedContainer, 'container' | 'group'>

/** The containers in one look. */
export interface NamedContainers {
  readonly containers: readonly NamedContainer[]
  readonly hierarchies: Hierarchies
}

const POD_LOGS = '/var/log/containers'
const POD_DIRECTORIES = '/var/log/pods'
/** Digits of an id that identify it among others. */
const SHORT_ID = 12

/** Lists containers by name: those in the engines' files, and those that only have a control group or a log. */
export class ContainerNames {
  readonly #list: ContainerList
  readonly #groups: ContainerGroups
  #logNames: readonly string[] = []
  #logs: ReadonlyMap<string, PodMember> = new Map()

  /** See `ContainerList`. */
  constructor(
    root: string,
    env: Readonly<Record<string, string | undefined>>,
    clock: () => number,
    log: (text: string) => void,
  ) {
    this.#list = new ContainerList(root, env, clock, log)
    this.#groups = new ContainerGroups(root, clock)
  }

  /** Returns the containers as they are now. Helper containers of pods and of image builds are left out. */
  look(): NamedContainers {
    const hierarchies = this.#groups.hierarchies()
    const groups = this.#groups.find(hierarchies)
    const isInUse = ({ path }: ContainerGroup): boolean => this.#groups.isPopulated(hierarchies, path)
    return this.#list.ofFiles(groups, (listed) => {
      // a user's file can name a group that is not the user's
      const known = listed.filter(({ id, uid }) => isOfUser(uid, groups.get(id)?.path ?? ''))
      const logs = this.#podLogs()
      const seen = new Set(known.map(({ id }) => id))
      const all = known.map((each) => withPod(each, logs.get(each.id)))
      for (const [id, group] of groups)
        if (!seen.has(id) && isInUse(group)) all.push(this.#fromGroup(id, group, logs.get(id)))
      const found = all
        .filter(({ isHelper }) => isHelper !== true)
        .map((container) => {
          const group = groups.get(container.id)
          const isLeft = group !== undefined && container.isRunning !== true && !isInUse(group)
          return { container, group: groupOf(container, isLeft ? undefined : group) }
        })
      return { containers: withNames(withoutFormerAttempts(found)), hierarchies }
    })
  }

  #podLogs(): ReadonlyMap<string, PodMember> {
    const names = this.#list.files.names(POD_LOGS, isPodLog)
    if (names !== this.#logNames) this.#logs = parsePodLogs(names)
    this.#logNames = names
    return this.#logs
  }

  /** Describes a running container that is in no readable file of an engine. */
  #fromGroup(id: string, { path, engine }: ContainerGroup, log: PodMember | undefined): Container {
    const uid = podUidOf(path)
    const isPodKnown = log !== undefined || uid === undefined
    const directories = isPodKnown ? undefined : this.#list.files.names(POD_DIRECTORIES, () => true)
    const member = log ?? (directories && parsePodDirectories(directories).get(uid!))
    return withPod(
      {
        engine: engine ?? ENGINE_OF_GROUP.find(([pattern]) => pattern.test(path))?.[1] ?? 'kubelet',
        id,
        name: engine === 'lxc' ? id : undefined,
        pid: undefined,
        cgroup: path,
        isRunning: true,
        isPaused: undefined,
        isRestarting: undefined,
        hostname: undefined,
        // a group of a pod without a log is that of its sandbox
        isHelper: log === undefined && uid !== undefined && this.#logs.size > 0,
      },
      member,
    )
  }
}

/** Engines of groups that are named by the id alone. */
const ENGINE_OF_GROUP: readonly (readonly [RegExp, Engine])[] = [
  [/^\/docker\//, 'docker'],
  [/^\/libpod_parent\//, 'podman'],
  [/^\/(?:k8s\.io|default)\//, 'containerd'],
]

function withPod(container: Container, member: PodMember | undefined): Container {
  if (member === undefined || container.pod !== undefined) return container
  return { ...container, pod: member.pod, namespace: member.namespace, member: member.name }
}

/** Returns the group of a container. That of a user's container is among the user's groups. */
function groupOf(
  { uid, cgroup, id, isRunning }: Container,
  found: ContainerGroup | undefined,
): string | undefined {
  const path = found?.path ?? (isRunning === true ? ownGroup(cgroup, id) : undefined)
  return path !== undefined && isOfUser(uid, path) ? path : undefined
}

/** Returns whether a container of a user, or of root for undefined, may be in a group; '' for none. */
function isOfUser(uid: number | undefined, group: string): boolean {
  return uid === undefined || group === '' || group.includes(`/user-${uid}.slice/`)
}

/** Returns the part of a path up to the directory named by the container: its processes may be in a group below. */
function ownGroup(path: string | undefined, id: string): string | undefined {
  if (path === undefined) return undefined
  const at = path.indexOf(id)
  const end = path.indexOf('/', at)
  return at < 0 ? undefined : end < 0 ? path : path.slice(0, end)
}

/** Leaves out ended containers of a pod that have a successor: kubelet keeps them for their logs. */
function withoutFormerAttempts(found: readonly Found[]): readonly Found[] {
  const latest = new Map<string, Found>()
  for (const each of found) {
    if (each.container.pod === undefined) continue
    const name = nameOf(each.container)
    const other = latest.get(name)
    if (other === undefined || isAlive(each) || !isAlive(other)) latest.set(name, each)
  }
  return found.filter((each) => {
    const { pod } = each.container
    return pod === undefined || isAlive(each) || latest.get(nameOf(each.container)) === each
  })
}

function isAlive({ container, group }: Found): boolean {
  return group !== undefined || container.isRunning === true
}

/**
 * Names containers. Of several with one name the first keeps it, the others get the engine, with the number of the user for one
 * without root's rights, and if that is taken, too, the id.
 */
function withNames(found: readonly Found[]): readonly NamedContainer[] {
  const taken = new Set<string>()
  return found.map(({ container, group }) => {
    const plain = nameOf(container)
    const { id, engine, uid } = container
    const qualified = `${plain}@${engine}${uid === undefined ? '' : `-${uid}`}`
    const free = [plain, qualified, `${plain}@${id.slice(0, SHORT_ID)}`].find((each) => !taken.has(each))
    const name = free ?? `${plain}@${id}`
    taken.add(name)
    return { name, container, group }
  })
}

function nameOf({ id, name, pod, namespace, member }: Container): string {
  const short = id.slice(0, SHORT_ID)
  const full =
    pod === undefined || namespace === undefined ? name || short : `${namespace}/${pod}/${member ?? short}`
  // the name of an instance ends at a space
  return full.replace(/\s+/g, '_')
}
