/** Faulty metrics: missing, refused, or failing at random. */
import { PcpError } from '../../model/errors.ts'
import type { IndomSpec } from '../../pmda/define.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'

/** Rows of failing metrics. */
export function faultRows(context: SampleContext): Rows {
  return { ...badRows(), ...errorRows(), ...dodgeyRows(context) }
}

function badRows(): Rows {
  const none = { value: () => undefined }
  return {
    noinst: { item: 9, ...descOf('32'), ...none, help: 'A metric that never has a value' },
    bigid: {
      item: 1023,
      ...descOf('32', 'instant', 'count'),
      help: 'A constant with the highest item number',
      value: () => 4_194_303,
    },
    'bad.unknown': {
      item: 54,
      ...descOf('32'),
      help: 'A name and a text, but no metric',
      describe: unknown,
      value: unknown,
    },
    'bad.nosupport': {
      item: 55,
      ...descOf('nosupport'),
      ...none,
      help: 'Exists only on other systems',
      describe: (desc) => ({ ...desc, sem: 0 }),
    },
    'bad.novalues': { item: 138, ...descOf('32'), ...none, help: 'Another metric that never has a value' },
    'bad.fetch.again': {
      item: 154,
      ...descOf('32', 'discrete'),
      help: 'Each fetch fails with "try again later"',
      value: () => new PcpError('PM_ERR_AGAIN'),
    },
  }
}

/** PMID of no metric. */
function unknown(): never {
  throw new PcpError('PM_ERR_PMID')
}

function errorRows(): Rows {
  let code = 0
  const check = (): void => {
    if (code < 0) throw PcpError.fromStatus(code, 'sample.error_check')
  }
  return {
    error_code: {
      item: 74,
      ...descOf('32'),
      help: 'The status with which sample.error_check fails, 0 or more for none',
      value: () => code,
      store: (value) => {
        code = Number(value)
      },
    },
    error_check: {
      item: 75,
      ...descOf('32'),
      help: 'Fails with the status stored in sample.error_code',
      text: 'Its descriptor and its value are refused with that status while it is negative; otherwise the value is 0.',
      describe: (desc) => {
        check()
        return desc
      },
      value: () => 0,
    },
  }
}

const DODGEY_IDS = [1, 2, 3, 4, 5] as const
/** Share of each error, in a thousand. */
const ERROR_SHARE = 33
const ERRORS = ['PM_ERR_NOAGENT', 'PM_ERR_AGAIN', 'PM_ERR_APPVERSION'] as const

function dodgeyRows({ random }: SampleContext): Rows {
  let control = 5
  let present: readonly number[] = DODGEY_IDS
  let left = 0
  let error: PcpError | undefined
  const indom: IndomSpec = {
    serial: 6,
    instances: () => ({ ids: present, names: present.map((id) => `d${id}`) }),
    help: 'Instances that may be missing',
  }
  /** Draws the result of the next fetches: an error, or some of the instances. */
  const draw = (): void => {
    const which = Math.floor(random.below(1000) / ERROR_SHARE)
    const code = ERRORS[which]
    error = code === undefined ? undefined : new PcpError(code)
    if (error === undefined) present = DODGEY_IDS.filter(() => random.below(100) < 49)
    left = 1 + random.below(control)
  }
  const begin = (): void => {
    if (control < 0) throw PcpError.fromStatus(control, 'sample.dodgey.control')
    if (control <= DODGEY_IDS.length) return
    if (left === 0) draw()
    left--
    if (error !== undefined) throw error
  }
  return {
    'dodgey.control': {
      item: 61,
      ...descOf('32', 'discrete'),
      help: 'Behaviour of sample.dodgey.value; initially 5, no faults',
      text: 'A negative number is the error of the whole metric, 0 to 5 the number of instances with values. With a larger number each fetch up to that many finds the same mishap, then another one is drawn: an error now and then, else about half of the instances.',
      value: () => control,
      store: (value) => {
        control = Number(value)
        present = DODGEY_IDS
        left = 0
      },
    },
    'dodgey.value': {
      item: 62,
      ...descOf('32'),
      indom,
      help: 'Random numbers up to 100, if not failing',
      begin,
      value: (inst) => (control > DODGEY_IDS.length || inst <= control ? random.below(101) : undefined),
    },
  }
}
