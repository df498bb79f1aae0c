/** Metrics in OpenTelemetry's JSON format. docs/reference/pmproxy.md, docs/reference/agents/otel.md */
import { type OtlpRequest, otlpRequest } from '../model/otlp.ts'
import { extract } from '../model/value-set.ts'
import type { Exposition } from './exposition.ts'

/** Converts an exposition to an object that serializes as OTLP JSON. */
export function otlp({ contextLabels, time, metrics }: Exposition): OtlpRequest {
  return otlpRequest(
    contextLabels,
    time,
    metrics.map(({ name, help, desc, labels, set, instances }) => ({
      ...{ name, help, desc, labels },
      values: Array.from({ length: set.status }, (_, i) => {
        const inst = set.inst[i]!
        const value = extract(set, i, desc.type) as number | bigint // only numeric metrics are exposed
        const own = instances?.labels.get(inst)?.labels ?? []
        return { inst, name: instances?.names.get(inst), labels: own, value }
      }),
    })),
    { cumulative: 'CUMULATIVE' },
  )
}
