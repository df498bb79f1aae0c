/** The wire vectors, and how each type compares with its `decoded` form and is encoded again. */
import { readdirSync, readFileSync } from 'node:fs'
import type { MetricDesc } from '../../src/model/desc.ts'
import { indomStr, PM_INDOM_NULL, pmidStr } from '../../src/model/ids.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { Instances } from '../../src/model/source.ts'
import { typeStr } from '../../src/model/types.ts'
import type { ValueSet } from '../../src/model/values.ts'
import * as attr from '../../src/wire/attr.ts'
import * as creds from '../../src/wire/creds.ts'
import * as desc from '../../src/wire/desc.ts'
import * as error from '../../src/wire/error.ts'
import * as fetch from '../../src/wire/fetch.ts'
import * as instance from '../../src/wire/instance.ts'
import * as label from '../../src/wire/label.ts'
import * as control from '../../src/wire/log-control.ts'
import * as request from '../../src/wire/log-request.ts'
import * as status from '../../src/wire/log-status.ts'
import * as pdu from '../../src/wire/pdu.ts'
import * as pmns from '../../src/wire/pmns.ts'
import * as profile from '../../src/wire/profile.ts'
import * as result from '../../src/wire/result.ts'
import * as text from '../../src/wire/text.ts'

export interface Vector {
  readonly name: string
  readonly direction: string
  readonly pduType: string | null
  readonly hex: string
  readonly malformed?: boolean
  readonly undefinedBytes?: readonly number[]
  readonly decoded: Record<string, unknown> | null
}

const folder = new URL('../vectors/wire/', import.meta.url)

/** Every vector that is a PDU. */
export const VECTORS: readonly Vector[] = readdirSync(folder)
  .flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Vector[])
  .filter((vector) => vector.pduType !== null)

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** One type: decode, show the result the way vectors do, encode it again. */
export interface Codec {
  /** Decodes and encodes. */
  readonly again: (bytes: Uint8Array, from: number) => Uint8Array
  /** Decodes and shows. */
  readonly show: (bytes: Uint8Array) => Record<string, unknown>
}

function codec<T>(
  decode: (bytes: Uint8Array) => T,
  encode: (value: T, from: number) => Uint8Array,
  show: (value: T) => Record<string, unknown>,
): Codec {
  return {
    again: (bytes, from) => encode(decode(bytes), from),
    show: (bytes) => show(decode(bytes)),
  }
}

const word = (value: number): string => (value >>> 0).toString(16).padStart(8, '0')
const pmidText = (id: number): string =>
  id === 0xffffffff ? 'PM_ID_NULL' : `${(id >>> 22) & 0x1ff}.${(id >>> 10) & 0xfff}.${id & 0x3ff}`

function showDesc(d: MetricDesc): Record<string, unknown> {
  const indom = d.indom === PM_INDOM_NULL ? 'PM_INDOM_NULL' : indomStr(d.indom)
  return {
    pmid: pmidStr(d.pmid),
    type: d.type === -1 ? 'NOSUPPORT' : typeStr(d.type),
    indom,
    sem: d.sem,
    unitsWord: word(d.units),
  }
}

function showProfile(p: Profile): Record<string, unknown> {
  const profiles = [...p.entries.values()].map((entry) => ({
    indom: indomStr(entry.indom),
    state: entry.includeAll ? 0 : 1,
    numinst: entry.instances.size,
    instances: [...entry.instances],
  }))
  return { state: p.includeByDefault ? 0 : 1, numprof: profiles.length, profiles }
}

const FORMATS = ['INSITU', 'DPTR', 'SPTR']

function showValues(set: ValueSet): unknown[] {
  const { bytes, word: words } = set
  return Array.from(set.inst, (inst, i) => {
    const at = words[i]!
    if (set.format === 0) return { inst, word: at }
    return { inst, vlen: (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]! }
  })
}

function showSets(sets: readonly ValueSet[]): Record<string, unknown> {
  const vsets = sets.map((set) => ({
    pmid: pmidText(set.pmid),
    numval: set.status,
    ...(set.status > 0 ? { valfmt: FORMATS[set.format], values: showValues(set) } : {}),
  }))
  return { numpmid: sets.length, vsets }
}

