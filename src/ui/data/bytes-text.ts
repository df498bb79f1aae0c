/** Amounts of bytes for users. */

/** Returns an amount of bytes that are read over the network. */
export function bytesText(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`
}
