/** Data: pmcd.pdu_in.* and pmcd.pdu_out.*, one row per PDU type. docs/formats/wire.md §2 */

/** Last part of the metric name, PDU type without its base, and description for the help text. */
export interface PduCount {
  readonly name: string
  /** Type - 0x7000. */
  readonly index: number
  readonly what: string
}

/** Every PDU type counted by the collector. */
export const PDU_COUNTS: readonly PduCount[] = [
  { name: 'error', index: 0x00, what: 'ERROR PDUs: statuses, errors, challenges and state changes' },
  { name: 'result', index: 0x01, what: 'RESULT PDUs: values that were fetched or are to be stored' },
  { name: 'profile', index: 0x02, what: 'PROFILE PDUs: the instances a client wants' },
  { name: 'fetch', index: 0x03, what: 'FETCH PDUs: requests for values' },
  { name: 'desc_req', index: 0x04, what: 'DESC_REQ PDUs: requests for one descriptor' },
  { name: 'desc', index: 0x05, what: 'DESC PDUs: one descriptor' },
  { name: 'instance_req', index: 0x06, what: 'INSTANCE_REQ PDUs: queries of an instance domain' },
  { name: 'instance', index: 0x07, what: 'INSTANCE PDUs: instances of a domain' },
  { name: 'text_req', index: 0x08, what: 'TEXT_REQ PDUs: requests for help text' },
  { name: 'text', index: 0x09, what: 'TEXT PDUs: help text' },
  { name: 'control_req', index: 0x0a, what: 'CONTROL_REQ PDUs, which no current program sends' },
  { name: 'creds', index: 0x0c, what: 'CREDS PDUs: protocol version and features of a new connection' },
  { name: 'pmns_ids', index: 0x0d, what: 'PMNS_IDS PDUs: lists of metric identifiers' },
  { name: 'pmns_names', index: 0x0e, what: 'PMNS_NAMES PDUs: lists of metric names' },
  { name: 'pmns_child', index: 0x0f, what: 'PMNS_CHILD PDUs: requests for the children of a name' },
  { name: 'pmns_traverse', index: 0x10, what: 'PMNS_TRAVERSE PDUs: requests for all names below one' },
  { name: 'auth', index: 0x11, what: 'ATTR PDUs: attributes of connections and authentication exchanges' },
  { name: 'label_req', index: 0x12, what: 'LABEL_REQ PDUs: requests for labels' },
  { name: 'label', index: 0x13, what: 'LABEL PDUs: label sets' },
  {
    name: 'highres_fetch',
    index: 0x14,
    what: 'HIGHRES_FETCH PDUs: requests for values with nanosecond times',
  },
  { name: 'highres_result', index: 0x15, what: 'HIGHRES_RESULT PDUs: values with nanosecond times' },
  { name: 'desc_ids', index: 0x16, what: 'DESC_IDS PDUs: requests for many descriptors' },
  { name: 'descs', index: 0x17, what: 'DESCS PDUs: many descriptors' },
]
