/** Memory that clients occupy in this process: counted for each, bounded for each and for all. docs/decisions/budgets.md */

/** Bounds in bytes. */
export interface BudgetLimits {
  /** Most bytes that one holder may keep. */
  readonly each: number
  /** Most bytes that all holders may keep and have under way together. */
  readonly all: number
}

/** A holder of memory, such as a client. */
export interface MemoryHolder {
  /** Names it in the log. */
  readonly name: string
  /** Connections from one address, for example, form a group and are weighed together. Default: '' */
  readonly group?: string
  /** Frees everything the holder has. `reason` completes a sentence that starts with its name. */
  readonly evict: (reason: string) => void
}

/** At most one log line in this time. */
const QUIET_MS = 10_000

interface Group {
  bytes: number
  readonly accounts: Set<ByteAccount>
}

/**
 * Evicts a holder that exceeds its limit and, while the total exceeds its own, the largest holder of the largest group: many small
 * holders of one origin must not cost others their memory.
 */
export class ByteBudget {
  readonly #limits: BudgetLimits
  readonly #log: (text: string) => void
  readonly #now: () => number
  readonly #groups = new Map<string, Group>()
  #bytes = 0
  #quietUntil = Number.NEGATIVE_INFINITY
  #unlogged = 0

  /** `now` is a monotonic clock in milliseconds. */
  constructor(
    limits: BudgetLimits,
    log: (text: string) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#limits = limits
    this.#log = log
    this.#now = now
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Opens an account for a holder. Close it when the holder leaves. */
  open(holder: MemoryHolder): ByteAccount {
    const key = holder.group ?? ''
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = { bytes: 0, accounts: new Set() }
      this.#groups.set(key, group)
    }
    const { accounts } = group
    const account = new ByteAccount(holder, (kept, more) => {
      if (!accounts.has(account)) return
      this.#add(key, more)
      if (kept > this.#limits.each)
        this.#evict(account, `holds ${inUnits(kept)}; the limit is ${inUnits(this.#limits.each)}`)
      // The eviction above may have been enough.
      while (this.#bytes > this.#limits.all && this.#evictLargest());
    })
    accounts.add(account)
    return account
  }

  /** Closes an account; idempotent. */
  close(account: ByteAccount): void {
    const key = account.holder.group ?? ''
    const group = this.#groups.get(key)
    if (group?.accounts.delete(account) !== true) return
    this.#add(key, -account.bytes)
    if (group.accounts.size === 0) this.#groups.delete(key)
  }

  #add(key: string, more: number): void {
    this.#bytes += more
    this.#groups.get(key)!.bytes += more
  }

  /** Returns whether anything was left to evict. */
  #evictLargest(): boolean {
    let group: Group | undefined
    for (const each of this.#groups.values())
      if (group === undefined || each.bytes > group.bytes) group = each
    let account: ByteAccount | undefined
    for (const each of group?.accounts ?? [])
      if (account === undefined || each.bytes > account.bytes) account = each
    if (account === undefined || account.bytes === 0) return false
    const { all } = this.#limits
    this.#evict(
      account,
      `holds ${inUnits(account.bytes)}, the most; the total of ${inUnits(this.#bytes)} exceeds the limit of ${inUnits(all)}`,
    )
    return true
  }

  #evict(account: ByteAccount, reason: string): void {
    const { name, evict } = account.holder
    this.close(account)
    this.#report(`${name} is dropped: it ${reason}`)
    evict(reason)
  }

  #report(text: string): void {
    const now = this.#now()
    if (now < this.#quietUntil) {
      this.#unlogged++
      return
    }
    this.#log(this.#unlogged === 0 ? text : `${text} (and ${this.#unlogged} more since the last such line)`)
    this.#unlogged = 0
    this.#quietUntil = now + QUIET_MS
  }
}

/** Bytes of one holder. */
export class ByteAccount {
  readonly holder: MemoryHolder
  readonly #changed: (kept: number, more: number) => void
  #kept = 0
  #passing = 0

  /** Made by `ByteBudget.open`. */
  constructor(holder: MemoryHolder, changed: (kept: number, more: number) => void) {
    this.holder = holder
    this.#changed = changed
  }

  /** Bytes counted against what all may hold. */
  get bytes(): number {
    return this.#kept + this.#passing
  }

  /** Adds bytes (removes them when negative) that the holder keeps until it changes or leaves. May evict this holder or others. */
  keep(more: number): void {
    if (more === 0) return
    this.#kept += more
    this.#changed(this.#kept, more)
  }

  /** Sets the bytes under way from or to the holder, which count towards the total only. May evict this holder or others. */
  setPassing(bytes: number): void {
    const more = bytes - this.#passing
    if (more === 0) return
    this.#passing = bytes
    this.#changed(0, more)
  }
}

function inUnits(bytes: number): string {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
