/** Containers of podman and CRI-O, from the storage they share: a list of containers, and a directory for each while it runs. */
import { readAttribute } from '../proc.ts'
import type { Container, ContainerPaths, ContainerProcesses } from './container.ts'
import { asText, type EngineFiles, jsonObject, MAX_CONFIG, MAX_CONTAINERS, MAX_LIST } from './engine-files.ts'
import { parseCriName } from './pods.ts'
import { type ContainerUser, parseStorageConf } from './users.ts'

const STORAGE_CONF = '/etc/containers/storage.conf'
const DEFAULT_STORAGE = '/var/lib/containers/storage'
const DEFAULT_RUN_STORAGE = '/run/containers/storage'
/** Storage drivers; podman without root and without fuse uses vfs. */
const DRIVERS = ['overlay', 'vfs', 'btrfs', 'zfs']
const DIRECTORY = new RegExp(`^(?:${DRIVERS.join('|')})-containers$`)
/** The list, and that of containers that are removed when they end. */
const LISTS = ['containers.json', 'volatile-containers.json']
const ID = /^[0-9a-f]{64}$/
/** Longest file with a number. */
const MAX_LINE = 32

/** The directories of one list. */
interface Store {
  readonly data: string
  readonly run: string
  readonly uid: number | undefined
}

/** An entry of the list: what does not change. */
export interface StoredContainer {
  readonly id: string
  readonly name: string | undefined
  readonly image: string | undefined
  readonly pod?: string | undefined
  readonly namespace?: string | undefined
  readonly member?: string | undefined
  readonly isHelper: boolean
}

/** Returns all containers of root and of the users, in the order of the lists; none if podman is not installed. */
export function podmanContainers(
  root: string,
  places: ContainerPaths,
  files: EngineFiles,
  processes: ContainerProcesses,
  users: readonly ContainerUser[],
): readonly Container[] {
  return storesOf(places, files, users).flatMap((store) =>
    LISTS.flatMap(
      (list) => files.parsed(`${store.data}/${list}`, MAX_LIST, parseStored, store.uid) ?? [],
    ).map((entry) => containerOf(root, files, processes, store, entry)),
  )
}

function storesOf(
  { podmanDataDir, podmanRunDir }: ContainerPaths,
  files: EngineFiles,
  users: readonly ContainerUser[],
): readonly Store[] {
  const stores: Store[] = []
  const add = (storage: string, runStorage: string, uid: number | undefined): void => {
    for (const name of files.names(storage, (each) => DIRECTORY.test(each)))
      stores.push({ data: `${storage}/${name}`, run: podmanRunDir ?? `${runStorage}/${name}`, uid })
  }
  if (podmanDataDir !== undefined) {
    const run = podmanRunDir ?? `${DEFAULT_RUN_STORAGE}/overlay-containers`
    return [{ data: podmanDataDir, run, uid: undefined }]
  }
  const conf = files.parsed(STORAGE_CONF, MAX_CONFIG, parseStorageConf)
  add(conf?.graphroot ?? DEFAULT_STORAGE, conf?.runroot ?? DEFAULT_RUN_STORAGE, undefined)
  for (const { storage, runStorage, uid } of users) add(storage, runStorage, uid)
  return stores
}

function containerOf(
  root: string,
  files: EngineFiles,
  processes: ContainerProcesses,
  { run, uid }: Store,
  entry: StoredContainer,
): Container {
  const { id, namespace } = entry
  const userData = `${run}/${id}/userdata`
  const pid = files.parsed(`${userData}/pidfile`, MAX_LINE, Number, uid) ?? 0
  // the file outlives the process
  const cgroup = pid > 0 ? processes.groupOf(id, pid) : undefined
  const isRunning = cgroup !== undefined || (pid > 0 && processes.isMonitored(id, pid))
  return {
    ...entry,
    engine: namespace === undefined ? 'podman' : 'cri-o',
    pid: isRunning ? pid : undefined,
    cgroup,
    isRunning,
    // read when it is wanted
    get isPaused() {
      return cgroup !== undefined && isFrozen(root, cgroup)
    },
    isRestarting: false, // podman has no such state
    get hostname() {
      return isRunning ? readAttribute(root, `${userData}/hostname`) : undefined
    },
    ...(uid === undefined ? {} : { uid }),
  }
}

/** Parses the list. Returns undefined for invalid text. */
export function parseStored(text: string): readonly StoredContainer[] | undefined {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(list)) return undefined
  return list.slice(0, MAX_CONTAINERS).flatMap((entry: { readonly [key: string]: unknown } | null) => {
    const id = entry?.['id']
    // the id is part of paths
    if (typeof id !== 'string' || !ID.test(id)) return []
    const names: unknown = entry?.['names']
    const first: unknown = Array.isArray(names) ? names[0] : undefined
    const details = jsonObject(asText(entry?.['metadata']) ?? '')
    const name = typeof first === 'string' ? first : asText(details?.['name'])
    const member = parseCriName(name ?? '')
    return [
      {
        id,
        name,
        image: asText(details?.['image-name']),
        ...(member && { pod: member.pod, namespace: member.namespace, member: member.name }),
        // buildah's have no details
        isHelper: details === undefined || member?.isSandbox === true,
      },
    ]
  })
}

/** Returns whether the container is paused, that is, its control group is frozen. */
function isFrozen(root: string, cgroup: string): boolean {
  const unified = readAttribute(root, `/sys/fs/cgroup${cgroup}/cgroup.freeze`)
  if (unified !== undefined) return unified === '1'
  return readAttribute(root, `/sys/fs/cgroup/freezer${cgroup}/freezer.state`) === 'FROZEN'
}
