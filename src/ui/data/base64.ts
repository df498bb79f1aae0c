/** Bytes as text. */

/** Letters per turn: an argument list has a limit. */
const LETTERS = 0x8000

/** Returns bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  let letters = ''
  for (let at = 0; at < bytes.length; at += LETTERS)
    letters += String.fromCharCode(...bytes.subarray(at, at + LETTERS))
  return btoa(letters)
}

/** Decodes base64. Throws an Error for other text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i)
  return bytes
}

/** Compresses bytes with gzip; resolves to base64. */
export async function packedBase64(bytes: Uint8Array): Promise<string> {
  const packed = new Blob([bytes.slice()]).stream().pipeThrough(new CompressionStream('gzip'))
  return toBase64(new Uint8Array(await new Response(packed).arrayBuffer()))
}
