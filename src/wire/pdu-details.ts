/** Contents of PDUs in diagnostics. docs/formats/wire.md §3 */
import { errStr } from '../model/errors.ts'
import { indomStr, pmidStr } from '../model/ids.ts'
import {
  PDU_CREDS,
  PDU_DESC,
  PDU_DESC_IDS,
  PDU_DESC_REQ,
  PDU_DESCS,
  PDU_ERROR,
  PDU_FETCH,
  PDU_HIGHRES_FETCH,
  PDU_HIGHRES_RESULT,
  PDU_INSTANCE,
  PDU_INSTANCE_REQ,
  PDU_LABEL,
  PDU_LABEL_REQ,
  PDU_PMNS_CHILD,
  PDU_PMNS_IDS,
  PDU_PMNS_NAMES,
  PDU_PMNS_TRAVERSE,
  PDU_RESULT,
  PDU_TEXT,
  PDU_TEXT_REQ,
  pduType,
  wordAt,
} from './pdu.ts'

/** Position and label of a PDU's most informative word. */
interface Detail {
  readonly at: number
  readonly say: (word: number) => string
}

const count = (at: number, what: string): Detail => ({ at, say: (word) => `, ${what}=${word}` })
const pmid: Detail = { at: 12, say: (word) => `, pmid=${pmidStr(word >>> 0)}` }
const indom: Detail = { at: 12, say: (word) => `, indom=${indomStr(word >>> 0)}` }
const ident: Detail = { at: 12, say: (word) => `, id=0x${(word >>> 0).toString(16)}` }

const DETAILS: Readonly<Record<number, Detail>> = {
  [PDU_ERROR]: { at: 12, say: (word) => `, err=${word}: ${word < 0 ? errStr(word) : 'No error'}` },
  [PDU_RESULT]: count(20, 'numpmid'),
  [PDU_HIGHRES_RESULT]: count(12, 'numpmid'),
  [PDU_FETCH]: count(24, 'numpmid'),
  [PDU_HIGHRES_FETCH]: count(24, 'numpmid'),
  [PDU_PMNS_IDS]: count(16, 'numpmid'),
  [PDU_PMNS_NAMES]: count(20, 'numpmid'),
  [PDU_DESC_IDS]: count(16, 'numpmid'),
  [PDU_DESCS]: count(12, 'numpmid'),
  [PDU_CREDS]: count(12, 'numcreds'),
  [PDU_DESC]: pmid,
  [PDU_DESC_REQ]: pmid,
  [PDU_INSTANCE]: indom,
  [PDU_INSTANCE_REQ]: indom,
  [PDU_TEXT]: ident,
  [PDU_TEXT_REQ]: ident,
  [PDU_LABEL]: ident,
  [PDU_LABEL_REQ]: ident,
}

const NOTHING = (): string => ''

/** Returns a function that formats details of a sent PDU, beginning with a comma, or ''. The PDU is read immediately, the text made later. */
export function pduDetail(pdu: Uint8Array): () => string {
  const detail = DETAILS[pduType(pdu)]
  if (detail === undefined) return NOTHING
  const word = wordAt(pdu, detail.at)
  return () => detail.say(word)
}

const REPLIES: Readonly<Record<number, number>> = {
  [PDU_FETCH]: PDU_RESULT,
  [PDU_RESULT]: PDU_ERROR,
  [PDU_DESC_REQ]: PDU_DESC,
  [PDU_INSTANCE_REQ]: PDU_INSTANCE,
  [PDU_TEXT_REQ]: PDU_TEXT,
  [PDU_LABEL_REQ]: PDU_LABEL,
  [PDU_PMNS_NAMES]: PDU_PMNS_IDS,
  [PDU_PMNS_IDS]: PDU_PMNS_NAMES,
  [PDU_PMNS_CHILD]: PDU_PMNS_NAMES,
  [PDU_PMNS_TRAVERSE]: PDU_PMNS_NAMES,
}

/** Returns the type of an agent's reply to a request; undefined if agents do not answer it. */
export function replyTypeOf(request: number): number | undefined {
  return REPLIES[request]
}

const WORDS_A_LINE = 8
/** Longer PDUs are truncated; enough for the headers of all of them. */
const MAX_WORDS = 128

/** Dumps the words of a PDU in hexadecimal, eight per line after the number of the first, and how many were omitted. */
export function pduDump(pdu: Uint8Array): string {
  const lines: string[] = []
  const words = Math.min(MAX_WORDS, pdu.length >> 2)
  for (let first = 0; first < words; first += WORDS_A_LINE) {
    let line = `${String(first).padStart(3, '0')}:`
    for (let i = first; i < Math.min(first + WORDS_A_LINE, words); i++)
      line += ` ${(wordAt(pdu, i * 4) >>> 0).toString(16).padStart(8)}`
    lines.push(line)
  }
  if (pdu.length > words * 4) lines.push(`... ${pdu.length - words * 4} more bytes`)
  return lines.join('\n')
}
