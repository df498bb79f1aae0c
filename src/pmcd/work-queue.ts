/** Work beyond what a client may have done immediately: a piece of it each time round the event loop. docs/decisions/budgets.md */

/** Takes jobs in order, one job of a client at a time, and reads sockets between them: others wait for one job, not for all. */
export class WorkQueue {
  #jobs: (() => void)[] = []
  #isDue = false

  /** Does this job when those before it have had their turn. */
  add(job: () => void): void {
    this.#jobs.push(job)
    this.#beDue()
  }

  /** Does one job. */
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
