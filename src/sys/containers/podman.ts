/** Containers of podman that root started, out of the files of its storage. */
import { readAttribute } from '../proc.ts'
import { type Container, type ContainerPlaces, groupOfProcess } from './container.ts'

/** Every container, in the order of podman's list; none where podman is not installed. */
export function podmanContainers(root: string, places: ContainerPlaces): readonly Container[] {
  const text = readAttribute(root, `${places.podmanDataDir}/containers.json`)
  if (text === undefined) return []
  return parsePodman(text).map(({ id, name }) => {
    const userData = `${places.podmanRunDir}/${id}/userdata`
    const pid = Number(readAttribute(root, `${userData}/pidfile`) ?? '')
    const told = pid > 0 ? groupOfProcess(readAttribute(root, `/proc/${pid}/cgroup`) ?? '') : undefined
    // the file outlives the process
    const isRunning = told?.includes(id) ?? false
    return {
      engine: 'podman',
      id,
      name,
      pid: isRunning ? pid : undefined,
      cgroup: isRunning ? told : undefined,
      isRunning,
      isPaused: isRunning && isFrozen(root, told!),
      isRestarting: false, // podman has no such state
      hostname: isRunning ? readAttribute(root, `${userData}/hostname`) : undefined,
    }
  })
}

/** Takes the list apart: ids and first names. Nothing when it is no such list. */
export function parsePodman(
  text: string,
): readonly { readonly id: string; readonly name: string | undefined }[] {
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    return [] // half written: at the next look it is whole
  }
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: { readonly id?: unknown; readonly names?: unknown } | null) => {
    const id = entry?.id
    if (typeof id !== 'string') return []
    const first: unknown = Array.isArray(entry?.names) ? entry.names[0] : undefined
    return [{ id, name: typeof first === 'string' ? first : undefined }]
  })
}

/** Pausing is freezing the control group. */
function isFrozen(root: string, cgroup: string): boolean {
  const unified = readAttribute(root, `/sys/fs/cgroup${cgroup}/cgroup.freeze`)
  return unified === '1' || readAttribute(root, `/sys/fs/cgroup/freezer${cgroup}/freezer.state`) === 'FROZEN'
}
