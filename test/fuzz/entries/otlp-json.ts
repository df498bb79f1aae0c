/** Requests with OpenTelemetry metrics as JSON. */
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { metricsOf } from '../../../src/agents/otel/otlp.ts'
import { PcpError } from '../../../src/model/errors.ts'
import { type FuzzEntry, textEntry } from '../engine/entry.ts'

/** Entry of src/agents/otel for JSON. */
export const otlpJson: FuzzEntry = textEntry({
  seeds() {
    const request = JSON.parse(
      gunzipSync(readFileSync('test/vectors/agents/otel/request.json.gz')).toString(),
    ) as {
      resourceMetrics: { scopeMetrics: { metrics: unknown[] }[] }[]
    }
    // One metric per seed: mutations of all together seldom parse.
    return request.resourceMetrics.flatMap((resource) =>
      resource.scopeMetrics.flatMap((scope) =>
        scope.metrics.map((metric) =>
          JSON.stringify({
            resourceMetrics: [{ ...resource, scopeMetrics: [{ ...scope, metrics: [metric] }] }],
          }),
        ),
      ),
    )
  },
  mayThrow: (error) => error instanceof PcpError || error instanceof NotJson,
  run(text) {
    let request: unknown
    try {
      request = JSON.parse(text)
    } catch {
      throw new NotJson()
    }
    metricsOf(request)
  },
})

/** A text that JSON.parse refuses. */
class NotJson extends Error {}
