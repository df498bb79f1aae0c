/** The descriptor behind a stream, as logs show it. */

/** Number of the file descriptor of a socket or pipe; -1 when there is none (any more). Node has no public way to it. */
export function descriptorOf(stream: object): number {
  const fd = (stream as { readonly _handle?: { readonly fd?: unknown } | null })._handle?.fd
  return typeof fd === 'number' ? fd : -1
}
