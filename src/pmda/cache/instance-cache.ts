/** Instances that keep their identifiers while they come and go and across restarts of the agent. pmdaCache(3), docs/reference/agent-toolkit.md */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type OldFields, renameFields } from '../../base/deprecated.ts'
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { formatCache, parseCache, type SavedInstance } from './file.ts'
import { type InstanceList, listActive } from './instance-list.ts'
import { InstanceNumbers } from './numbers.ts'

/** An instance of a cache: the same object as long as the instance is known. */
export interface CachedInstance<T> {
  readonly id: number
  readonly name: string
  /** Inactive instances are remembered but not listed. */
  readonly isActive: boolean
  /** The agent's data for the instance; undefined if the instance was loaded from the file and not added since. */
  readonly data: T | undefined
}

/** Options of an instance cache. */
export interface InstanceCacheOptions {
  readonly domain: number
  /** Serial of the instance domain. */
  readonly serial: number
  /** Directory of the file DOMAIN.SERIAL; required to load and save. `cacheDir(env.env)` is PCP's directory. */
  readonly dir?: string
  /** The names are free texts: they may be empty, and spaces have no special meaning. */
  readonly isDictionary?: boolean
  /** Most inactive instances kept; beyond that the older half is culled. Default: 250 000. */
  readonly maxInactive?: number
  /** @deprecated Use `maxInactive`. */
  readonly mostInactive?: number
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
  /** Called for each saved instance that contradicts those in memory. */
  readonly log?: (level: 'warning', text: string) => void
}

const OLD_OPTIONS: OldFields<InstanceCacheOptions> = { mostInactive: ['maxInactive', 'PCP_DEP0006'] }
const MOST_INACTIVE = 250_000
/** Most culled instances left in the sorted order before it is compacted. */
const LAZY = 1000

interface Entry<T> extends CachedInstance<T> {
  isActive: boolean
  data: T | undefined
  isCulled: boolean
  /** Bytes, one per character. */
  readonly key: string | undefined
  /** Seconds since the epoch; 0 if active since the last save. */
  stamp: number
}

/**
 * The instances of one domain. Active instances are listed; inactive ones keep their identifier for their return; culled
 * ones are forgotten, though their identifiers are not reused before `reorganize`. A name is identified by its part before
 * the first space: EINVAL for a different name with the same part. Names have no newlines. Finding, adding, hiding and
 * culling take constant time.
 */
export class InstanceCache<T = undefined> {
  readonly #options: InstanceCacheOptions
  readonly #byId = new Map<number, Entry<T>>()
  readonly #byName = new Map<string, Entry<T>>()
  readonly #byKey = new Map<string, Entry<T>>()
  /** Every instance by identifier, up to date after `#ordered()`; may include culled ones. */
  #order: Entry<T>[] = []
  #isOrdered = true
  readonly #numbers: InstanceNumbers
  #active = 0
  #version = 0
  #listing: InstanceList | undefined
  /** Changes since the last load or save: instances added or removed, or only their stamps. */
  #unsaved: 'nothing' | 'stamps' | 'instances' = 'nothing'

  constructor(options: InstanceCacheOptions) {
    this.#options = renameFields({ ...options }, OLD_OPTIONS)
    this.#numbers = new InstanceNumbers(this.#byId, this.#name)
  }

  /** Changes whenever the set of active instances changes. */
  get version(): number {
    return this.#version
  }

