/** Addresses of this very machine. */

/** Does this address, as a socket gives it, never leave the machine? */
export function isLoopback(address = ''): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(address)
}
