/** Fields of metrics messages: OTLP 1.x, opentelemetry.proto.metrics.v1. https://opentelemetry.io/docs/specs/otlp */
import type { Field, FieldKind, Message } from './protobuf.ts'

const one = (name: string, kind: FieldKind | Message): Field => ({ name, kind })
const many = (name: string, kind: FieldKind | Message): Field => ({ name, kind, isRepeated: true })

const anyValue: Message = () => ANY_VALUE
const keyValue: Message = () => KEY_VALUE
const ANY_VALUE: ReturnType<Message> = {
  1: one('stringValue', 'string'),
  2: one('boolValue', 'bool'),
  3: one('intValue', 'int64'),
  4: one('doubleValue', 'double'),
  5: one('arrayValue', () => ({ 1: many('values', anyValue) })),
  6: one('kvlistValue', () => ({ 1: many('values', keyValue) })),
  7: one('bytesValue', 'bytes'),
}
const KEY_VALUE: ReturnType<Message> = { 1: one('key', 'string'), 2: one('value', anyValue) }

const NUMBER_POINT: ReturnType<Message> = {
  2: one('startTimeUnixNano', 'fixed64'),
  3: one('timeUnixNano', 'fixed64'),
  4: one('asDouble', 'double'),
  6: one('asInt', 'sfixed64'),
  7: many('attributes', keyValue),
  8: one('flags', 'uint32'),
}
const HISTOGRAM_POINT: ReturnType<Message> = {
  2: one('startTimeUnixNano', 'fixed64'),
  3: one('timeUnixNano', 'fixed64'),
  4: one('count', 'fixed64'),
  5: one('sum', 'double'),
  6: many('bucketCounts', 'fixed64'),
  7: many('explicitBounds', 'double'),
  9: many('attributes', keyValue),
  10: one('flags', 'uint32'),
  11: one('min', 'double'),
  12: one('max', 'double'),
}
const BUCKETS: ReturnType<Message> = { 1: one('offset', 'sint32'), 2: many('bucketCounts', 'uint64') }
const EXPONENTIAL_POINT: ReturnType<Message> = {
  1: many('attributes', keyValue),
  2: one('startTimeUnixNano', 'fixed64'),
  3: one('timeUnixNano', 'fixed64'),
  4: one('count', 'fixed64'),
  5: one('sum', 'double'),
  6: one('scale', 'sint32'),
  7: one('zeroCount', 'fixed64'),
  8: one('positive', () => BUCKETS),
  9: one('negative', () => BUCKETS),
  10: one('flags', 'uint32'),
  12: one('min', 'double'),
  13: one('max', 'double'),
  14: one('zeroThreshold', 'double'),
}
const SUMMARY_POINT: ReturnType<Message> = {
  2: one('startTimeUnixNano', 'fixed64'),
  3: one('timeUnixNano', 'fixed64'),
  4: one('count', 'fixed64'),
  5: one('sum', 'double'),
  6: many('quantileValues', () => ({ 1: one('quantile', 'double'), 2: one('value', 'double') })),
  7: many('attributes', keyValue),
  8: one('flags', 'uint32'),
}
const METRIC: ReturnType<Message> = {
  1: one('name', 'string'),
  2: one('description', 'string'),
  3: one('unit', 'string'),
  5: one('gauge', () => ({ 1: many('dataPoints', () => NUMBER_POINT) })),
  7: one('sum', () => ({
    1: many('dataPoints', () => NUMBER_POINT),
    2: one('aggregationTemporality', 'enum'),
    3: one('isMonotonic', 'bool'),
  })),
  9: one('histogram', () => ({
    1: many('dataPoints', () => HISTOGRAM_POINT),
    2: one('aggregationTemporality', 'enum'),
  })),
  10: one('exponentialHistogram', () => ({
    1: many('dataPoints', () => EXPONENTIAL_POINT),
    2: one('aggregationTemporality', 'enum'),
  })),
  11: one('summary', () => ({ 1: many('dataPoints', () => SUMMARY_POINT) })),
}
const SCOPE_METRICS: ReturnType<Message> = {
  1: one('scope', () => ({
    1: one('name', 'string'),
    2: one('version', 'string'),
    3: many('attributes', keyValue),
  })),
  2: many('metrics', () => METRIC),
}
const RESOURCE_METRICS: ReturnType<Message> = {
  1: one('resource', () => ({ 1: many('attributes', keyValue) })),
  2: many('scopeMetrics', () => SCOPE_METRICS),
}

/** ExportMetricsServiceRequest, the body of a POST to /v1/metrics. */
export const EXPORT_METRICS: Message = () => ({ 1: many('resourceMetrics', () => RESOURCE_METRICS) })

/** ExportMetricsServiceResponse. */
export const EXPORT_RESPONSE: Message = () => ({
  1: one('partialSuccess', () => ({
    1: one('rejectedDataPoints', 'int64'),
    2: one('errorMessage', 'string'),
  })),
})
