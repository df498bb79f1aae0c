/** The battery agent (domain 480): charge and status of this machine's batteries. */
import { readdirSync } from 'node:fs'
import {
  type AgentDefinition,
  type AgentEnv,
  type AgentTables,
  defineAgent,
  type IndomSpec,
  Reading,
  readAttribute,
  rooted,
} from '../../src/pmda/index.ts'

/** One battery. A missing file leaves its field undefined. */
export interface Battery {
  readonly name: string
  readonly percent: number | undefined
  readonly status: string | undefined
}

/** Parses texts. It opens no files, so that a test can pass texts. */
export function parseBattery(name: string, attribute: (file: string) => string | undefined): Battery {
  const percent = Number.parseInt(attribute('capacity') ?? '', 10)
  return { name, percent: Number.isNaN(percent) ? undefined : percent, status: attribute('status') }
}

/** Reads the files below the agent's root and passes their texts to the parser. */
function readBatteries(root: string): readonly Battery[] {
  const dir = '/sys/class/power_supply'
  return readdirSync(rooted(root, dir))
    .filter((name) => name.startsWith('BAT'))
    .map((name) => parseBattery(name, (file) => readAttribute(root, `${dir}/${name}/${file}`)))
}

function open(env: AgentEnv): AgentTables {
  const batteries = new Reading(() => readBatteries(env.root))
  // BAT0 is instance 0: the kernel's number stays the same when other batteries come and go.
  const idOf = ({ name }: Battery): number => Number(name.slice(3))
  const battery = (inst: number): Battery | undefined => batteries.value.find((each) => idOf(each) === inst)
  const perBattery: IndomSpec = {
    serial: 0,
    reading: batteries,
    instances: () => ({
      ids: batteries.value.map(idOf),
      names: batteries.value.map(({ name }) => name),
    }),
    help: 'Batteries that are plugged in',
  }
  return {
    metrics: {
      'battery.count': {
        item: 0,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        help: 'How many batteries are plugged in',
        reading: batteries,
        value: () => batteries.value.length,
      },
      'battery.charge': {
        item: 1,
        type: 'u32',
        sem: 'instant',
        units: 'none',
        indom: perBattery,
        help: 'Charge in percent of a full battery',
        text: 'From the file capacity in /sys/class/power_supply. Batteries without this file have no value.',
        reading: batteries,
        value: (inst) => battery(inst)?.percent,
      },
      'battery.status': {
        item: 2,
        type: 'string',
        sem: 'discrete',
        units: 'none',
        indom: perBattery,
        help: 'Whether the battery is charging, discharging or full',
        reading: batteries,
        value: (inst) => battery(inst)?.status,
      },
    },
  }
}

export const agent: AgentDefinition = defineAgent({ name: 'battery', domain: 480, open })
