/** Reads recorded cases from test/vectors. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { typeStr } from '../src/model/types.ts'

/** A vector file as recorded: what it is about, and its cases. */
export interface Vectors<T> {
  readonly about: string
  readonly cases: readonly T[]
}

/** The vector file at `path` below test/vectors. */
export function readVectors<T>(path: string): Vectors<T> {
  return JSON.parse(
    readFileSync(fileURLToPath(new URL(`vectors/${path}`, import.meta.url)), 'utf8'),
  ) as Vectors<T>
}

/** The type code that vectors write as `U32`, `DOUBLE`, `UNKNOWN`..., or as a number. */
export function typeCode(name: string | number): number {
  if (typeof name === 'number') return name
  const text = name === 'NOSUPPORT' ? 'NO_SUPPORT' : name
  for (let code = -1; code <= 255; code++) if (typeStr(code) === text) return code
  throw new Error(`No type is called ${name}`)
}

/** Bytes written as hex digits. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** Big-endian bytes of a number written as text, made by hand so that the code under test never checks itself. */
export function bytesOf(text: string, type: string): Uint8Array {
  const view = new DataView(new ArrayBuffer(type.endsWith('64') || type === 'DOUBLE' ? 8 : 4))
  if (type === 'FLOAT') view.setFloat32(0, Number(text))
  else if (type === 'DOUBLE') view.setFloat64(0, Number(text))
  else if (view.byteLength === 8) view.setBigInt64(0, BigInt(text))
  else view.setInt32(0, Number(text))
  return new Uint8Array(view.buffer)
}
