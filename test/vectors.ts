/** Reads recorded cases from test/vectors. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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
