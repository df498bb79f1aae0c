/**
 * Kills a command repeatedly. A round makes archives, starts the command and kills it a few times at random moments (the
 * command alone, with its children, or during a second run of it), then runs it to completion.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { generator } from '../generator.ts'
import { Changes } from './changes.ts'
import { makePlace, type Place, removePlace } from './place.ts'
import { ProcessGroup } from './process-group.ts'

/** One command with archives to work on. */
export interface Task {
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Directories in which the command changes something. */
  readonly watched: readonly string[]
  /** Returns the problems that a reader sees between runs, or after a complete run. */
  check(isComplete: boolean): readonly string[]
}

/** Makes the archives of a round. */
export interface Scenario {
  readonly name: string
  prepare(place: Place, next: (below: number) => number): Task
}

/** Number and progress of kills. */
export interface KillOptions {
  readonly kills: number
  readonly seed: number
  /** Receives the number of kills so far after each round. */
  readonly onProgress?: (kills: number) => void
}

/** Result of a fuzz run. */
export interface KillReport {
  readonly kills: number
  readonly rounds: number
  /** Kills by kind. */
  readonly kinds: Readonly<Record<string, number>>
  readonly failures: readonly string[]
}

const KILLS_OF_ROUND = 3
/** Runs that may end before their kill, per kill. */
const MAX_RUNS_PER_KILL = 20
/** Failed rounds after which to stop. */
const MAX_FAILURES = 10
const LOG_TAIL = 2000

/** Kills a command `kills` times. */
export async function killCommand(
  scenario: Scenario,
  programs: string,
  { kills, seed, onProgress = () => {} }: KillOptions,
): Promise<KillReport> {
  const fuzz = new CommandFuzz(scenario, programs)
  await fuzz.measure(seed)
  for (let round = 1; fuzz.kills < kills && fuzz.failures.length < MAX_FAILURES; round++) {
    const due = Math.min(KILLS_OF_ROUND, kills - fuzz.kills)
    await fuzz.round(round, generator(seed * 1_000_003 + round), due)
    onProgress(fuzz.kills)
    if (fuzz.runs > MAX_RUNS_PER_KILL * kills + 100) {
      fuzz.failures.push(`only ${fuzz.kills} of ${fuzz.runs} runs lived until their kill`)
      break
    }
  }
  return fuzz.report()
}

class CommandFuzz {
  readonly failures: string[] = []
  kills = 0
  runs = 0
  readonly #scenario: Scenario
  readonly #programs: string
  readonly #kinds: Record<string, number> = {}
  #rounds = 0
  /** Duration and directory changes of an undisturbed run. */
  #durationMs = 0
  #changes = 0

  constructor(scenario: Scenario, programs: string) {
    this.#scenario = scenario
    this.#programs = programs
  }

  report(): KillReport {
    return { kills: this.kills, rounds: this.#rounds, kinds: this.#kinds, failures: this.failures }
  }

  /** Measures an undisturbed run, which must succeed. */
  async measure(seed: number): Promise<void> {
    await this.#inPlace(async (place) => {
      const task = this.#scenario.prepare(place, generator(seed))
      await this.#complete('undisturbed', task, place)
    })
  }

  async round(round: number, next: (below: number) => number, due: number): Promise<void> {
    this.#rounds++
    await this.#inPlace(async (place) => {
      const task = this.#scenario.prepare(place, next)
      const done: string[] = []
      const groups: ProcessGroup[] = []
      const settled = async (): Promise<void> => {
        await Promise.all(groups.splice(0).map((group) => group.ended()))
      }
      for (let run = 0; done.length < due && run < 2 * due; run++) {
        const kind = ['parent', 'group', 'second'][next(3)]!
        const { wasKilled, moment } = await this.#killOne(task, place, kind, next, groups)
        if (wasKilled) {
          done.push(`${kind} ${moment}`)
          this.kills++
          this.#kinds[kind] = (this.#kinds[kind] ?? 0) + 1
        }
        // Otherwise children of the killed command continue during the next run.
        if (kind === 'parent' && next(2) === 0) continue
        await settled()
        if (this.#fails(`round ${round}, killed: ${done.join(', ')}`, task.check(false), place)) return
      }
      await settled()
      await this.#complete(`round ${round}, killed: ${done.join(', ')}, then run to its end`, task, place)
    })
  }

  async #killOne(
    task: Task,
    place: Place,
    kind: string,
    next: (below: number) => number,
    groups: ProcessGroup[],
  ): Promise<{ wasKilled: boolean; moment: string }> {
    const target = kind === 'parent' || (kind === 'second' && next(2) === 0) ? 'parent' : 'group'
    // Half of the kills are timed by changes, because the work itself is a small part of a short command's run time.
    const atChange = next(2) === 0 ? 1 + next(Math.max(1, this.#changes)) : undefined
    const atMs = (next(1000) / 1000) * this.#durationMs
    const secondMs = (next(1000) / 1000) * this.#durationMs
    const secondDies = next(3) === 0
    const stop = new AbortController()
    const group = this.#start(task, place)
    groups.push(group)
    const changes = new Changes(task.watched, (count) => count === atChange && group.kill(target))
    try {
      const work: Promise<unknown>[] = [group.exited()]
      if (atChange === undefined)
        void pause(atMs, undefined, { signal: stop.signal }).then(
          () => group.kill(target),
          () => {},
        )
      if (kind === 'second') work.push(this.#second(task, place, secondMs, secondDies, groups))
      await Promise.all(work)
    } finally {
      stop.abort()
      changes.close()
    }
    const moment = atChange === undefined ? `after ${atMs.toFixed(1)} ms` : `at change ${atChange}`
    return { wasKilled: group.wasKilled, moment }
  }

  /** Starts a second run in the middle of the first. */
  async #second(
    task: Task,
    place: Place,
    afterMs: number,
    dies: boolean,
    groups: ProcessGroup[],
  ): Promise<void> {
    await pause(afterMs)
    const group = this.#start(task, place)
    groups.push(group)
    if (!dies) return
    await pause(afterMs)
    group.kill('group')
  }

  /** Runs a command to completion and checks the result. */
  async #complete(what: string, task: Task, place: Place): Promise<void> {
    const changes = new Changes(task.watched)
    const begin = performance.now()
    const group = this.#start(task, place)
    await group.ended()
    const took = performance.now() - begin
    changes.close()
    this.#durationMs = this.#durationMs === 0 ? took : (3 * this.#durationMs + took) / 4
    this.#changes = Math.max(this.#changes, changes.count)
    this.#fails(what, task.check(true), place)
  }

  #start({ program, args, cwd }: Task, place: Place): ProcessGroup {
    this.runs++
    const options = { cwd, env: place.env, log: join(place.top, 'output') }
    return new ProcessGroup(join(place.programs, program), args, options)
  }

  #fails(what: string, problems: readonly string[], place: Place): boolean {
    if (problems.length === 0) return false
    const output = readFileSync(join(place.top, 'output'), 'utf8').slice(-LOG_TAIL)
    this.failures.push(`${this.#scenario.name}: ${what}:\n  ${problems.join('\n  ')}\n${output}`)
    return true
  }

  async #inPlace(action: (place: Place) => Promise<void>): Promise<void> {
    const place = makePlace(this.#programs)
    try {
      await action(place)
    } finally {
      removePlace(place)
    }
  }
}
