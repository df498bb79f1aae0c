/** Normalizes replies of two pmproxies for comparison: masks values that change over time. */
import { gunzipSync, inflateSync } from 'node:zlib'
import type { RawAnswer } from '../../lib/raw-http.ts'

/** Returns status, type and body of a reply. */
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
 * Returns a reply with the headers that clients use; undefined without a reply. Excludes the headers with which PCP lets every page read
 * it: ours names configured origins (test/security/web-origin.test.ts).
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

/** Constant metrics. */
const CONSTANT = /^sample\.(?:\w*long|float|double|string|aggregate)\.(?!bin|.*ctr)/

/** Normalizes a parsed reply. */
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
  // 6.0.3 omits the labels of domains and clusters in some replies.
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

/** Returns sorted lines of an exposition, with instance labels only and without values. */
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
