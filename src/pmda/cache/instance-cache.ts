/** Instances that come and go and keep their numbers, also from one life of the agent to the next. pmdaCache(3), docs/agents.md */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeText, encodeText } from '../../base/text.ts'
import { PcpError } from '../../model/errors.ts'
import { makeDir } from '../../sys/make-dir.ts'
import { replaceFile } from '../../sys/replace-file.ts'
import { formatCache, parseCache, type SavedInstance } from './file.ts'
import { type Listing, listingOf } from './listing.ts'
import { InstanceNumbers } from './numbers.ts'

/** An instance of a cache. It is the same object as long as the instance is known. */
export interface CachedInstance<T> {
  readonly id: number
  readonly name: string
  /** Is it one of the instances there are now? */
  readonly isActive: boolean
  /** What the agent keeps for it; undefined for one that was only loaded. */
  readonly data: T | undefined
}

/** How a cache is made. */
export interface InstanceCacheOptions {
  readonly domain: number
  /** Serial of the instance domain. */
  readonly serial: number
  /** Directory of the file, DOMAIN.SERIAL; without it nothing can be saved. `cacheDir(env.env)` is where PCP has them. */
  readonly dir?: string
  /** A dictionary of texts: names may be empty, and blanks mean nothing. */
  readonly isDictionary?: boolean
  /** Inactive instances kept; where there would be more, the older half is culled. Default: 250 000. */
  readonly mostInactive?: number
  /** Milliseconds since the epoch. */
  readonly clock?: () => number
  /** Hears which saved instances contradict those in memory. */
  readonly log?: (level: 'warning', text: string) => void
}

const MOST_INACTIVE = 250_000
/** Culled instances that may wait to be dropped from the order. */
const LAZY = 1000

/** Where PCP keeps caches: `$PCP_VAR_DIR/config/pmda`. */
export function cacheDir(env: Readonly<Record<string, string | undefined>>): string {
  return join(env['PCP_VAR_DIR'] ?? '/var/lib/pcp', 'config', 'pmda')
}

interface Entry<T> extends CachedInstance<T> {
  isActive: boolean
  data: T | undefined
  isCulled: boolean
  /** Bytes, one a character. */
  readonly key: string | undefined
  /** Seconds since the epoch; 0 once it was active after the last save. */
  stamp: number
}

/**
 * The instances of one domain. Active ones are listed; inactive ones keep their number for when they come back; culled
 * ones are forgotten, though their numbers are not given away before `reorganize`. A name is known by its part before the
 * first space: EINVAL refuses another one with the same part. Names have no newlines. Finding, adding, hiding and culling
 * take the same time however many there are.
 */
export class InstanceCache<T = undefined> {
  readonly #options: InstanceCacheOptions
  readonly #byId = new Map<number, Entry<T>>()
  readonly #byName = new Map<string, Entry<T>>()
  readonly #byKey = new Map<string, Entry<T>>()
  /** Every instance by number, once `#ordered` was called; culled ones may still be among them. */
  #order: Entry<T>[] = []
  #isOrdered = true
  readonly #numbers: InstanceNumbers
  #active = 0
  #version = 0
  #listing: Listing | undefined
  /** Since the last load or save: 'instances' came or went, or only 'stamps' changed. */
  #unsaved: 'nothing' | 'stamps' | 'instances' = 'nothing'

  constructor(options: InstanceCacheOptions) {
    this.#options = options
    this.#numbers = new InstanceNumbers(this.#byId, this.#name)
  }

  /** Changes whenever the active instances do. */
  get version(): number {
    return this.#version
  }

