/** What two answers of pmproxies are compared by: what changes from one moment to the next is taken out. */
import { gunzipSync, inflateSync } from 'node:zlib'
import type { RawAnswer } from '../../lib/raw-http.ts'

/** Status, type and body of an answer. */
function normalAnswer(answer: RawAnswer): object {
  const type = answer.headers.get('content-type')?.replace('octet-stream', 'json')
  const text = String(decoded(answer))
  return { status: answer.status, type, body: type === 'text/plain' ? exposition(text) : json(text) }
}

function decoded({ headers, body }: RawAnswer): Buffer {
  const coding = headers.get('content-encoding')
  return coding === 'gzip' ? gunzipSync(body) : coding === 'deflate' ? inflateSync(body) : body
}

/**
 * An answer with headers that clients act on; undefined where there was none. Not those by which PCP's lets every page read it: ours names the
 * origin, where it is configured (test/security/web-origin.test.ts).
 */
export function normalExchange(answer: RawAnswer | undefined): unknown {
  if (answer === undefined) return undefined
  const headers = [...answer.headers]
    .filter(([name]) => /^(?:access-control-allow-methods|www-auth|allow$)/.test(name))
    .sort()
  return { ...normalAnswer(answer), headers }
}

function json(text: string): unknown {
  try {
    return normal(JSON.parse(text))
  } catch {
    return text.replace(/pmproxy\/[\d.]+/, '')
  }
}

/** Values of metrics that stay as they are. */
const CONSTANT = /^sample\.(?:\w*long|float|double|string|aggregate)\.(?!bin|.*ctr)/

/** A parsed answer. */
function normal(value: unknown, key = '', name = ''): unknown {
  if (key === 'context' || key === 'timestamp') return typeof value
  if (key === 'leaf' || key === 'nonleaf') return [...(value as string[])].sort()
  if (key === 'series') return 'ID'
  if (key === 'message')
    return String(value)
      .replace(/\d{7,}/g, 'N')
      .trim()
  if (key === 'pmid' || key === 'indom') return String(value).replace(/^511\..*/, 'derived')
  if (key.startsWith('text-')) return String(value).trim()
  if (key === 'value' && !CONSTANT.test(name)) return typeof value === 'number' ? 'number' : value
  // 6.0.3 leaves the labels of domains and clusters out of some answers.
  if (key === 'labels') return Object.keys(value as object).includes('hostname')
  if (Array.isArray(value))
    return value
      .map((each) => normal(each, '', name))
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  const own = 'name' in value && typeof value.name === 'string' ? value.name : name
  return Object.fromEntries(
    Object.entries(value)
      .filter(([member]) => member !== 'code' && member !== 'status')
      .map(([member, each]) => [member, normal(each, member, own)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** Lines of an exposition in order, with labels of instances alone, without values. */
function exposition(text: string): string[] {
  return text
    .split('\n')
    .map((line) =>
      line.startsWith('#')
        ? line
        : line.replace(
            /^([^ {]+)(?:\{(.*)\})? .*?( \d+)?$/,
            (_, name: string, labels = '', time = '') =>
              `${name} ${instanceLabels(labels)}${time === '' ? '' : ' time'}`,
          ),
    )
    .sort()
}

function instanceLabels(text: string): string {
  return (text.match(/[\w.]+="(?:\\.|[^"\\])*"/g) ?? [])
    .filter((label) => /^inst(?:id|name)=/.test(label))
    .sort()
    .join(',')
}
