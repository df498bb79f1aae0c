/** Reads recorded cases from test/vectors. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { typeStr } from '../src/model/types.ts'

/** A vector file: its subject and its cases. */
export interface Vectors<T> {
  readonly about: string
  readonly cases: readonly T[]
}

/** Reads the vector file at `path` below test/vectors. */
export function readVectors<T>(path: string): Vectors<T> {
  return JSON.parse(
    readFileSync(fileURLToPath(new URL(`vectors/${path}`, import.meta.url)), 'utf8'),
  ) as Vectors<T>
}

/** Returns a type code from its name (`U32`, `DOUBLE`, `UNKNOWN`...) or number. */
export function typeCode(name: string | number): number {
  if (typeof name === 'number') return name
  const text = name === 'NOSUPPORT' ? 'NO_SUPPORT' : name
  for (let code = -1; code <= 255; code++) if (typeStr(code) === text) return code
  throw new Error(`No type is called ${name}`)
}

/** Converts hex digits to bytes. */
export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

/** Returns big-endian bytes of a number in text, independently of the code under test. */
export function bytesOf(text: string, type: string): Uint8Array {
  const view = new DataView(new ArrayBuffer(type.endsWith('64') || type === 'DOUBLE' ? 8 : 4))
  if (type === 'FLOAT') view.setFloat32(0, Number(text))
  else if (type === 'DOUBLE') view.setFloat64(0, Number(text))
  else if (view.byteLength === 8) view.setBigInt64(0, BigInt(text))
  else view.setInt32(0, Number(text))
  return new Uint8Array(view.buffer)
}
