/** Names of files. */

const LONGEST_NAME = 100

/** A name for a file, of letters and digits of any language. */
export function fileName(title: string, suffix: string): string {
  const plain = title
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-')
    .replace(/^[-.]+/, '')
  return `${[...plain].slice(0, LONGEST_NAME).join('').replace(/-+$/, '') || 'chart'}.${suffix}`
}