const showInstances = (value: Instances): Record<string, unknown> => ({
  indom: indomStr(value.indom),
  numinst: value.ids.length,
  instances: value.ids.map((inst, i) => ({ inst, name: value.names[i] })),
})

const showFetch = (value: fetch.FetchPdu): Record<string, unknown> => ({
  ctxid: value.context,
  numpmid: value.ids.length,
  pmids: value.ids.map(pmidText),
})

const showIds = (sts: number, ids: readonly number[]): Record<string, unknown> => ({
  sts,
  numids: ids.length,
  ids: ids.map(pmidText),
})

export const CODECS: Readonly<Record<number, Codec>> = {
  [pdu.PDU_ERROR]: codec(
    error.decodeError,
    (value, from) =>
      value.info === undefined
        ? error.encodeError(value.status, from)
        : error.encodeChallenge(value.info & 0xffff, value.status, from),
    (value) => ({ code: value.status, ...(value.info === undefined ? {} : { datum: word(value.info) }) }),
  ),
  [pdu.PDU_RESULT]: codec(
    result.decodeResult,
    (value, from) => result.encodeResult(value.timestamp, value.sets, from),
    (value) => ({
      sec: value.timestamp.sec,
      usec: value.timestamp.nsec / 1000,
      ...showSets(value.sets),
    }),
  ),
  [pdu.PDU_HIGHRES_RESULT]: codec(
    result.decodeResult,
    (value, from) => result.encodeHighResResult(value.timestamp, value.sets, from),
    (value) => ({ sec: value.timestamp.sec, nsec: value.timestamp.nsec, ...showSets(value.sets) }),
  ),
  [pdu.PDU_PROFILE]: codec(
    profile.decodeProfile,
    (value, from) => profile.encodeProfile(value.context, value.profile, from),
    (value) => ({ ctxid: value.context, ...showProfile(value.profile) }),
  ),
  [pdu.PDU_FETCH]: codec(
    fetch.decodeFetch,
    (value, from) => fetch.encodeFetch(value.context, value.ids, from),
    showFetch,
  ),
  [pdu.PDU_HIGHRES_FETCH]: codec(
    fetch.decodeFetch,
    (value, from) => fetch.encodeHighResFetch(value.context, value.ids, from),
    showFetch,
  ),
  [pdu.PDU_DESC_REQ]: codec(desc.decodeDescReq, desc.encodeDescReq, (pmid) => ({ pmid: pmidText(pmid) })),
  [pdu.PDU_DESC]: codec(desc.decodeDesc, desc.encodeDesc, (value) => ({ desc: showDesc(value) })),
  [pdu.PDU_DESC_IDS]: codec(desc.decodeDescIds, desc.encodeDescIds, (ids) => showIds(-1, ids)),
  [pdu.PDU_DESCS]: codec(desc.decodeDescs, desc.encodeDescs, (value) => ({
    numdescs: value.length,
    descs: value.map(showDesc),
  })),
  [pdu.PDU_INSTANCE_REQ]: codec(
    instance.decodeInstanceReq,
    (value, from) => instance.encodeInstanceReq(value.indom, instance.instanceQuery(value), from),
    (value) => ({ indom: indomStr(value.indom), inst: value.inst, name: value.name }),
  ),
  [pdu.PDU_INSTANCE]: codec(instance.decodeInstances, instance.encodeInstances, showInstances),
  [pdu.PDU_TEXT_REQ]: codec(
    text.decodeTextReq,
    (value, from) => text.encodeTextReq(value.ident, value.type, from),
    (value) => ({ ident: word(value.ident), textType: value.type }),
  ),
  [pdu.PDU_TEXT]: codec(
    text.decodeTextReply,
    (value, from) => text.encodeTextReply(value.ident, value.text, from),
    (value) => ({ ident: word(value.ident), text: value.text }),
  ),
  [pdu.PDU_CREDS]: codec(creds.decodeCreds, creds.encodeCredList, (list) => ({
    numcreds: list.length,
    creds: list.map((cred) => ({ c_type: cred.type, c_version: cred.version, c_flags: cred.flags })),
  })),
  [pdu.PDU_PMNS_IDS]: codec(
    pmns.decodePmnsIds,
    (value, from) => pmns.encodePmnsIds(value.ids, value.status, from),
    (value) => showIds(value.status, value.ids),
  ),
  [pdu.PDU_PMNS_NAMES]: codec(
    pmns.decodePmnsNames,
    (value, from) =>
      value.status < 0
        ? pmns.encodePmnsNamesError(value.status, from)
        : pmns.encodePmnsNames(value.names, value.statuses, from),
    (value) => ({
      numnames: value.status < 0 ? value.status : value.names.length,
      names: value.names,
      ...(value.statuses === undefined ? {} : { status: value.statuses }),
    }),
  ),
  [pdu.PDU_PMNS_CHILD]: codec(
    pmns.decodePmnsChild,
    (value, from) => pmns.encodePmnsChild(value.name, value.wantsStatus, from),
    (value) => ({ name: value.name, subtype: value.wantsStatus ? 1 : 0 }),
  ),
  [pdu.PDU_PMNS_TRAVERSE]: codec(
    pmns.decodePmnsTraverse,
    (value, from) => pmns.encodePmnsTraverse(value.name, from),
    (value) => ({ name: value.name }),
  ),
  [pdu.PDU_ATTR]: codec(
    attr.decodeAttr,
    (value, from) => attr.encodeAttr(value.key, value.value, from),
    (value) => ({ attr: value.key, valueHex: hexOf(value.value) }),
  ),
  [pdu.PDU_LABEL_REQ]: codec(
    label.decodeLabelReq,
    (value, from) => label.encodeLabelReq(value.ident, value.level, from),
    (value) => ({ ident: word(value.ident), labelType: value.level }),
  ),
  [pdu.PDU_LABEL]: codec(
    label.decodeLabels,
    (value, from) => label.encodeLabels(value.ident, value.level, value.sets, from),
    (value) => ({
      ident: word(value.ident),
      labelType: value.level,
      nsets: value.sets.length,
      sets: value.sets.map((set) => ({
        inst: set.inst === -1 ? 'PM_IN_NULL' : set.inst,
        nlabels: set.status < 0 ? set.status : set.labels.length,
        json: set.json,
        labels: set.labels.map(({ name, value: token, flags }) => ({ name, value: token, flags })),
      })),
    }),
  ),
  [pdu.PDU_LOG_CONTROL]: codec(control.decodeLogControl, control.encodeLogControl, (value) => ({
    control: value.control,
    state: value.state,
    delta: value.deltaMs,
    numpmid: value.sets.length,
    vsets: value.sets.map((set) => ({
      pmid: pmidText(set.pmid),
      numval: set.status,
      values: Array.from(set.inst, (inst, i) => ({ inst, word: set.word[i] })),
    })),
  })),
  [pdu.PDU_LOG_REQUEST]: codec(request.decodeLogRequest, request.encodeLogRequest, (value) => ({
    request: value,
  })),
  [pdu.PDU_LOG_STATUS]: codec(status.decodeLogStatus, status.encodeLogStatus, (value) => ({
    start: value.start,
    last: value.last,
    now: value.now,
    state: value.state,
    vol: value.volume,
    size: value.size,
    strings: {
      pmcd_hostname: value.pmcdHost ?? null,
      pmcd_fqdn: value.pmcdFqdn ?? null,
      pmcd_timezone: value.pmcdTimezone ?? null,
      pmcd_zoneinfo: value.pmcdZoneinfo ?? null,
      pmlogger_timezone: value.loggerTimezone ?? null,
      pmlogger_zoneinfo: value.loggerZoneinfo ?? null,
    },
  })),
  [pdu.PDU_LOG_STATUS_V2]: codec(status.decodeLogStatusV2, status.encodeLogStatusV2, (value) => ({
    start: [value.start.sec, value.start.nsec / 1000],
    last: [value.last.sec, value.last.nsec / 1000],
    now: [value.now.sec, value.now.nsec / 1000],
    state: value.state,
    vol: value.volume,
  })),
}
