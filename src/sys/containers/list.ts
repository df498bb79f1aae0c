/** The containers of this machine, and which one somebody means. docs/formats/root.md */
import { type Container, type ContainerPlaces, containerPlaces } from './container.ts'
import { dockerContainers } from './docker.ts'
import { lxcContainers } from './lxc.ts'
import { podmanContainers } from './podman.ts'

/** Every container that an engine keeps files of, running or not. `root` is '/' except in tests. */
export function listContainers(root: string, places: ContainerPlaces): readonly Container[] {
  return [
    ...dockerContainers(root, places),
    ...podmanContainers(root, places),
    ...lxcContainers(root, places),
  ]
}

/** The one that is meant: by name, by id, or by the beginning of the id when only one begins so. */
export function findContainer(containers: readonly Container[], wanted: string): Container | undefined {
  const exact = containers.find(({ id, name }) => id === wanted || name === wanted)
  if (exact !== undefined || wanted === '') return exact
  const beginning = containers.filter(({ engine, id }) => engine !== 'lxc' && id.startsWith(wanted))
  return beginning.length === 1 ? beginning[0] : undefined
}

/** How long a look at the files of the engines is believed. */
const LOOK_MS = 1000

/** Finds containers again and again, and looks at the files of the engines at most once a second. */
export class ContainerLookup {
  readonly #root: string
  readonly #places: ContainerPlaces
  readonly #clock: () => number
  #containers: readonly Container[] = []
  #lookedAt = Number.NEGATIVE_INFINITY

  /** `env` says where engines keep their files; `clock` gives milliseconds. */
  constructor(root: string, env: Readonly<Record<string, string | undefined>>, clock: () => number) {
    this.#root = root
    this.#places = containerPlaces(env)
    this.#clock = clock
  }

  /** The one that is meant, as `findContainer` finds it. */
  find(wanted: string): Container | undefined {
    const now = this.#clock()
    if (Math.abs(now - this.#lookedAt) >= LOOK_MS) {
      this.#containers = listContainers(this.#root, this.#places)
      this.#lookedAt = now
    }
    return findContainer(this.#containers, wanted)
  }
}
