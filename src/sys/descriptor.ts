/** File descriptors of streams, for logs. */

/** Returns the file descriptor of a socket or pipe; -1 if it is closed. Node has no public way to get it. */
export function descriptorOf(stream: object): number {
  const fd = (stream as { readonly _handle?: { readonly fd?: unknown } | null })._handle?.fd
  return typeof fd === 'number' ? fd : -1
}
