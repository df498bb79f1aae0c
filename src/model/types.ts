/** Value types, semantics and value formats. docs/formats/wire.md §6.4, §6.5, §5.1 */

/** The metric exists but this system cannot provide it. */
export const PM_TYPE_NOSUPPORT = -1
/** 32-bit signed integer. */
export const PM_TYPE_32 = 0
/** 32-bit unsigned integer. */
export const PM_TYPE_U32 = 1
/** 64-bit signed integer. */
export const PM_TYPE_64 = 2
/** 64-bit unsigned integer. */
export const PM_TYPE_U64 = 3
/** 32-bit floating point. */
export const PM_TYPE_FLOAT = 4
/** 64-bit floating point. */
export const PM_TYPE_DOUBLE = 5
/** Text. */
export const PM_TYPE_STRING = 6
/** Opaque bytes. */
export const PM_TYPE_AGGREGATE = 7
/** Opaque bytes in static storage; the same as an aggregate to a client. */
export const PM_TYPE_AGGREGATE_STATIC = 8
/** Array of event records with microsecond timestamps. */
export const PM_TYPE_EVENT = 9
/** Array of event records with nanosecond timestamps. */
export const PM_TYPE_HIGHRES_EVENT = 10
/** Value blocks only: unspecified type. */
export const PM_TYPE_UNKNOWN = 255

/** Ever-growing count; only differences mean something. */
export const PM_SEM_COUNTER = 1
/** A current value. */
export const PM_SEM_INSTANT = 3
/** A value that holds until it changes. */
export const PM_SEM_DISCRETE = 4

/** 32-bit values are in the value set itself. */
export const PM_VAL_INSITU = 0
/** Values are in allocated blocks. */
export const PM_VAL_DPTR = 1
/** Values are in static blocks; the same as PM_VAL_DPTR to a receiver. */
export const PM_VAL_SPTR = 2

const TYPE_NAMES: readonly string[] = [
  '32',
  'U32',
  '64',
  'U64',
  'FLOAT',
  'DOUBLE',
  'STRING',
  'AGGREGATE',
  'AGGREGATE_STATIC',
  'EVENT',
  'HIGHRES_EVENT',
]

/** Returns the name of a type without its prefix, `???` if unknown. @see pmTypeStr(3) */
export function typeStr(type: number): string {
  if (type === PM_TYPE_NOSUPPORT) return 'NO_SUPPORT'
  if (type === PM_TYPE_UNKNOWN) return 'UNKNOWN'
  return TYPE_NAMES[type] ?? '???'
}

/** Returns the name of a semantics code, `???` if unknown. @see pmSemStr(3) */
export function semStr(sem: number): string {
  switch (sem) {
    case PM_SEM_COUNTER:
      return 'counter'
    case PM_SEM_INSTANT:
      return 'instant'
    case PM_SEM_DISCRETE:
      return 'discrete'
    default:
      return '???'
  }
}
