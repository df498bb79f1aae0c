/** The time zone that a context's values come from. pmNewContextZone(3) */
import { PcpError } from '../model/errors.ts'
import type { CallOptions, Context } from './context.ts'

/**
 * Returns the time zone of the source's host in the form that `newZone` takes: from an archive's label, else from the
 * collector, by name (`:Australia/Melbourne`) if it knows one, else as a rule. PM_ERR_VALUE if the source has no time zone.
 * @see pmNewContextZone(3)
 */
export async function contextZoneName(context: Context, options?: CallOptions): Promise<string> {
  const label = context.archive?.label
  const told = label === undefined ? await toldZones(context, options) : [label.zoneinfo, label.timezone]
  const zone = told.find((name) => typeof name === 'string' && name !== '')
  if (zone === undefined) throw new PcpError('PM_ERR_VALUE', 'The source does not report its timezone')
  return String(zone)
}

async function toldZones(context: Context, options?: CallOptions): Promise<readonly unknown[]> {
  const names = ['pmcd.zoneinfo', 'pmcd.timezone']
  const found = await context.lookupNames(names, options)
  const known = names.filter((_, i) => typeof found[i] === 'number')
  if (known.length === 0) return []
  const row = await context.values(known, options)
  return known.map((name) => row.value(name))
}
