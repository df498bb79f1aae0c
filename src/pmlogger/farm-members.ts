/**
 * The members of a farm follow its hosts: wanted and owned hosts are recorded, all other recordings end. docs/reference/pmlogger.md
 *
 * Host and share change independently; each change compares the running recordings with the wanted ones.
 */
import type { FarmEntry } from './farm-file.ts'
import { FarmMember, type FarmShared } from './farm-member.ts'

/** Which hosts are this recorder's; see `Share`. */
export interface FarmShare {
  /** Whether a host may be recorded now. */
  owns(key: string): boolean
  /** Whether recordings may begin. */
  mayBegin(): boolean
  /** Whether this recorder has a lease. */
  isMember(): boolean
  /** Identifies who records what. */
  readonly assignment: string
  /** Every recording is of a host owned in this assignment. */
  released(assignment: string): void
  /** Nothing is recorded any more, after the lease was lost. */
  cleared(): void
}

/** Interval in milliseconds over which the first fetches of members that start together are spread. */
const SPREAD_MS = 10_000

interface Running {
  readonly member: FarmMember
  readonly key: string
}

export class FarmMembers {
  readonly #shared: FarmShared
  readonly #share: FarmShare | undefined
  readonly #doneChanged: () => void
  #wanted: ReadonlyMap<string, FarmEntry> = new Map()
  readonly #members = new Map<string, Running>()
  /** Members that are ending, by the entry. */
  readonly #ending = new Map<string, Promise<void>>()
  #isFirst = true
  #isEnding = false
  /** The last report to the share. */
  #reported = ''

  /** `doneChanged` is called when a member ends by itself. */
  constructor(shared: FarmShared, share: FarmShare | undefined, doneChanged: () => void) {
    this.#shared = shared
    this.#share = share
    this.#doneChanged = doneChanged
  }

  /** Whether all recordings have ended by themselves. */
  get areDone(): boolean {
    return this.#ending.size === 0 && [...this.#members.values()].every(({ member }) => member.isDone)
  }

  /** Highest exit status of recordings that ended by themselves. */
  get status(): number {
    return Math.max(0, ...[...this.#members.values()].map(({ member }) => member.status))
  }

  /** Number of hosts that are being recorded. */
  get count(): number {
    return this.#members.size
  }

  /** Sets the hosts to record. */
  want(entries: readonly FarmEntry[]): void {
    this.#wanted = new Map(entries.map((entry) => [JSON.stringify(entry), entry]))
    this.update()
    this.#isFirst = false
  }

  /** Ends and begins recordings, after a change of the hosts or of the share. */
  update(): void {
    if (this.#isEnding) return
    const share = this.#share
    const isMember = share?.isMember() ?? true
    for (const [id, { key }] of this.#members) {
      if (!this.#wanted.has(id)) this.#end(id, 'The host is not listed any more, exiting')
      else if (!isMember) this.#end(id, 'The lease is lost, exiting', true)
      else if (share?.owns(key) === false) this.#end(id, 'Another recorder takes over, exiting')
    }
    this.#report(isMember)
    if (share?.mayBegin() === false) return
    const begun = [...this.#wanted].filter(
      ([id, { key }]) =>
        !this.#members.has(id) && !this.#ending.has(id) && (share === undefined || share.owns(key)),
    )
    const now = performance.now()
    for (const [i, [id, entry]] of begun.entries())
      this.#begin(id, entry, now + (i / begun.length) * SPREAD_MS)
  }

  newVolumes(): void {
    for (const { member } of this.#members.values()) void member.newVolume()
  }

  newArchives(): void {
    for (const { member } of this.#members.values()) member.newArchive()
  }

  /** Ends all recordings; resolves when their archives are complete. */
  async end(reason: string): Promise<void> {
    this.#isEnding = true
    const isLate = this.#share?.isMember() === false
    for (const id of this.#members.keys()) this.#end(id, reason, isLate)
    await Promise.all(this.#ending.values())
  }

  #begin(id: string, entry: FarmEntry, firstAt: number): void {
    const isAgain = !this.#isFirst || this.#share !== undefined || entry.isFound === true
    const member = new FarmMember(entry, { firstAt, isAgain }, this.#shared)
    this.#members.set(id, { member, key: entry.key })
    void member.run().then(() => {
      if (!this.#ending.has(id)) this.#doneChanged()
    })
  }

  #end(id: string, reason: string, isLate = false): void {
    const { member } = this.#members.get(id)!
    this.#members.delete(id)
    member.end(reason, isLate)
    const ended = member.ended.then(() => {
      this.#ending.delete(id)
      this.update()
    })
    this.#ending.set(id, ended)
  }

  /** Reports to the share when the recordings of other hosts have ended. */
  #report(isMember: boolean): void {
    const share = this.#share
    if (share === undefined || this.#ending.size > 0) return
    const report = `${isMember} ${share.assignment}`
    if (report === this.#reported) return
    this.#reported = report
    if (isMember) share.released(share.assignment)
    else share.cleared()
  }
}
