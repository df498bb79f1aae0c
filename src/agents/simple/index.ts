/** The simple agent (domain 253): the smallest agent with every feature, for learning and for tests. docs/reference/agent-toolkit.md */
import { PcpError } from '../../model/errors.ts'
import type { AgentEnv, AgentTables, IndomSpec } from '../../pmda/define.ts'
import { type AgentDefinition, defineAgent } from '../../pmda/define-agent.ts'
import { snapshotFile } from '../../pmda/feeds/snapshot-file.ts'
import { Reading } from '../../pmda/reading.ts'
import { rooted } from '../../sys/proc.ts'

/** The agent for the collector's registry. */
export const agent: AgentDefinition = defineAgent({ name: 'simple', domain: 253, open })

const COLORS: IndomSpec = {
  serial: 0,
  instances: { red: 0, green: 1, blue: 2 },
  help: 'Colors of a pixel',
  text: 'Always the same three instances: the example of an instance domain that never changes.',
  labels: { indom_name: 'color', model: 'RGB' },
}

function open(env: AgentEnv): AgentTables {
  let fetches = 0
  const colors = [0, 100, 200]
  const cpu = new Reading(() => process.cpuUsage())
  const units = new TimeUnits(env)
  const now: IndomSpec = {
    serial: 1,
    instances: () => units.instances(),
    help: 'Parts of the time of day',
    text: 'Those of sec, min and hour in the first line of simple.conf: the example of an instance domain that changes.',
    labels: { indom_name: 'time', unitsystem: 'SI' },
    instanceLabels: (_, name) => ({ units: name }),
  }
  return {
    labels: { role: 'testing' },
    beforeFetch: () => {
      fetches = (fetches + 1) >>> 0
    },
    metrics: {
      'simple.numfetch': {
        item: 0,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        help: 'Fetch requests this agent has answered, including this one',
        text: 'Counts from zero since the agent was started. A stored number sets the count. Numbers below zero are refused and reset it to zero.',
        value: () => fetches,
        store: (value) => {
          // Clients write the value as unsigned; a minus sign shows as the top bit.
          const signed = Number(value) | 0
          fetches = Math.max(0, signed)
          if (signed < 0) throw new PcpError('PM_ERR_BADSTORE', 'simple.numfetch cannot be negative')
        },
      },
      'simple.color': {
        item: 1,
        type: '32',
        sem: 'instant',
        units: 'none',
        indom: COLORS,
        help: 'Saturation of each color, incremented by every fetch',
        text: 'Values start at 0, 100 and 200, and return to 0 after 255. Any value in that range can be stored, one color at a time.',
        value: (inst) => {
          colors[inst] = (colors[inst]! + 1) % 256
          return colors[inst]
        },
        store: (value, inst) => {
          const wanted = Number(value)
          colors[inst] = Math.min(255, Math.max(0, wanted))
          if (colors[inst] !== wanted)
            throw new PcpError('PM_ERR_BADSTORE', `simple.color takes 0 to 255, not ${wanted}`)
        },
      },
      'simple.time.user': {
        cluster: 1,
        item: 2,
        type: 'double',
        sem: 'counter',
        units: 'sec',
        help: 'User CPU time of the agent',
        text: 'Time in user mode of the process that runs the agent, since that process was started.',
        reading: cpu,
        value: () => cpu.value.user / 1e6,
      },
      'simple.time.sys': {
        cluster: 1,
        item: 3,
        type: 'double',
        sem: 'counter',
        units: 'sec',
        help: 'System CPU time of the agent',
        text: 'Time in system mode of the process that runs the agent, since that process was started.',
        reading: cpu,
        value: () => cpu.value.system / 1e6,
      },
      'simple.now': {
        cluster: 2,
        item: 4,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        indom: now,
        help: 'Time of day: the current second, minute or hour',
        text: 'One value for each part of the time that $PCP_PMDAS_DIR/simple/simple.conf lists. The file is read again when it changes.',
        value: (inst) => units.valueOf(inst, env.clock()),
      },
    },
  }
}

type TimePart = (date: Date) => number

const PARTS: { readonly [name: string]: TimePart } = {
  sec: (date) => date.getSeconds(),
  min: (date) => date.getMinutes(),
  hour: (date) => date.getHours(),
}

/** Instances of simple.now, from simple.conf. A name keeps its identifier while the agent runs. */
class TimeUnits {
  readonly #env: AgentEnv
  /** Names by identifier. */
  readonly #known: string[] = []
  readonly #file: Reading<readonly number[]> | undefined

  constructor(env: AgentEnv) {
    this.#env = env
    const dir = env.env['PCP_PMDAS_DIR']
    if (dir === undefined) return
    const path = rooted(env.root, `${dir}/simple/simple.conf`)
    this.#file = snapshotFile({ path, parse: (text) => this.#parse(text) })
  }

  /** Current instances; none without the file. */
  instances(): { readonly ids: readonly number[]; readonly names: readonly string[] } {
    this.#file?.refresh(undefined)
    const isAbsent = this.#file === undefined || this.#file.error?.code === 'ENOENT'
    const ids = isAbsent ? [] : this.#file.value
    return { ids, names: ids.map((id) => this.#known[id]!) }
  }

  /** The part of the local time for an instance. */
  valueOf(inst: number, ms: number): number | undefined {
    return PARTS[this.#known[inst] ?? '']?.(new Date(ms))
  }

  #parse(text: string): readonly number[] {
    const ids = new Set<number>()
    const [line = ''] = text.split('\n')
    for (const word of line.split(',').map((part) => part.trim())) {
      if (word === '') continue
      if (!Object.hasOwn(PARTS, word)) {
        this.#env.log('warning', `simple.conf: "${word}" is not one of sec, min and hour: ignored`)
        continue
      }
      if (!this.#known.includes(word)) this.#known.push(word)
      ids.add(this.#known.indexOf(word))
    }
    return [...ids].sort((a, b) => a - b)
  }
}
