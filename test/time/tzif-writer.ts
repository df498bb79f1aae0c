/** Writes zone files for tests, version 2, from changes of the clock: [moment, seconds east of UTC]. RFC 8536 */
export function tzif(
  changes: readonly (readonly [number, number])[],
  firstOffset: number,
  footer: string,
): Uint8Array {
  const header = (times: number, types: number): number[] => [
    ...ascii('TZif2'),
    ...new Array<number>(15).fill(0),
    ...[0, 0, 0, times, types, 4].flatMap((count) => big(count, 4)),
  ]
  const type = (offset: number): number[] => [...big(offset, 4), offset === firstOffset ? 0 : 1, 0]
  const body = [
    ...changes.flatMap(([moment]) => big(moment, 8)),
    ...changes.map((_, i) => i + 1),
    ...type(firstOffset),
    ...changes.flatMap(([, offset]) => type(offset)),
    ...ascii('LMT\0'),
  ]
  const empty = [...header(0, 1), ...type(0), ...ascii('UTC\0')]
  return Uint8Array.from([
    ...empty,
    ...header(changes.length, changes.length + 1),
    ...body,
    ...ascii(`\n${footer}\n`),
  ])
}

const ascii = (text: string): number[] => [...text].map((char) => char.charCodeAt(0))

function big(value: number, size: 4 | 8): number[] {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigInt64(0, BigInt(value))
  return [...new Uint8Array(view.buffer, 8 - size)]
}
