/** Queue for work beyond a client's share, run in pieces, one per turn of the event loop. docs/decisions/budgets.md */

/** Runs jobs in order, one at a time, and reads sockets between them, so that clients wait for one job only. */
export class WorkQueue {
  #jobs: (() => void)[] = []
  #isDue = false

  /** Adds a job. */
  add(job: () => void): void {
    this.#jobs.push(job)
    this.#beDue()
  }

  /** Runs one job. */
  turn(): void {
    this.#isDue = false
    const job = this.#jobs.shift()
    if (this.#jobs.length > 0) this.#beDue()
    job?.()
  }

  #beDue(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(turn, this)
  }
}

function turn(queue: WorkQueue): void {
  queue.turn()
}
