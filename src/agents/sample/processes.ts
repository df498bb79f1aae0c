/** Invented processes: they come and go like real ones, but reproducibly. */
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import { descOf, oncePerFetch, type Rows, type SampleContext } from './context.ts'
import { nextState } from './random.ts'

const CLOWNS = ['bozo', 'bobo', 'jester', 'loko', 'pierrot', 'waldo', 'yobo', 'jojo', 'koko', 'lala'] as const
const PLACES = ['/etc/', '/usr/bin/', '/usr/local/', '/usr/opt/bin/'] as const
/** Processes that never end. */
const PERMANENT = 4
/** Most other processes. */
const SLOTS = 16
const LAST_PID = 999
/** Chance between two fetches that a process ends, or that one starts in an empty slot. */
const CHANCE = 0.075

/** Rows of all metrics about processes. */
export function processRows(context: SampleContext): Rows {
  const table = new ProcessTable(context)
  const indom: IndomSpec = {
    serial: 12,
    instances: () => table.list(),
    help: 'Invented processes; none before the first fetch',
  }
  const row = { indom, begin: oncePerFetch(context, () => table.advance()) }
  return {
    'proc.ordinal': {
      item: 156,
      ...descOf('u32'),
      ...row,
      help: 'Identifier of each invented process',
      value: (inst) => inst,
    },
    'proc.exec': {
      item: 157,
      ...descOf('string'),
      ...row,
      help: 'Last part of the program path of an invented process',
      value: (inst) => programOf(inst),
    },
    'proc.time': {
      item: 158,
      ...descOf('u64', 'counter', 'millisec'),
      ...row,
      help: 'Time since an invented process was started',
      value: (inst) => table.ageMs(inst),
    },
    'proc.reset': resetRow(table),
  }
}

function resetRow(table: ProcessTable): MetricSpec {
  return {
    item: 159,
    ...descOf('32'),
    help: 'Storing any value restarts the invented processes',
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

/** The current processes and their start times. */
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

  /** Returns to the state at the start of the agent. */
  reset(): void {
    this.#slots = []
    this.#started.clear()
    this.#next = PERMANENT + 1
    this.#state = 1
  }

  /** Ends and starts processes between two fetches. */
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
