/** When tasks are due: at intervals that do not drift, and one that is late leaves out what it missed. */
import { after } from '../base/after.ts'
import type { Task } from './tasks.ts'

/** Time until a new task is done for the first time, in milliseconds. */
const FIRST_MS = 20

interface Entry {
  task: Task
  due: number
  /** Ends the wait for it. */
  cancel: () => void
  /** It was started and has not ended. */
  isRunning: boolean
}

/** Starts tasks when they are due, each again only when it has ended. */
export class Schedule {
  readonly #entries = new Map<string, Entry>()
  readonly #run: (task: Task) => Promise<void>
  readonly #notBefore: number
  readonly #began: (lateMs: number, leftOut: number) => void
  #isStopped = false

  /**
   * `run` must not reject. Nothing is done before a moment of performance.now(), so that many schedules take turns. `began` is called
   * with the milliseconds by which each task is late, and how many times it was left out since.
   */
  constructor(
    run: (task: Task) => Promise<void>,
    notBefore = 0,
    began: (lateMs: number, leftOut: number) => void = () => {},
  ) {
    this.#run = run
    this.#notBefore = notBefore
    this.#began = began
  }

  /** Takes these tasks in place of those before; one whose key was there keeps its beat. */
  set(tasks: readonly Task[]): void {
    const keys = new Set(tasks.map(({ key }) => key))
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue
      entry.cancel()
      this.#entries.delete(key)
    }
    // What is done once shall be there as early as possible.
    for (const task of [...tasks].sort((a, b) => Number(b.deltaMs === 0) - Number(a.deltaMs === 0))) {
      const entry = this.#entries.get(task.key)
      if (entry === undefined) this.#add(task)
      else {
        const hasNew = task.metrics.some((metric) => !entry.task.metrics.includes(metric))
        entry.task = task
        if (task.deltaMs === 0 && hasNew) this.#arm(entry, performance.now())
      }
    }
  }

  /** Does what is done once again, after so many milliseconds. */
  repeatOnce(afterMs = 0): void {
    for (const entry of this.#entries.values())
      if (entry.task.deltaMs === 0) this.#arm(entry, performance.now() + afterMs)
  }

  /** Nothing is started any more. */
  stop(): void {
    this.#isStopped = true
    for (const { cancel } of this.#entries.values()) cancel()
    this.#entries.clear()
  }

  #add(task: Task): void {
    const first = task.deltaMs === 0 ? 0 : FIRST_MS
    const entry: Entry = { task, due: 0, cancel: () => {}, isRunning: false }
    this.#entries.set(task.key, entry)
    this.#arm(entry, Math.max(performance.now() + first, this.#notBefore))
  }

  #arm(entry: Entry, due: number): void {
    entry.cancel()
    entry.due = due
    if (this.#isStopped) return
    entry.cancel = after(due - performance.now(), () => this.#fire(entry))
  }

  #fire(entry: Entry): void {
    const { deltaMs } = entry.task
    const lateMs = Math.max(0, performance.now() - entry.due)
    let leftOut = entry.isRunning ? 1 : 0
    if (deltaMs > 0) {
      const missed = Math.floor(lateMs / deltaMs)
      leftOut += missed
      this.#arm(entry, entry.due + (missed + 1) * deltaMs)
    }
    this.#began(lateMs, leftOut)
    if (entry.isRunning) return
    entry.isRunning = true
    void this.#run(entry.task).then(() => {
      entry.isRunning = false
    })
  }
}
