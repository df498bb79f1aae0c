/** Processes that do not exist: they come and go like real ones, but in the same way each time. */
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { of, oncePerFetch, type Rows, type SampleContext } from './context.ts'
import { nextState } from './random.ts'

const CLOWNS = ['bozo', 'bobo', 'jester', 'loko', 'pierrot', 'waldo', 'yobo', 'jojo', 'koko', 'lala'] as const
const PLACES = ['/etc/', '/usr/bin/', '/usr/local/', '/usr/opt/bin/'] as const
/** Processes that never end. */
const PERMANENT = 4
/** How many others there may be. */
const SLOTS = 16
const LAST_PID = 999
/** That one of the others ends, or that one starts in an empty slot, between two fetches. */
const CHANCE = 0.075

/** Rows of all metrics about processes. */
export function processRows(context: SampleContext): Rows {
  const table = new ProcessTable(context)
  const indom: IndomSpec = {
    serial: 12,
    instances: () => table.list(),
    help: 'Processes that were made up; none before the first fetch',
  }
  const row = { indom, begin: oncePerFetch(context, () => table.advance()) }
  return {
    'proc.ordinal': {
      item: 156,
      ...of('u32'),
      ...row,
      help: 'Number of each made-up process',
      value: (inst) => inst,
    },
    'proc.exec': {
      item: 157,
      ...of('string'),
      ...row,
      help: 'Last part of the path of the program that a made-up process runs',
      value: (inst) => programOf(inst),
    },
    'proc.time': {
      item: 158,
      ...of('u64', 'counter', 'millisec'),
      ...row,
      help: 'Time since a made-up process was started',
      value: (inst) => table.ageMs(inst),
    },
    'proc.reset': resetRow(table),
  }
}

function resetRow(table: ProcessTable): MetricSpec {
  return {
    item: 159,
    ...of('32'),
    help: 'Storing anything lets the made-up processes begin anew',
    value: () => 0,
    store: () => table.reset(),
  }
}

function nameOf(pid: number): string {
  const number = String(pid).padStart(4, '0')
  return pid === 1 ? `${number} init` : `${number} ${PLACES[(pid - 2) % PLACES.length]}${clownOf(pid)}`
}

function clownOf(pid: number): string {
  return CLOWNS[(pid - 2) % CLOWNS.length]!
}

function programOf(pid: number): string {
  return pid === 1 ? nameOf(pid) : clownOf(pid)
}

/** Which processes there are, and since when. */
class ProcessTable {
  readonly #context: SampleContext
  /** Pids in their slots, 0 for an empty slot. */
  #slots: number[] = []
  readonly #started = new Map<number, number>()
  #next = PERMANENT + 1
  #state = 1

  constructor(context: SampleContext) {
    this.#context = context
  }

  /** Nothing runs, and all that happens from now on is as after the start of the agent. */
  reset(): void {
    this.#slots = []
    this.#started.clear()
    this.#next = PERMANENT + 1
    this.#state = 1
  }

  /** From one fetch to the next: some end, some start. */
  advance(): void {
    if (this.#started.size === 0) {
      this.#slots = new Array<number>(SLOTS).fill(0)
      for (let pid = 1; pid <= PERMANENT; pid++) this.#start(pid)
      return
    }
    for (let slot = 0; slot < SLOTS; slot++) {
      const pid = this.#slots[slot]!
      if (pid === 0 || !this.#happens()) continue
      this.#slots[slot] = 0
      this.#started.delete(pid)
    }
    for (let slot = 0; slot < SLOTS; slot++) {
      if (this.#slots[slot] !== 0 || !this.#happens()) continue
      this.#slots[slot] = this.#nextPid()
      this.#start(this.#slots[slot]!)
    }
  }

  list(): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    const ids = [...this.#started.keys()].sort((a, b) => a - b)
    return { ids, names: ids.map(nameOf) }
  }

  ageMs(pid: number): number | undefined {
    const started = this.#started.get(pid)
    return started === undefined ? undefined : this.#context.env.clock() - started
  }

  #start(pid: number): void {
    this.#started.set(pid, this.#context.env.clock())
  }

  #nextPid(): number {
    while (this.#started.has(this.#next)) this.#next = follower(this.#next)
    const pid = this.#next
    this.#next = follower(pid)
    return pid
  }

  #happens(): boolean {
    this.#state = nextState(this.#state)
    return this.#state / 0x80000000 < CHANCE
  }
}

function follower(pid: number): number {
  return pid === LAST_PID ? PERMANENT + 1 : pid + 1
}
