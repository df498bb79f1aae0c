/** The search: mutate, run, keep what reaches new blocks, report what fails. */
import { failureOf, titleOf } from './attempt.ts'
import type { Coverage, Taken } from './coverage.ts'
import type { FuzzEntry } from './entry.ts'
import { literalsOf } from './literals.ts'
import { mutate, type Pick } from './mutate.ts'
import { Schedule } from './schedule.ts'
import { shortened } from './shorten.ts'

/** An input that made the entry fail. */
export interface Find {
  /** Identifies the failure. */
  readonly title: string
  readonly detail: string
  readonly input: Uint8Array
}

/** Options of a search. */
export interface FuzzerOptions {
  readonly coverage: Coverage
  readonly pick: Pick
  /** When to end: ms since the epoch, executions, distinct finds. */
  readonly until: number
  readonly runs: number
  readonly most: number
  /** Called before each execution, for a watchdog on another thread. */
  readonly onStart: (input: Uint8Array) => void
  readonly onKeep: (input: Uint8Array) => void
  readonly onFind: (find: Find) => void
}

const MAX_LENGTH = 4096
/** Time after which an input of a few kilobytes is slow, and thus a find, ms. */
const SLOW_MS = 3000
/** Blocks that a batch may run: taking the coverage costs as much as some ten thousand of them. */
const STEPS_PER_BATCH = 400_000
const MAX_BATCH = 512
/** Buffers that one input may allocate, bytes; the heap is bounded by the thread. */
const MAX_BUFFER_BYTES = 256 * 2 ** 20
const MAX_WORDS = 4000
const TRIM_TRIES = 12
const SHORTEN_TRIES = 2000

/** A search over one entry. */
export class Fuzzer {
  readonly #entry: FuzzEntry
  readonly #options: FuzzerOptions
  readonly #schedule: Schedule
  readonly #titles = new Set<string>()
  readonly #words = new Map<string, Uint8Array>()
  #wordList: Uint8Array[] = []
  #steps = 0
  /** Number of executions so far. */
  executions = 0
  /** Longest time of any input, ms. */
  slowestMs = 0

  constructor(entry: FuzzEntry, options: FuzzerOptions) {
    this.#entry = entry
    this.#options = options
    this.#schedule = new Schedule(options.pick)
    this.#addWords(entry.words ?? [])
  }

  /** Number of kept inputs. */
  get kept(): number {
    return this.#schedule.size
  }

  /** Whether to end: time, executions or finds are enough. */
  get isOver(): boolean {
    const { until, runs, most } = this.#options
    return this.#titles.size >= most || this.executions >= runs || Date.now() >= until
  }

