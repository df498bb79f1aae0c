/** Exposition texts, whole and in pieces, and the files that configure how a source is read. */
import { ExpositionReader } from '../../../src/agents/openmetrics/exposition.ts'
import { parseSourceConfig } from '../../../src/agents/openmetrics/source-config.ts'
import { type FuzzEntry, holdSame, textEntry } from '../engine/entry.ts'

/** Entry of src/agents/openmetrics. */
export const openmetrics: FuzzEntry = textEntry({
  seeds: () => [
    '# HELP http_requests_total All\\nrequests.\n# TYPE http_requests_total counter\nhttp_requests_total{method="post",code="200"} 1027 1395066363000\n{"quoted.name",a="b\\"\\\\"} -1.5e9 # {trace_id="x"} 0.1\n# EOF\n',
    '# TYPE rpc histogram\n# UNIT rpc seconds\nrpc_bucket{le="0.1"} 1\nrpc_bucket{le="+Inf"} NaN\nrpc_sum 5\nrpc_count 3\n# PCP5 a.b 155.1.2 u32 PM_INDOM_NULL counter none\na.b 7\n',
    'https://localhost:9090/metrics\nHEADER: Authorization: Bearer x\nMETADATA: a=b\nFILTER: INCLUDE METRIC http.*\nFILTER: EXCLUDE LABEL code\n# comment\n',
  ],
  run(text) {
    const whole = new ExpositionReader(1000)
    whole.read(text)
    const pieces = new ExpositionReader(1000)
    for (const line of text.split(/(?<=\n)/)) pieces.read(line)
    holdSame(whole.problems, pieces.problems, 'pieces make no difference to problems')
    holdSame(whole.samples.length, pieces.samples.length, 'pieces make no difference to samples')
    parseSourceConfig(text)
  },
})
