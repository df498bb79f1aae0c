/** Chooses and names the units of a report's metrics. pmrep(1) -q -b -y */
import type { MetricDesc } from '../../../model/desc.ts'
import { PcpError } from '../../../model/errors.ts'
import { parseUnits } from '../../../model/parse-units.ts'
import { PM_SEM_COUNTER, PM_TYPE_DOUBLE, PM_TYPE_STRING } from '../../../model/types.ts'
import { unitsStr, unpackUnits } from '../../../model/units.ts'
import { type Conversion, planConversion } from '../../../pmapi/conversion.ts'
import type { Settings } from './settings.ts'
import type { ReportMetricSpec } from './spec.ts'

/** The units in which a metric is shown. */
export interface ReportUnits {
  readonly conversion: Conversion
  /** '' for a metric without units. */
  readonly text: string
  /** As in configuration files, without abbreviations and rate. */
  readonly plain: string
}

const ABBREVIATIONS: readonly (readonly [RegExp, string])[] = [
  [/nanosec/g, 'ns'],
  [/microsec/g, 'us'],
  [/millisec/g, 'ms'],
  [/sec/g, 's'],
  [/hour/g, 'h'],
  [/ \/ /g, '/'],
]

/** Chooses units. Throws PM_ERR_CONV for incompatible units, PM_ERR_TYPE for types without values. */
export function reportUnits(desc: MetricDesc, spec: ReportMetricSpec, settings: Settings): ReportUnits {
  const isPreferred = spec.type === undefined ? settings.type_prefer : spec.type === 'raw'
  const isRaw = isPreferred || settings.type || settings.output === 'archive'
  const own = unitsStr(desc.units)
  const wanted = unitsOf(desc, spec, settings)
  if (wanted !== undefined && desc.type === PM_TYPE_STRING) throw new PcpError('PM_ERR_CONV')
  const plain = wanted ?? own
  const isCounter = desc.sem === PM_SEM_COUNTER && desc.type !== PM_TYPE_STRING
  const text = isCounter && !isRaw && !plain.includes('/') ? `${plain} / s` : plain
  // Test 1240 of the reference's suite: a raw counter without units stays a rate, as 6.0.3 has no name for its units.
  const isRate = isCounter && (!isRaw || (plain === '' && settings.output !== 'archive'))
  const scale = isRate || (wanted !== undefined && wanted !== own) ? text : 'instant'
  const isPlainRate = scale === '' || scale.trim() === '/ s'
  const plan = planConversion(desc, { scale: isPlainRate ? 'rate' : scale, type: undefined })
  // The same units under another name must not turn integers into floating point numbers.
  const isSame =
    !plan.isRate &&
    plan.scaling !== undefined &&
    plan.scaling.from === plan.scaling.to &&
    plan.scaling.multiplier === 1
  const conversion = isSame
    ? planConversion(desc, { scale: 'instant' })
    : {
        ...plan,
        type: (plan.scaling === undefined && !plan.isRate) || (isRate && isRaw) ? desc.type : PM_TYPE_DOUBLE,
      }
  return { conversion, text: abbreviated(text), plain: own }
}

/** Throws PM_ERR_GENERIC with the line PCP prints for unknown units. */
export function checkUnits(desc: MetricDesc, spec: ReportMetricSpec, settings: Settings): void {
  const text = unitsOf(desc, spec, settings)
  if (text === undefined) return
  try {
    parseUnits(text)
  } catch (error) {
    const { text: what } = PcpError.from(error)
    const why = `PM_ERR_CONV ${what} unrecognized or duplicate base unit: ${text}.`
    throw new PcpError('PM_ERR_GENERIC', why, { cause: error })
  }
}

function unitsOf({ units }: MetricDesc, { unit }: ReportMetricSpec, settings: Settings): string | undefined {
  if (settings.output === 'archive') return undefined
  const { dimCount, dimSpace, dimTime } = unpackUnits(units)
  let prefer: string | undefined
  let force: string | undefined
  if (dimCount === 1 && dimSpace === 0 && dimTime === 0) {
    prefer = settings.count_scale
    force = settings.count_scale_force
  } else if (dimSpace === 1 && dimCount === 0 && dimTime === 0) {
    prefer = settings.space_scale
    force = settings.space_scale_force
  } else if (dimTime === 1 && dimCount === 0 && dimSpace === 0) {
    prefer = settings.time_scale
    force = settings.time_scale_force
  }
  return force ?? unit ?? prefer
}

function abbreviated(text: string): string {
  if (!text.includes(' / ')) return text
  let short = text
  for (const [long, abbreviation] of ABBREVIATIONS) short = short.replace(long, abbreviation)
  return short
}
