/** Everything that can be wrong with a metric, on purpose: missing, refused, or failing by chance. */
import { PcpError } from '../../model/errors.ts'
import type { IndomSpec } from '../../pmda/define.ts'
import { of, type Rows, type SampleContext } from './context.ts'

/** Rows of metrics that fail in certain ways. */
export function faultRows(context: SampleContext): Rows {
  return { ...badRows(), ...errorRows(), ...dodgeyRows(context) }
}

function badRows(): Rows {
  const none = { value: () => undefined }
  return {
    noinst: { item: 9, ...of('32'), ...none, help: 'A metric that never has a value' },
    bigid: {
      item: 1023,
      ...of('32', 'instant', 'count'),
      help: 'A constant under the highest item number there is',
      value: () => 4_194_303,
    },
    'bad.unknown': {
      item: 54,
      ...of('32'),
      help: 'A name and a text, but no metric',
      describe: unknown,
      value: unknown,
    },
    'bad.nosupport': {
      item: 55,
      ...of('nosupport'),
      ...none,
      help: 'Exists on other systems only',
      describe: (desc) => ({ ...desc, sem: 0 }),
    },
    'bad.novalues': { item: 138, ...of('32'), ...none, help: 'Another metric that never has a value' },
    'bad.fetch.again': {
      item: 154,
      ...of('32', 'discrete'),
      help: 'Each fetch is told to try again later',
      value: () => new PcpError('PM_ERR_AGAIN'),
    },
  }
}

/** Nobody has a metric of this identifier. */
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
      ...of('32'),
      help: 'The status with which sample.error_check fails, 0 or more for none',
      value: () => code,
      store: (value) => {
        code = Number(value)
      },
    },
    error_check: {
      item: 75,
      ...of('32'),
      help: 'Fails with any status: the one stored in sample.error_code',
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
/** In a thousand: each of the errors, one after the other. */
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
    help: 'Instances that may or may not be there',
  }
  /** What the next fetches find: an error, or some of the instances. */
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
      ...of('32', 'discrete'),
      help: 'How sample.dodgey.value misbehaves; 5 at first, which is not at all',
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
      ...of('32'),
      indom,
      help: 'Random numbers up to 100, where they can be had',
      begin,
      value: (inst) => (control > DODGEY_IDS.length || inst <= control ? random.below(101) : undefined),
    },
  }
}
