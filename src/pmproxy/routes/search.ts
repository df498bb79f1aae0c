/** /search over the help texts in archives. pmsearch(1), docs/reference/rest.md */
import type { SearchText, SeriesStore } from '../../series/store.ts'
import { highlighted, type TextField, TextIndex } from '../../series/text-index.ts'
import { jsonText } from '../describe.ts'
import type { Query } from '../http/query.ts'
import { json, missingParameter, page, type Reply } from '../http/reply.ts'

const FIELDS: readonly TextField[] = ['name', 'oneline', 'helptext']
const TYPES: readonly SearchText['type'][] = ['metric', 'indom', 'instance']
/** Members of a result, in this order. */
const MEMBERS = ['name', 'type', 'indom', 'oneline', 'helptext'] as const
const DEFAULT_LIMIT = 10
const MOST_RESULTS = 1000

/** Indexes by the list of texts, which a store replaces when its archives change. */
const INDEXES = new WeakMap<readonly SearchText[], TextIndex>()

/** Answers a search; invalid requests are replies with status 400. */
export async function answerSearch(name: string, query: Query, store: SeriesStore): Promise<Reply> {
  const isInfo = name === 'info'
  if (!isInfo && !['text', 'suggest', 'indom'].includes(name))
    return page(400, 'unknown', 'no handler for URL')
  const text = query.get('query') ?? ''
  if (text === '' && !isInfo) return missingParameter('search')
  const begun = performance.now()
  const index = await indexOf(store)
  if (isInfo) return json(infoJson(index))
  const [offset, limit] = [whole(query.get('offset'), 0), whole(query.get('limit'), DEFAULT_LIMIT)]
  if (offset === undefined || limit === undefined)
    return json('{"message":"offset and limit must be whole numbers","success":false}', 400)
  const most = Math.min(limit, MOST_RESULTS)
  if (name === 'suggest')
    return json(
      `[${index
        .suggest(text, Math.min(limit, MOST_RESULTS))
        .map((each) => jsonText(each))
        .join(',')}]`,
    )
  const isDomain = name === 'indom'
  const found = isDomain
    ? index.domain(text)
    : index.search(text, { types: chosen(query, 'type', TYPES), fields: chosen(query, 'field', FIELDS) })
  const members = chosen(query, 'return', MEMBERS) ?? MEMBERS
  const marked = isDomain ? [] : (chosen(query, 'highlight', FIELDS) ?? [])
  const results = found.slice(offset, offset + most).map((each) => resultJson(each, text, members, marked))
  const elapsed = ((performance.now() - begun) / 1000).toFixed(6)
  const about = `"total":${found.length},"elapsed":${elapsed},"offset":${offset},"limit":${limit}`
  return json(`{${about},"results":[${results.join(',')}]}`)
}

async function indexOf(store: SeriesStore): Promise<TextIndex> {
  const texts = await store.texts()
  let index = INDEXES.get(texts)
  if (index === undefined) {
    index = new TextIndex(texts)
    INDEXES.set(texts, index)
  }
  return index
}

function resultJson(
  { name, type, indom, oneline, help }: SearchText,
  query: string,
  members: readonly (typeof MEMBERS)[number][],
  marked: readonly TextField[],
): string {
  const values = { name, type, indom, oneline, helptext: help }
  const texts = members.flatMap((member) => {
    const value = values[member]
    if (value === undefined || value === '') return []
    const isMarked = (marked as readonly string[]).includes(member)
    return `"${member}":${jsonText(isMarked ? highlighted(value, query) : value)}`
  })
  return `{${texts.join(',')}}`
}

/** Returns the known elements of a list, in the order of `all`; undefined without any. */
function chosen<T extends string>(
  query: Query,
  parameter: string,
  all: readonly T[],
): readonly T[] | undefined {
  const given = query.list(parameter)
  if (given === undefined) return undefined
  const known = all.filter((each) => given.includes(each))
  return known.length === 0 ? undefined : known
}

function whole(text: string | undefined, byDefault: number): number | undefined {
  if (text === undefined) return byDefault
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Sizes of memory are not known. */
function infoJson({ size: { texts, words, occurrences } }: TextIndex): string {
  const mean = (occurrences / Math.max(1, texts)).toFixed(2)
  return `{"docs":${texts},"terms":${words},"records":${occurrences},"records_per_doc_avg":${mean}}`
}
