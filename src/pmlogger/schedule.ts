/** Runs tasks at intervals without drift; a late task skips the times it missed. */
import { setLongTimeout } from '../base/after.ts'
import type { Task } from './tasks.ts'

/** Delay before a new task's first run, in milliseconds. */
const FIRST_MS = 20

interface Entry {
  task: Task
  due: number
  /** Cancels the next run. */
  cancel: () => void
  isRunning: boolean
}

/** Starts tasks when they are due; a task never overlaps itself. */
export class TaskScheduler {
  readonly #entries = new Map<string, Entry>()
  readonly #run: (task: Task) => Promise<void>
  readonly #notBefore: number
  readonly #began: (lateMs: number, leftOut: number) => void
  #isStopped = false

  /**
   * `run` must not reject. Nothing starts before the given performance.now(), which spreads the load of many schedules. `began` is
   * called with each task's delay in milliseconds and the number of runs skipped since the last one.
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

  /** Replaces the tasks; a task with a known key keeps its rhythm. */
  set(tasks: readonly Task[]): void {
    const keys = new Set(tasks.map(({ key }) => key))
    for (const [key, entry] of this.#entries) {
      if (keys.has(key)) continue
      entry.cancel()
      this.#entries.delete(key)
    }
    // Tasks that log once start first.
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

  /** Repeats the tasks that log once, after a delay. */
  repeatOnce(afterMs = 0): void {
    for (const entry of this.#entries.values())
      if (entry.task.deltaMs === 0) this.#arm(entry, performance.now() + afterMs)
  }

  /** Starts no more tasks. */
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
    entry.cancel = setLongTimeout(due - performance.now(), () => this.#fire(entry))
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