  /** Runs the seeds and the kept corpus, and keeps at least one of them; resolves to whether there was time for all. */
  async begin(inputs: readonly Uint8Array[]): Promise<boolean> {
    this.#options.coverage.take()
    for (const input of inputs) {
      if (this.isOver) break
      const taken = await this.#taken(input)
      if (this.#options.coverage.isNew(taken)) this.#keep(input, taken)
    }
    const isComplete = !this.isOver
    if (this.kept > 0) return isComplete
    const input = inputs[0] ?? new Uint8Array(0)
    this.#keep(input, await this.#taken(input))
    return isComplete
  }

  /** Runs one batch of new inputs. */
  async batch(): Promise<void> {
    const { pick } = this.#options
    const meanSteps = this.#steps / this.kept + 1
    const count = Math.max(1, Math.min(MAX_BATCH, Math.round(STEPS_PER_BATCH / meanSteps)))
    const material = {
      pick,
      words: this.#wordList,
      other: () => this.#schedule.any(),
      isText: this.#entry.isText === true,
      maxLength: this.#entry.maxLength ?? MAX_LENGTH,
    }
    const inputs = Array.from({ length: count }, () => {
      const input = mutate(this.#schedule.next(), material)
      return this.#entry.repair === undefined || pick(8) === 0 ? input : this.#entry.repair(input)
    })
    await this.#sift(inputs)
  }

  /** Returns few kept inputs that together reach all blocks. */
  cover(): Uint8Array[] {
    return this.#schedule.cover()
  }

  /** Finds the inputs of a batch that reach new blocks, by bisection. */
  async #sift(inputs: readonly Uint8Array[]): Promise<void> {
    const { coverage } = this.#options
    const before = bufferBytes()
    const taken = await this.#taken(...inputs)
    const grown = bufferBytes() - before
    const isHuge = grown > MAX_BUFFER_BYTES
    const isNew = coverage.isNew(taken)
    if (inputs.length > 1) {
      if (!isNew && !isHuge) return
      const middle = inputs.length >> 1
      await this.#sift(inputs.slice(0, middle))
      await this.#sift(inputs.slice(middle))
      return
    }
    const input = inputs[0]!
    if (isHuge) this.#report('allocates too much', `${grown >> 20} MiB of buffers`, input)
    if (!isNew) return
    const trimmed = await this.#trimmed(input, taken)
    this.#keep(trimmed, await this.#taken(trimmed))
  }

  /** Drops parts of an input that its new blocks do not need. */
  #trimmed(input: Uint8Array, taken: Taken): Promise<Uint8Array> {
    const { coverage } = this.#options
    const places = coverage.newPlaces(taken)
    const isGood = async (candidate: Uint8Array): Promise<boolean> =>
      coverage.reaches(await this.#taken(candidate), places)
    return shortened(input, isGood, TRIM_TRIES)
  }

  #keep(input: Uint8Array, taken: Taken): void {
    const { coverage, onKeep } = this.#options
    const blocks = coverage.add(taken)
    this.#steps += taken.steps
    this.#schedule.add(input, blocks, taken.steps)
    for (const source of coverage.freshSources()) this.#addWords(literalsOf(source))
    onKeep(input)
  }

  /** Runs inputs; returns what ran. */
  async #taken(...inputs: readonly Uint8Array[]): Promise<Taken> {
    for (const input of inputs) {
      await this.#execute(input)
      if (this.isOver) break
    }
    return this.#options.coverage.take()
  }

  async #execute(input: Uint8Array): Promise<void> {
    const { error, ms } = await this.#timed(input)
    if (ms > this.slowestMs) this.slowestMs = ms
    if (error !== undefined) await this.#fail(input, error)
    else if (ms > SLOW_MS) await this.#confirmSlow(input)
  }

  async #timed(input: Uint8Array): Promise<{ error: Error | undefined; ms: number }> {
    this.executions++
    this.#options.onStart(input)
    const began = performance.now()
    const error = await failureOf(this.#entry, input)
    return { error, ms: performance.now() - began }
  }

  /** Reports a slow input, unless it was the machine that was busy. */
  async #confirmSlow(input: Uint8Array): Promise<void> {
    const times: number[] = []
    for (let i = 0; i < 3; i++) times.push((await this.#timed(input)).ms)
    const ms = Math.min(...times)
    if (ms > SLOW_MS) this.#report('slow', `${Math.round(ms)} ms for ${input.length} bytes`, input)
  }

  async #fail(input: Uint8Array, error: Error): Promise<void> {
    const title = this.#titleOf(error)
    if (this.#titles.has(title)) return
    this.#titles.add(title)
    const isSame = async (candidate: Uint8Array): Promise<boolean> => {
      if (Date.now() >= this.#options.until) return false
      const { error: other } = await this.#timed(candidate)
      return other !== undefined && this.#titleOf(other) === title
    }
    const short = await shortened(input, isSame, SHORTEN_TRIES)
    const { error: last = error } = await this.#timed(short)
    this.#options.onFind({ title, detail: last.stack ?? last.message, input: short })
  }

  #report(title: string, detail: string, input: Uint8Array): void {
    if (this.#titles.has(title)) return
    this.#titles.add(title)
    this.#options.onFind({ title, detail, input })
  }

  #titleOf(error: Error): string {
    return titleOf(error, (url, line, column) => this.#options.coverage.moduleAt(url, line, column))
  }

  #addWords(words: readonly Uint8Array[]): void {
    for (const word of words)
      if (this.#words.size < MAX_WORDS) this.#words.set(Buffer.from(word).toString('latin1'), word)
    this.#wordList = [...this.#words.values()]
  }
}

function bufferBytes(): number {
  return process.memoryUsage().arrayBuffers
}