  /** Number of active and inactive instances, and of those culled since the last `reorganize`. */
  get sizes(): { readonly active: number; readonly inactive: number; readonly culled: number } {
    return { active: this.#active, inactive: this.#byId.size - this.#active, culled: this.#numbers.culled }
  }

  /** Active instances by identifier, as `IndomSpec.instances` returns them. The same object until they change. */
  list(): InstanceList {
    this.#listing ??= listActive(this.#ordered(), this.#active)
    return this.#listing
  }

  /**
   * Activates an instance, creating it if the name is unknown, and stores `data` with it. Returns its identifier.
   * EINVAL for a name that contradicts another; PM_ERR_GENERIC for an empty name or when no identifier is left.
   */
  add(name: string, data?: T): number {
    const known = this.#find(name)
    if (known === undefined) return this.#insert(name, this.#numbers.next(), undefined, data)
    return this.#activate(known, data)
  }

  /**
   * As `add`, with an identifier derived from a key (default: the name), so that it is the same on every host and survives
   * the loss of the file. From then on identifiers of other new instances fill gaps. PM_ERR_INST if name and
   * key belong to different instances or only one is known; EINVAL as for `add`; PM_ERR_GENERIC if all ten identifiers derived from the key are taken.
   */
  addKeyed(name: string, key: Uint8Array | undefined, data?: T): number {
    const bytes = key === undefined || key.length === 0 ? encodeText(name) : key
    const text = keyText(bytes)
    const holder = this.#byKey.get(text)
    this.#numbers.reuses = true
    if (this.#byName.get(this.#short(name)) !== holder)
      throw new PcpError('PM_ERR_INST', `${this.#name}: "${name}" and its key belong to different instances`)
    const known = this.#find(name)
    if (known !== undefined) return this.#activate(known, data)
    return this.#insert(name, this.#numbers.hashed(name, bytes), text, data)
  }

  /** Deactivates an instance and returns its identifier. PM_ERR_INST for an unknown name, EINVAL for a contradictory one. */
  hide(name: string): number {
    const entry = this.#known(name)
    this.#setActive(entry, false)
    return entry.id
  }

  /** Forgets an instance and returns the identifier it had. PM_ERR_INST for an unknown name, EINVAL for a contradictory one. */
  cull(name: string): number {
    const entry = this.#known(name)
    this.#remove(entry)
    return entry.id
  }

  /** Activates or deactivates all instances. Returns how many changed. */
  setAll(isActive: boolean): number {
    let count = 0
    for (const entry of this.#byId.values()) {
      if (entry.isActive === isActive) continue
      this.#setActive(entry, isActive)
      count++
    }
    return count
  }

  /** Forgets all instances. Returns how many there were. */
  cullAll(): number {
    const count = this.#byId.size
    for (const entry of this.#byId.values()) this.#remove(entry)
    return count
  }

  /**
   * Forgets inactive instances last saved as active more than `seconds` ago, passing their data to `onCull`. Returns their
   * number. @see pmdaCachePurge(3)
   */
  purge(seconds: number, onCull?: (data: T) => void): number {
    const before = this.#now() - seconds
    let count = 0
    for (const entry of this.#byId.values()) {
      if (entry.isActive || entry.stamp === 0 || entry.stamp >= before) continue
      this.#remove(entry)
      if (entry.data !== undefined) onCull?.(entry.data)
      count++
    }
    return count
  }

  /** Returns the instance with an identifier, active or not. */
  get(id: number): CachedInstance<T> | undefined {
    return this.#byId.get(id)
  }

  /** Returns the instance with a name, or with that part before the first space. EINVAL for a contradictory name. */
  find(name: string): CachedInstance<T> | undefined {
    return this.#find(name)
  }

  /** Returns the instance added with a key. */
  findKey(key: Uint8Array): CachedInstance<T> | undefined {
    return this.#byKey.get(keyText(key))
  }

  /** Makes identifiers of new instances fill gaps from 0, also after a restart from the saved file. */
  reuseIds(): void {
    this.#numbers.reuses = true
  }

  /** Sets the highest identifier for new instances. PM_ERR_SIGN below 0, PM_ERR_TOOBIG below the identifier of an instance, also of a culled one. */
  resize(maximum: number): void {
    this.#numbers.resize(maximum)
    this.#markUnsaved('stamps')
  }

  /** Makes the identifiers of culled instances available again. */
  reorganize(): void {
    this.#numbers.reorganize()
  }

  /**
   * Adds the instances of the saved file as inactive ones. Returns their number, 0 without a file. Where file and memory
   * contradict each other, memory wins and `log` is called. PM_ERR_GENERIC names the wrong line of a file; throws Node's
   * error for an unreadable one, EINVAL without `dir`.
   */
  load(): number {
    const path = this.#path()
    let bytes: Uint8Array
    try {
      bytes = readFileSync(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
      throw error
    }
    const { reuses, maximum, instances } = parseCache(decodeText(bytes), path)
    this.#numbers.reuses ||= reuses
    this.#numbers.maximum = maximum
    for (const saved of instances) this.#merge(saved)
    return instances.length
  }

  /** Writes the file if instances were added or removed since the last load or save. Returns their number, or 0. Throws as `write`. */
  save(): number {
    return this.#unsaved === 'instances' ? this.write() : 0
  }

  /** As `save`, but also after instances only became active, so that `purge` knows when that was. */
  sync(): number {
    return this.#unsaved === 'nothing' ? 0 : this.write()
  }

  /** Writes the whole file. Returns the number of instances. Throws the error of the system, which names the directory; EINVAL without `dir`. */
  write(): number {
    const path = this.#path()
    const now = this.#now()
    const instances = this.#ordered()
    const { reuses, maximum } = this.#numbers
    const { dir } = this.#options
    try {
      makeDir(dir!)
      replaceFile(path, formatCache({ reuses, maximum, instances }, now))
    } catch (error) {
      throw PcpError.from(error, `${this.#name} cannot be saved in ${dir}`)
    }
    for (const entry of instances) entry.stamp ||= now
    this.#unsaved = 'nothing'
    return instances.length
  }

  get #name(): string {
    return `Instance domain ${this.#options.domain}.${this.#options.serial}`
  }

  #path(): string {
    const { dir, domain, serial } = this.#options
    if (dir === undefined)
      throw new PcpError('EINVAL', `${this.#name} is not saved: open its cache with "dir"`)
    return join(dir, `${domain}.${serial}`)
  }

  #now(): number {
    return Math.floor((this.#options.clock ?? Date.now)() / 1000)
  }

  /** The part of a name that identifies it. */
  #short(name: string): string {
    const end = this.#options.isDictionary === true ? -1 : name.indexOf(' ')
    return end < 0 ? name : name.slice(0, end)
  }

  #find(name: string): Entry<T> | undefined {
    const short = this.#short(name)
    const entry = this.#byName.get(short)
    if (entry === undefined || name === short || entry.name === name) return entry
    throw new PcpError(
      'EINVAL',
      `${this.#name}: "${name}" and "${entry.name}" do not differ before the first space`,
    )
  }

  #known(name: string): Entry<T> {
    const entry = this.#find(name)
    if (entry === undefined) throw new PcpError('PM_ERR_INST', `${this.#name}: no instance "${name}"`)
    return entry
  }

