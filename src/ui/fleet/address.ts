/** The state of the fleet in the address of the page: `#fleet?filter=env%3Dprod&sort=cpu`. */
import type { FleetMetric } from './feed.ts'
import type { FleetOrder } from './rows.ts'

/** What a link to the fleet contains. */
export interface FleetAddress {
  readonly filter: string
  readonly group: string
  readonly order: FleetOrder
  readonly metric: FleetMetric
}

/** State of a link without parameters. */
export const FLEET_DEFAULTS: FleetAddress = {
  filter: '',
  group: '',
  order: { column: 'state', isDescending: true },
  metric: { figure: 'cpu' },
}

/** Returns the fragment for a state; defaults are left out. */
export function toFleetFragment({ filter, group, order, metric }: FleetAddress): string {
  const { column, isDescending } = order
  const parameters = new URLSearchParams()
  if (filter !== '') parameters.set('filter', filter)
  if (group !== '') parameters.set('group', group)
  if (column !== FLEET_DEFAULTS.order.column || isDescending !== FLEET_DEFAULTS.order.isDescending)
    parameters.set('sort', isDescending ? `-${column}` : column)
  for (const [name, value] of Object.entries(metric))
    if (value !== undefined && JSON.stringify(metric) !== JSON.stringify(FLEET_DEFAULTS.metric))
      parameters.set(name, value)
  const text = parameters.toString()
  return text === '' ? '#fleet' : `#fleet?${text}`
}

/** Parses a fragment; missing parameters have their defaults. */
export function fromFleetFragment(fragment: string): FleetAddress {
  const parameters = new URLSearchParams(fragment.replace(/^#fleet\??/, ''))
  const get = (name: string): string | undefined => parameters.get(name) ?? undefined
  const [metric, figure, sort] = [get('metric'), get('figure'), get('sort')]
  return {
    filter: get('filter') ?? '',
    group: get('group') ?? '',
    order:
      sort === undefined
        ? FLEET_DEFAULTS.order
        : { column: sort.replace(/^-/, ''), isDescending: sort.startsWith('-') },
    metric:
      metric === undefined
        ? { figure: figure ?? 'cpu' }
        : { metric, instance: get('instance'), aggregate: get('aggregate') },
  }
}
