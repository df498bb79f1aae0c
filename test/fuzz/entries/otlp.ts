/** Requests with OpenTelemetry metrics, as protocol buffers or JSON, up to the tables of the agent. */
import { readFileSync } from 'node:fs'
import { metricsOf } from '../../../src/agents/otel/otlp.ts'
import { EXPORT_METRICS } from '../../../src/agents/otel/otlp-fields.ts'
import { decodeMessage } from '../../../src/agents/otel/protobuf.ts'
import type { FuzzEntry } from '../engine/entry.ts'

/** Entry of src/agents/otel for protocol buffers. */
export const otlp: FuzzEntry = {
  seeds: () => [new Uint8Array(readFileSync('test/vectors/agents/otel/request.pb'))],
  run(input) {
    metricsOf(decodeMessage(input, EXPORT_METRICS))
  },
}