  /** Instances that are active, that are not, and that were culled since the last `reorganize`. */
  get sizes(): { readonly active: number; readonly inactive: number; readonly culled: number } {
    return { active: this.#active, inactive: this.#byId.size - this.#active, culled: this.#numbers.culled }
  }

  /** The active instances by number: what `instances` of an instance domain gives. The same object until they change. */
  list(): Listing {
    this.#listing ??= listingOf(this.#ordered(), this.#active)
    return this.#listing
  }

  /**
   * Makes an instance active, a new one when the name is not known, and keeps `data` for it. Gives its number.
   * EINVAL for a name that contradicts another; PM_ERR_GENERIC for one that is empty or when no number is left.
   */
  add(name: string, data?: T): number {
    const known = this.#find(name)
    if (known === undefined) return this.#insert(name, this.#numbers.next(), undefined, data)
    return this.#activate(known, data)
  }

  /**
   * As `add`, for an instance whose number follows from a key (its name when there is none), so that it is the same on
   * every host and after every loss of files. Numbers of other new instances fill holes from then on.
   * PM_ERR_INST when only one of name and key is known; PM_ERR_GENERIC when ten numbers that follow from the key are taken.
   */
  addKeyed(name: string, key: Uint8Array | undefined, data?: T): number {
    const bytes = key === undefined || key.length === 0 ? encodeText(name) : key
    const text = keyText(bytes)
    const known = this.#byName.get(this.#short(name))
    const holder = this.#byKey.get(text)
    this.#numbers.reuses = true
    if (known !== holder || (known !== undefined && known.name !== name))
      throw new PcpError('PM_ERR_INST', `${this.#name}: "${name}" and its key belong to different instances`)
    if (known !== undefined) return this.#activate(known, data)
    return this.#insert(name, this.#numbers.hashed(name, bytes), text, data)
  }

  /** Makes an instance inactive, and gives its number. PM_ERR_INST for an unknown name, EINVAL for a contradictory one. */
  hide(name: string): number {
    const entry = this.#known(name)
    this.#setActive(entry, false)
    return entry.id
  }

  /** Forgets an instance, and gives the number it had. PM_ERR_INST for an unknown name, EINVAL for a contradictory one. */
  cull(name: string): number {
    const entry = this.#known(name)
    this.#remove(entry)
    return entry.id
  }

  /** Makes all instances active, or inactive; how many changed. */
  setAll(isActive: boolean): number {
    let count = 0
    for (const entry of this.#byId.values()) {
      if (entry.isActive === isActive) continue
      this.#setActive(entry, isActive)
      count++
    }
    return count
  }

  /** Forgets all instances; how many there were. */
  cullAll(): number {
    const count = this.#byId.size
    for (const entry of this.#byId.values()) this.#remove(entry)
    return count
  }

  /**
   * Forgets inactive instances that were last saved as active more than `seconds` ago, and tells `onCull` their data; how
   * many they were. @see pmdaCachePurge(3)
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

  /** The instance with a number, active or not. */
  get(id: number): CachedInstance<T> | undefined {
    return this.#byId.get(id)
  }

  /** The instance with a name, or with that part before the first space. EINVAL for a contradictory name. */
  find(name: string): CachedInstance<T> | undefined {
    return this.#find(name)
  }

  /** The instance that was added with a key. */
  findKey(key: Uint8Array): CachedInstance<T> | undefined {
    return this.#byKey.get(keyText(key))
  }

  /** Numbers of new instances fill holes from 0 from now on, in later lives of the agent as well. */
  reuseIds(): void {
    this.#numbers.reuses = true
  }

  /** Sets the highest number a new instance may get. PM_ERR_SIGN below 0, PM_ERR_TOOBIG below a number that is taken. */
  resize(maximum: number): void {
    this.#numbers.resize(maximum)
    this.#markUnsaved('stamps')
  }

  /** Gives the numbers of culled instances free. */
  reorganize(): void {
    this.#numbers.reorganize()
  }

  /**
   * Adds the instances of the saved file, inactive; how many it has, or 0 when there is no file. Where file and memory
   * contradict each other memory is right, and the log hears of it. PM_ERR_GENERIC names the line of a file that is
   * wrong; throws Node's error for one that cannot be read, EINVAL without `dir`.
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

  /** Writes the file when instances came or went since the last load or save; how many it has, or 0. Throws as `write`. */
  save(): number {
    return this.#unsaved === 'instances' ? this.write() : 0
  }

  /** As `save`, but also when only instances became active, so that `purge` knows how long ago that was. */
  sync(): number {
    return this.#unsaved === 'nothing' ? 0 : this.write()
  }

  /** Writes the file, as a whole; how many instances it has. Throws Node's error, EINVAL without `dir`. */
  write(): number {
    const path = this.#path()
    const now = this.#now()
    const instances = this.#ordered()
    makeDir(this.#options.dir!)
    const { reuses, maximum } = this.#numbers
    replaceFile(path, formatCache({ reuses, maximum, instances }, now))
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

  /** What a name is known by. */
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

  /** Culls the older half of the inactive instances where there are too many. */
  #makeRoom(): void {
    const { mostInactive = MOST_INACTIVE } = this.#options
    const inactive = this.#byId.size - this.#active
    if (inactive < mostInactive) return
    let surplus = inactive - Math.floor(mostInactive / 2)
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

  /** All instances by number. Numbers are mostly given out in ascending order: then there is nothing to sort. */
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
