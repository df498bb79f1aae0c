/** Instance domains of all kinds: large, of settable size, fetched only by name, and read from a file. */
import { PcpError } from '../../model/errors.ts'
import { indom } from '../../model/ids.ts'
import type { Instances as Answer } from '../../model/source.ts'
import type { AgentEnv, IndomSpec } from '../../pmda/define.ts'
import { snapshotFile } from '../../pmda/feeds/snapshot-file.ts'
import type { Reading } from '../../pmda/reading.ts'
import { rooted } from '../../sys/proc.ts'
import { descOf, oncePerFetch, type Rows, type SampleContext } from './context.ts'

/** Rows of these domains. */
export function instanceRows(context: SampleContext): Rows {
  return { ...familyRows(context), ...hordeRows(), ...manyRows(), ...dynamicRows(context) }
}

const FAMILY: IndomSpec = {
  serial: 4,
  instances: { colleen: 0, terry: 1, emma: 2, cathy: 3, 'fat bald bastard': 4 },
  help: 'A family, one of them with blanks in the name',
  labels: { clan: 'mcdonell' },
}
const BIRTHDAYS = [3.05, 12.05, 11.09, 11.09, 5.26]

function familyRows({ env }: SampleContext): Rows {
  const id = indom(env.domain, FAMILY.serial)
  return {
    needprofile: {
      item: 49,
      ...descOf('float', 'discrete'),
      indom: FAMILY,
      help: 'Values only for clients that select instances',
      text: 'PM_ERR_PROFILE unless instances of this domain are selected individually, as for a domain that is too large.',
      begin: ({ requester }) => {
        if ((requester.profile.entries.get(id)?.instances.size ?? 0) === 0)
          throw new PcpError('PM_ERR_PROFILE')
      },
      value: (inst) => BIRTHDAYS[inst],
    },
  }
}

const HORDE = 500

function hordeRows(): Rows {
  const hordes: IndomSpec = {
    serial: 5,
    instances: Object.fromEntries(Array.from({ length: HORDE }, (_, i) => [String(i), i])),
    help: 'Five hundred instances named like their numbers',
  }
  return {
    'hordes.one': {
      item: 52,
      ...descOf('32'),
      indom: hordes,
      help: 'From 0 up to 499',
      value: (inst) => inst,
    },
    'hordes.two': {
      item: 53,
      ...descOf('32'),
      indom: hordes,
      help: 'From 499 down to 0',
      value: (inst) => HORDE - 1 - inst,
    },
  }
}

/** Most instances. */
const MOST = 999_999

function manyRows(): Rows {
  let count = 5
  const many: IndomSpec = {
    serial: 8,
    instances: () => {
      const ids = Array.from({ length: count }, (_, i) => i)
      return { ids, names: ids.map((id) => `i-${id}`) }
    },
    help: 'As many instances as set by sample.many.count',
  }
  return {
    'many.count': {
      item: 79,
      ...descOf('32', 'instant', 'count'),
      help: 'Number of values of sample.many.int; up to 999999 can be stored',
      value: () => count,
      store: (value) => {
        count = Math.min(MOST, Math.max(0, Number(value)))
      },
    },
    'many.int': {
      item: 80,
      ...descOf('32', 'instant', 'count'),
      indom: many,
      help: 'The number of each of many instances',
      value: (inst) => inst,
    },
  }
}

function dynamicRows(context: SampleContext): Rows {
  const file = new InstanceFile(context.env)
  const dynamic: IndomSpec = {
    serial: 7,
    instances: () => file.list(),
    help: 'Instances in the file dynamic.indom',
    text: 'The file in $PCP_PMDAS_DIR/sample has a line "number name" for each. It is read again when it changes.',
  }
  const row = {
    indom: dynamic,
    begin: oncePerFetch(context, () => file.count()),
    value: () => file.fetches,
    text: 'Fetches since the file dynamic.indom was read, the same for all instances.',
  }
  return {
    'dynamic.counter': {
      item: 76,
      ...descOf('32', 'counter', 'count'),
      ...row,
      help: 'Fetches as a counter, for instances of a file',
    },
    'dynamic.discrete': {
      item: 77,
      ...descOf('32', 'discrete', 'count'),
      ...row,
      help: 'Fetches with discrete semantics, for instances of a file',
    },
    'dynamic.instant': {
      item: 78,
      ...descOf('32', 'instant', 'count'),
      ...row,
      help: 'Fetches as an instantaneous value, for instances of a file',
    },
  }
}

type Instances = Pick<Answer, 'ids' | 'names'>

const NO_INSTANCES: Instances = { ids: [], names: [] }

/** Instances listed in dynamic.indom. */
class InstanceFile {
  readonly #env: AgentEnv
  readonly #file: Reading<Instances> | undefined
  #listed: Instances = NO_INSTANCES
  /** Fetches since the file was read. */
  fetches = 0

  constructor(env: AgentEnv) {
    this.#env = env
    const dir = env.env['PCP_PMDAS_DIR']
    if (dir === undefined) return
    const path = rooted(env.root, `${dir}/sample/dynamic.indom`)
    this.#file = snapshotFile({ path, parse: (text) => this.#parse(text) })
  }

  list(): Instances {
    this.#refresh()
    return this.#listed
  }

  count(): void {
    this.#refresh()
    this.fetches++
  }

  #refresh(): void {
    if (this.#file === undefined) return
    this.#file.refresh(undefined)
    const now = this.#file.error?.code === 'ENOENT' ? NO_INSTANCES : this.#file.value
    if (now === this.#listed) return
    this.#listed = now
    this.fetches = 0
  }

  #parse(text: string): Instances {
    const found = new Map<number, string>()
    for (const line of text.split('\n')) {
      const [, id, name] = /^\s*(\d{1,9})\s+(\S.*?)\s*$/.exec(line) ?? []
      if (id !== undefined && name !== undefined && !found.has(Number(id))) found.set(Number(id), name)
      else if (line.trim() !== '')
        this.#env.log('warning', `dynamic.indom: "${line}" is not a number and a name: ignored`)
    }
    return { ids: [...found.keys()], names: [...found.values()] }
  }
}
