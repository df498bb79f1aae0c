/** Returns whether an address, as a socket reports it, is a loopback address. */
export function isLoopback(address = ''): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(address)
}
