/** Varying numbers: random with each fetch, with time, or by settable rules. */
import { PcpError } from '../../model/errors.ts'
import { descOf, type Rows, type SampleContext } from './context.ts'

/** Seconds per step. */
const STEP_SEC = 30
/** 2^32, the modulus of unsigned counters. */
const WORD = 0x100000000
const LIGHTS = ['red', 'yellow', 'green'] as const

/** Rows of all walks. */
export function walkRows(context: SampleContext): Rows {
  return {
    ...driftRows(context),
    ...stepRows(context),
    ...heldRows(context),
    ...trafficRows(context),
    ...constantRateRows(context),
    ...upDownRows(),
  }
}

function driftRows({ random }: SampleContext): Rows {
  let drift = 200
  let sign = -1
  return {
    drift: {
      item: 7,
      ...descOf('32'),
      help: 'A random walk that keeps its direction for a while',
      text: 'Each fetch moves it by less than 50, and reverses the direction one time in five. It never falls below 0. It can be stored.',
      value: () => {
        drift = Math.max(0, (drift + sign * random.below(50)) | 0)
        const shown = drift
        if (random.below(100) < 20) sign = -sign
        return shown
      },
      store: (value) => {
        drift = Number(value)
      },
    },
  }
}

function stepRows(context: SampleContext): Rows {
  let step = 20
  const value = (): number => {
    const elapsed = Math.floor((context.env.clock() - context.started) / 1000)
    return (1 + Math.floor(elapsed / STEP_SEC)) * step
  }
  return {
    step: {
      item: 8,
      ...descOf('32', 'instant', 'count'),
      help: 'A value that increases by one step every 30 seconds',
      text: 'A stored number is the new size of a step, initially 20.',
      value,
      store: (stored) => {
        step = Number(stored)
      },
    },
    step_counter: {
      item: 63,
      ...descOf('32', 'counter', 'count'),
      help: 'The value of sample.step as a counter, for its rate',
      value,
    },
  }
}

/** Values that stay the same for some fetches before another is drawn. */
function heldRows({ random }: SampleContext): Rows {
  const held = <T>(draw: () => T, longest: number): (() => T) => {
    let left = 0
    let value: T
    return () => {
      if (left === 0) {
        value = draw()
        left = 1 + random.below(longest)
      }
      left--
      return value
    }
  }
  return {
    lights: {
      item: 46,
      ...descOf('string', 'discrete'),
      help: 'Traffic lights: red, yellow or green for up to ten fetches',
      value: held(() => LIGHTS[random.below(3)]!, 10),
    },
    magnitude: {
      item: 47,
      ...descOf('32', 'discrete'),
      help: 'A power of two from 2 to 64, the same for up to five fetches',
      value: held(() => 2 << random.below(6), 5),
    },
  }
}

/** Random counters and rates of bytes; both counters are one number. */
function trafficRows({ random }: SampleContext): Rows {
  let counter = 0
  const count = (): number => {
    counter = (counter + random.below(1024)) | 0
    return counter
  }
  const rate = (): number => random.below(1024)
  let rapid = 0
  return {
    rapid: {
      item: 64,
      ...descOf('u32', 'counter', 'count'),
      labels: { measure: 'speed', units: 'metres per second', unitsystem: 'SI' },
      help: 'A counter that wraps every few fetches',
      text: 'Each fetch adds 800 million, so that 32 bits wrap after about five fetches.',
      value: () => {
        rapid = (rapid + 800_000_000) % WORD
        return rapid
      },
    },
    byte_ctr: {
      item: 81,
      ...descOf('32', 'counter', 'byte'),
      help: 'Bytes that increase by less than 1024 with each fetch',
      value: count,
    },
    byte_rate: {
      item: 82,
      ...descOf('32', 'instant', 'byte / sec'),
      help: 'Bytes per second, random below 1024',
      value: rate,
    },
    kbyte_ctr: {
      item: 83,
      ...descOf('32', 'counter', 'Kbyte'),
      help: 'The number of sample.byte_ctr as if it were kilobytes',
      value: count,
    },
    kbyte_rate: {
      item: 84,
      ...descOf('32', 'instant', 'Kbyte / sec'),
      help: 'Kilobytes per second, random below 1024',
      value: rate,
    },
    byte_rate_perhour: {
      item: 85,
      ...descOf('32', 'instant', 'byte / hour'),
      help: 'Bytes per hour, random below 1024',
      value: rate,
    },
  }
}

function constantRateRows({ env, started }: SampleContext): Rows {
  let value = 10_485_760
  let gradient = 0
  let at = started
  return {
    'const_rate.value': {
      item: 72,
      ...descOf('u32', 'counter', 'count'),
      help: 'A counter that increases at the rate in sample.const_rate.gradient',
      text: 'A stored number sets the counter.',
      value: () => {
        const now = env.clock()
        const grown = BigInt(Math.trunc((gradient * (now - at)) / 1000))
        value = Number(BigInt.asUintN(32, BigInt(value) + grown))
        at = now
        return value
      },
      store: (stored) => {
        value = Number(stored)
        at = env.clock()
      },
    },
    'const_rate.gradient': {
      item: 73,
      ...descOf('u32'),
      help: 'Increase of sample.const_rate.value per second, initially 0',
      value: () => gradient,
      store: (stored) => {
        gradient = Number(stored)
      },
    },
  }
}

function upDownRows(): Rows {
  const control = { repeat: 5, min: 0, max: 200, step: 10 }
  let value = 0
  let direction = 1
  let left = control.repeat
  const advance = (): number => {
    left--
    if (left > 0) return value
    left = control.repeat
    const next = value + direction * control.step
    if (next > control.max) {
      direction = -1
      value = control.max - control.step
    } else if (next < control.min) {
      direction = 1
      value = control.min + control.step
    } else value = next
    return value
  }
  const setting = (item: number, key: keyof typeof control, help: string): Rows => ({
    [`updown.control.${key}`]: {
      item,
      ...descOf(key === 'min' || key === 'max' ? '32' : 'u32'),
      help,
      value: () => control[key],
      store: (stored) => {
        const signed = Number(stored) | 0
        if (signed < 0 && key !== 'min' && key !== 'max')
          throw new PcpError('PM_ERR_SIGN', `sample.updown.control.${key} cannot be negative`)
        control[key] = signed
      },
    },
  })
  return {
    'updown.obs': {
      item: 164,
      ...descOf('32'),
      help: 'A number that goes up and down between two limits',
      text: 'It stays for sample.updown.control.repeat fetches, then moves by sample.updown.control.step, and turns round where it would pass a limit.',
      value: advance,
    },
    ...setting(165, 'repeat', 'Fetches for which the number stays the same'),
    ...setting(166, 'min', 'Lower limit of the number that goes up and down'),
    ...setting(167, 'max', 'Upper limit of the number that goes up and down'),
    ...setting(168, 'step', 'By how much the number moves at a time'),
  }
}