  #insert(name: string, id: number, key: string | undefined, data: T | undefined): number {
    this.#makeRoom()
    if ((name === '' && this.#options.isDictionary !== true) || name.includes('\n'))
      throw new PcpError('PM_ERR_GENERIC', `${this.#name}: "${name}" cannot be the name of an instance`)
    this.#put({ id, name, isActive: true, data, isCulled: false, key, stamp: 0 })
    this.#active++
    this.#changed()
    this.#markUnsaved('instances')
    return id
  }

  #put(entry: Entry<T>): void {
    this.#byId.set(entry.id, entry)
    if (entry.id < (this.#order.at(-1)?.id ?? -1)) this.#isOrdered = false
    this.#order.push(entry)
    this.#byName.set(this.#short(entry.name), entry)
    if (entry.key !== undefined) this.#byKey.set(entry.key, entry)
    this.#numbers.take(entry.id)
  }

  #activate(entry: Entry<T>, data: T | undefined): number {
    entry.data = data
    entry.stamp = 0
    this.#markUnsaved('stamps')
    this.#setActive(entry, true)
    return entry.id
  }

  #setActive(entry: Entry<T>, isActive: boolean): void {
    if (entry.isActive === isActive) return
    entry.isActive = isActive
    this.#active += isActive ? 1 : -1
    if (isActive) {
      entry.stamp = 0
      this.#markUnsaved('stamps')
    }
    this.#changed()
  }

  #remove(entry: Entry<T>): void {
    this.#setActive(entry, false)
    entry.isCulled = true
    this.#byId.delete(entry.id)
    this.#byName.delete(this.#short(entry.name))
    if (entry.key !== undefined) this.#byKey.delete(entry.key)
    this.#numbers.cull(entry.id)
    if (this.#order.length > 2 * this.#byId.size + LAZY) this.#dropCulled()
    this.#markUnsaved('instances')
  }

  /** Culls the older half of the inactive instances if there are too many. */
  #makeRoom(): void {
    const { maxInactive = MOST_INACTIVE } = this.#options
    const inactive = this.#byId.size - this.#active
    if (inactive < maxInactive) return
    let surplus = inactive - Math.floor(maxInactive / 2)
    for (const entry of this.#byId.values()) {
      if (surplus === 0) break
      if (entry.isActive) continue
      this.#remove(entry)
      surplus--
    }
  }

  #dropCulled(): void {
    this.#order = this.#order.filter(({ isCulled }) => !isCulled)
  }

  /** All instances by identifier. They are mostly added in ascending order, which needs no sorting. */
  #ordered(): readonly Entry<T>[] {
    if (this.#order.length !== this.#byId.size) this.#dropCulled()
    if (!this.#isOrdered) this.#order.sort((a, b) => a.id - b.id)
    this.#isOrdered = true
    return this.#order
  }

  #changed(): void {
    this.#version++
    this.#listing = undefined
  }

  #markUnsaved(what: 'stamps' | 'instances'): void {
    if (this.#unsaved !== 'instances') this.#unsaved = what
  }

  #merge({ id, name, key, stamp }: SavedInstance): void {
    const entry = this.#byId.get(id)
    const holders = [
      entry,
      this.#byName.get(this.#short(name)),
      key === undefined ? entry : this.#byKey.get(key),
    ]
    if (holders.every((holder) => holder === undefined)) {
      this.#put({ id, name, isActive: false, data: undefined, isCulled: false, key, stamp })
      return
    }
    const isSame = holders.every((holder) => holder === entry) && entry?.name === name && entry.key === key
    if (!isSame)
      this.#options.log?.(
        'warning',
        `${this.#path()}: instance ${id} "${name}" contradicts those in memory: ignored`,
      )
  }
}

function keyText(key: Uint8Array): string {
  return String.fromCharCode(...key)
}
