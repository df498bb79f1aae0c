/** Old names of the agent toolkit, accepted for one release. docs/reference/deprecations.md */
import type { OldFields } from '../base/deprecated.ts'
import { warnDeprecated } from '../base/deprecated.ts'
import type { OptionValues } from './daemon-options.ts'
import type { IndomSpec, MetricSpec } from './define.ts'
import { type QueryOptions, queryService, type ServiceAddress } from './feeds/socket.ts'

/** @deprecated Use OptionValues. */
export type GivenOptions = OptionValues

/** @deprecated Use QueryOptions. */
export type AskOptions = QueryOptions

export const OLD_METRIC_FIELDS: OldFields<MetricSpec> = {
  ahead: ['prefetch', 'PCP_DEP0001'],
  notes: ['optionalLabels', 'PCP_DEP0002'],
  isShown: ['isVisibleTo', 'PCP_DEP0003'],
  storesToOwn: ['acceptsNullInstance', 'PCP_DEP0004'],
}

export const OLD_INDOM_FIELDS: OldFields<IndomSpec> = {
  instanceNotes: ['optionalInstanceLabels', 'PCP_DEP0005'],
}

/** @deprecated Use queryService. */
export function askService(
  address: ServiceAddress,
  request: string,
  options: QueryOptions = {},
): Promise<string> {
  warnDeprecated('PCP_DEP0007')
  return queryService(address, request, options)
}
