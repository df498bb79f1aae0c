/** pmcd.control.*, pmcd.limits.*: settings, some of which root may change. */
import { PcpError } from '../../model/errors.ts'
import type { IndomSpec, MetricSpec } from '../../pmda/define.ts'
import type { CollectorStatistics } from './statistics.ts'

const SERIAL_REGISTERS = 2
const REGISTERS = 16
type Stored = Parameters<NonNullable<MetricSpec['store']>>[0]
type Row = Omit<MetricSpec, 'cluster' | 'item' | 'sem' | 'units'> & { readonly units?: string }

/** Metrics that control the collector. */
export function controlMetrics(statistics: CollectorStatistics): Record<string, MetricSpec> {
  const { controls, limits, trace } = statistics
  const setting = (item: number, row: Row): MetricSpec => ({ item, sem: 'discrete', units: 'none', ...row })
  const control = (item: number, row: Row): MetricSpec => ({ ...setting(item, row), isControl: true })
  /** A control that acts on any stored value, including 0, as in PCP 6.0.3. */
  const action = (item: number, help: string, text: string, act: () => void): MetricSpec =>
    control(item, {
      type: '32',
      help,
      text,
      value: () => 0,
      store: act,
    })
  /** A boolean control. */
  const flag = (
    item: number,
    key: 'recordsConnections' | 'recordsPdus' | 'isUnbuffered',
    help: string,
    text: string,
  ): MetricSpec =>
    control(item, {
      type: '32',
      help,
      text,
      value: () => (trace[key] ? 1 : 0),
      store: (value) => {
        if (value !== 0 && value !== 1) throw new PcpError('PM_ERR_BADSTORE', 'Store 0 or 1')
        trace[key] = value === 1
      },
    })
  return {
    ...registers(),
    'pmcd.control.debug': control(0, {
      type: '32',
      help: 'Debug options in force, as the number older releases used',
      text: `The sum of the numbers of the options, such as 1 for pdu and 2 for fetch: what the option -D turns on. Options that
never had a number cannot be turned on here, and are turned off by whatever is stored.`,
      value: () => statistics.debug.bits,
      store: (value) => {
        statistics.debug.bits = Number(value)
      },
    }),
    'pmcd.control.timeout': control(4, {
      type: 'u32',
      help: 'Seconds an agent may take for a reply',
      text: 'An agent that takes longer is dropped. 0 means no limit.',
      value: () => controls.timeoutSec,
      store: (value) => {
        controls.timeoutSec = notNegative(value)
      },
    }),
    'pmcd.control.creds_timeout': control(30, {
      type: 'u32',
      units: 'sec',
      help: 'Seconds an agent may take for its first PDU',
      text: 'An agent that sends no PDU in this time counts as not started.',
      value: () => controls.credsTimeoutSec,
      store: (value) => {
        if (notNegative(value) === 0) throw new PcpError('PM_ERR_CONV', 'Store at least 1 second')
        controls.credsTimeoutSec = Number(value)
      },
    }),
    'pmcd.control.traceconn': flag(
      9,
      'recordsConnections',
      'Does the event trace record connections?',
      'Storing 1 records clients and agents that come and go, storing 0 does not. The option -T sets the initial value.',
    ),
    'pmcd.control.tracepdu': flag(
      10,
      'recordsPdus',
      'Does the event trace record PDUs?',
      'Storing 1 records every PDU that is sent or received, storing 0 does not. The option -T sets the initial value.',
    ),
    'pmcd.control.tracenobuf': flag(
      14,
      'isUnbuffered',
      'Is each traced event logged immediately?',
      'With 0 events are buffered until a dump is requested or an agent is lost, with 1 they are logged as they occur.',
    ),
    'pmcd.control.tracebufs': control(11, {
      type: '32',
      help: 'Number of events that the trace holds',
      text: 'New events replace the oldest. Storing another number empties the trace.',
      value: () => trace.size,
      store: (value) => {
        trace.size = notNegative(value)
      },
    }),
    'pmcd.control.dumptrace': action(
      12,
      'Storing any value writes the event trace to the log',
      'The trace is empty afterwards. The value is always 0.',
      () => trace.dump(),
    ),
    'pmcd.control.dumpconn': action(
      13,
      'Storing any value writes the list of clients to the log',
      'The value is always 0.',
      statistics.dumpConnections,
    ),
    'pmcd.control.sighup': action(
      15,
      'Storing any value makes the collector read its configuration again',
      'Same as the signal HUP, which also restarts lost agents. The value is always 0.',
      statistics.reconfigure,
    ),
    'pmcd.limits.inpdusize': setting(27, {
      type: 'u32',
      units: 'byte',
      help: 'Largest PDU the collector accepts from a client',
      value: () => limits.pduBytes,
      store: refuse,
    }),
    'pmcd.limits.contexts': setting(28, {
      type: 'u32',
      help: 'Most contexts one client may use',
      value: () => limits.contexts,
      store: refuse,
    }),
    'pmcd.limits.metrics': setting(29, {
      type: 'u32',
      help: 'Most metrics one fetch may name',
      value: () => limits.metrics,
      store: refuse,
    }),
  }
}

/** Sixteen registers for experiments, which keep stored values. */
function registers(): Record<string, MetricSpec> {
  const values = new Int32Array(REGISTERS)
  const indom: IndomSpec = {
    serial: SERIAL_REGISTERS,
    help: 'The sixteen registers',
    instances: Object.fromEntries(Array.from(values, (_, i) => [String(i), i])),
  }
  return {
    'pmcd.control.register': {
      item: 8,
      type: '32',
      sem: 'discrete',
      units: 'none',
      indom,
      help: 'Sixteen registers without a meaning to the collector',
      text: 'They keep stored values until the collector ends, for tests and for communication between programs.',
      value: (inst) => values[inst],
      isControl: true,
      store: (value, inst) => {
        values[inst] = Number(value)
      },
    },
  }
}

function notNegative(value: Stored): number {
  const number = Number(value)
  if (number < 0) throw new PcpError('PM_ERR_SIGN', 'Store a number that is not negative')
  return number
}

/** Limits are set on the command line; PCP answers stores with PM_ERR_PMID. */
function refuse(): never {
  throw new PcpError('PM_ERR_PMID', 'This limit is set on the command line and cannot be stored')
}
